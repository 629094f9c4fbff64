"""How a request chooses its namespace: ways that disagree, unknown names, and paths that are not below the prefix."""

import http.client

import pytest
from cross_site import FOREIGN, NEIGHBOUR, VENDOR
from device_client import token_of
from emulator import PATIENCE
from namespaces import (
    ACCOUNT, HEADER, HISTORY, SESSIONS, SUKI, World, account, asked, deepgram, eka, omi, s3, session, suki,
)
from websocket_driver import open_socket
from websockets.exceptions import InvalidStatus

SAMPLES = "encoding=linear16&sample_rate=16000"


@pytest.fixture(scope="module")
def first(server):
    return World(server, "first")


@pytest.fixture(scope="module")
def second(server):
    return World(server, "second")


ROUTES = [
    ("GET", HISTORY, eka), ("POST", f"{ACCOUNT}/login", account), ("GET", f"{ACCOUNT}/whoami", account),
    ("POST", SESSIONS, session), ("GET", f"{SUKI}/x/status", suki), ("POST", "/api/v1/auth/login", suki),
    ("POST", f"/v1/listen?{SAMPLES}", deepgram), ("POST", "/v1/auth/grant", deepgram),
    ("GET", "/v1/conversations", omi),
    ("GET", "/v3/memories", omi), ("GET", "/bucket/key", s3), ("PUT", "/bucket/key", s3), ("GET", "/bucket", s3),
]


@pytest.mark.parametrize("way", ["prefix", "header"])
@pytest.mark.parametrize("method, path, envelope", ROUTES)
def test_an_unknown_namespace_is_not_found_in_each_familys_words(server, first, method, path, envelope, way):
    for name in ("unknown", "UNKNOWN", "a" * 64, "a_b", "%00", "%2e%2e", "fir", "first-"):
        if way == "prefix":
            answer = asked(server, method, f"/ns/{name}{path}")
        else:
            answer = asked(server, method, path, headers={HEADER: name})
        assert answer.status_code == 404, (name, answer.text)
        envelope(answer)


@pytest.mark.parametrize("way", ["prefix", "header"])
@pytest.mark.parametrize("path", [
    "/v4/listen", "/v4/web/listen", "/ws/stream", f"/v1/listen?{SAMPLES}", "/voice/v1/stream/sessions/x/audio"])
def test_a_socket_of_an_unknown_namespace_is_not_opened(server, path, way):
    headers = {**({HEADER: "unknown"} if way == "header" else {}), "Authorization": f"Bearer {token_of('somebody')}"}
    with pytest.raises(InvalidStatus) as refusal:
        open_socket(
            f"ws://127.0.0.1:{server.port}{'/ns/unknown' if way == 'prefix' else ''}{path}", additional_headers=headers)
    assert refusal.value.response.status_code == 404


def test_a_prefix_and_a_header_of_other_namespaces_are_refused(server, first, second):
    for method, path, envelope in ROUTES:
        answer = asked(server, method, f"{first.prefix}{path}", headers=second.header)
        assert answer.status_code == (403 if envelope is s3 else 401), (method, path, answer.text)
        envelope(answer)
        if envelope is s3:
            assert "<Code>AccessDenied</Code>" in answer.text


@pytest.mark.parametrize("path", [
    "/__admin", "/__admin/info", "/__admin/namespaces", "/__admin/namespaces/first", "/__console", "/__console/",
    "/metrics", "/readyz", "/livez", "/openapi.yaml", "/openapi.json", "/openapi/eka.yaml"])
def test_the_servers_own_pages_are_not_below_the_prefix(server, first, path):
    # Any other method on this page asks S3 about a bucket of that name, in the default world too.
    for method in ("GET",) if path == "/openapi.json" else ("GET", "HEAD", "POST", "DELETE"):
        for name in ("first", "unknown"):
            for headers in ({}, {"Accept": "text/html"}):
                answer = asked(server, method, f"/ns/{name}{path}", headers=headers)
                assert answer.status_code == 404, (method, name, answer.status_code, answer.text)
    assert asked(server, "GET", "/__admin/namespaces/first").status_code == 200


@pytest.mark.parametrize("path", ["", "/"])
def test_the_front_page_is_not_below_the_prefix(server, first, path):
    page = {"Accept": "text/html,application/xhtml+xml"}
    assert asked(server, "GET", "/", headers=page).status_code == 200
    answer = asked(server, "GET", f"{first.prefix}{path}", headers=page)
    assert answer.status_code == 404, (answer.status_code, answer.text)


def test_the_vendors_own_ping_is_below_the_prefix(server, first):
    assert asked(server, "GET", "/voice/ping").json() == asked(server, "GET", f"{first.prefix}/voice/ping").json()


@pytest.mark.parametrize("origin", [NEIGHBOUR, VENDOR, FOREIGN, "own"])
def test_a_page_chooses_a_namespace_by_header_only_with_a_token(server, first, origin):
    page = {"Origin": server.base_url if origin == "own" else origin, **first.header}
    for method, path, envelope in ROUTES:
        answer = asked(server, method, path, headers=page, **(
            {"json": {"client_id": "dev-client", "client_secret": "dev-secret"}} if "login" in path else {}))
        assert answer.status_code == (403 if envelope is s3 else 401), (method, path, answer.text)
    assert asked(server, "GET", HISTORY, headers={**page, **first.bearer}).status_code == 200


@pytest.mark.parametrize("host, path, status", [
    ("api.eka.care", HISTORY, 200), ("sdp.suki.ai", f"{SUKI}/x/status", 401), ("api.deepgram.com", "/v2/listen", 404),
    ("api.eka.care", "/metrics", 404), ("api.eka.care", "/__admin/info", 404)])
def test_the_prefix_is_known_on_the_vendors_hosts(server, first, host, path, status):
    answer = asked(server, "GET", f"{first.prefix}{path}", headers={**first.bearer, "Host": host})
    assert answer.status_code == status, answer.text


@pytest.mark.parametrize("path", [
    f"//ns/first{HISTORY}", f"/ns//first{HISTORY}", f"/ns/first/ns/second{HISTORY}", f"/ns/first/../second{HISTORY}",
    f"/NS/first{HISTORY}", f"/ns/first;x{HISTORY}", f"/ns/.{HISTORY}", f"/x/ns/first{HISTORY}"])
def test_a_path_similar_to_the_prefix_selects_no_namespace(server, first, second, path):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    # As it is: other clients clean a path up.
    connection.putrequest("GET", path)
    connection.putheader("Authorization", first.bearer["Authorization"])
    connection.endheaders()
    assert connection.getresponse().status in (400, 403, 404)


def test_a_browser_may_send_the_header(server):
    asked_for = {
        "Origin": VENDOR, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": HEADER.lower()}
    answer = asked(server, "OPTIONS", HISTORY, headers=asked_for)
    assert answer.ok and HEADER.lower() in answer.headers["Access-Control-Allow-Headers"].lower()
