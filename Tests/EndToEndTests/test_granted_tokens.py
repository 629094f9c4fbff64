"""Tokens that the owner of a key lends to a browser: they open live recognition, for a while, and nothing else."""

import json

import pytest
import requests
import websockets.exceptions
from cross_site import HISTORY, SESSION, SESSIONS
from emulator import PATIENCE, PUBLIC, wait_until
from listen_client import KEY, RATE, SPEECH, Listener, environment, results, voice
from websockets.sync.client import connect

GRANT = "/v1/auth/grant"
KEYED = {"Authorization": f"Token {KEY}"}


@pytest.fixture(params=["server", "strict"])
def either(request):
    """A server that takes tokens on trust, and one that verifies them."""
    return request.getfixturevalue(request.param)


def asked(server, headers=KEYED, **options) -> requests.Response:
    return requests.post(f"{server.base_url}{GRANT}", headers=headers, timeout=PATIENCE, **options)


def granted(server, seconds=600) -> str:
    answer = asked(server, json={"ttl_seconds": seconds})
    assert answer.status_code == 200, answer.text
    return answer.json()["access_token"]


def bearer(token: str) -> dict:
    return {"Authorization": f"Bearer {token}"}


def is_taken(server, token: str) -> bool:
    """Whether a plain request is told to upgrade, rather than who it is."""
    answer = requests.get(f"{server.base_url}/v1/listen", headers=bearer(token), timeout=PATIENCE)
    assert answer.status_code in (401, 426), answer.text
    return answer.status_code == 426


@pytest.mark.covers("L-56")
@pytest.mark.parametrize("body, seconds", [
    (None, 30), ({}, 30), ({"ttl_seconds": None}, 30), ({"ttl_seconds": 1}, 1), ({"ttl_seconds": 3600}, 3600),
    # As the SDK sends what it takes for a fraction.
    ({"ttl_seconds": 60.0}, 60),
])
def test_a_key_is_granted_a_token_for_a_while(server, body, seconds):
    answer = asked(server, json=body)
    assert answer.status_code == 200 and answer.json().keys() == {"access_token", "expires_in"}
    assert answer.json()["expires_in"] == seconds and answer.json()["access_token"]
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.covers("L-56")
@pytest.mark.parametrize("seconds", [0, -1, 3601, 1e300, 1.5, "30", True, [], {}])
def test_a_token_for_longer_or_for_no_time_is_refused(server, seconds):
    answer = asked(server, json={"ttl_seconds": seconds})
    assert (answer.status_code, answer.json()["err_code"]) == (400, "Bad Request")


@pytest.mark.covers("L-56")
def test_a_request_without_a_key_gets_no_token(either):
    login = either.client().tokens["access_token"]
    for headers in ({}, {"Authorization": "Token wrong"}, {"Authorization": KEY}, bearer(login), bearer("a.b")):
        answer = asked(either, headers)
        assert (answer.status_code, answer.json()["err_code"]) == (401, "INVALID_AUTH"), headers
        assert "access_token" not in answer.text


@pytest.mark.covers("L-57")
@pytest.mark.parametrize("scheme", ["Token", "Bearer"])
def test_a_granted_token_grants_no_other(either, scheme):
    answer = asked(either, {"Authorization": f"{scheme} {granted(either)}"})
    assert (answer.status_code, answer.json()["err_code"]) == (403, "INSUFFICIENT_PERMISSIONS")


@pytest.mark.covers("L-57")
@pytest.mark.parametrize("way", ["header", "subprotocol"])
def test_a_granted_token_opens_a_socket(either, way):
    token = granted(either)
    options = ({"additional_headers": bearer(token)} if way == "header" else
               {"additional_headers": {}, "subprotocols": ["bearer", token]})
    with Listener(either, "endpointing=300", **options) as listener:
        assert listener.socket.subprotocol == (None if way == "header" else "bearer")
        listener.send(SPEECH, "CloseStream")
        assert results(listener.end())


@pytest.mark.covers("L-57")
def test_a_granted_token_has_a_recording_recognised(either):
    answer = requests.post(
        f"{either.base_url}/v1/listen?encoding=linear16&sample_rate={RATE}", voice(2), headers=bearer(granted(either)),
        timeout=PATIENCE)
    assert answer.status_code == 200 and answer.json()["results"]["channels"]


@pytest.mark.covers("L-57")
def test_a_token_that_was_altered_or_granted_elsewhere_opens_nothing(server, strict):
    token = granted(server)
    claims, code = token.split(".")
    for wrong in (granted(strict), f"{claims}.", claims, f"{claims}.{code[::-1]}", f"x{token}", f"{token}.{code}"):
        assert not is_taken(server, wrong), wrong
    assert is_taken(server, token)


@pytest.mark.covers("L-57")
def test_a_granted_token_opens_nothing_of_any_other_family(either):
    token, login, url = granted(either), either.client().tokens["access_token"], either.base_url
    for method, path, body in [
        ("GET", HISTORY, None), ("POST", SESSIONS, SESSION), ("GET", "/voice/api/v2/config", None),
        ("GET", "/v1/conversations", None), ("GET", "/v3/memories", None),
        ("POST", "/v1/transcribe/text", '{"text": "x"}'),
    ]:
        def call(headers):
            return requests.request(
                method, f"{url}{path}", data=body, headers={"Content-Type": "application/json"} | headers,
                timeout=PATIENCE).status_code

        # A login opens it, so that it is the token that is refused.
        assert call(bearer(login)) < 300, path
        for headers in (bearer(token), {"auth": token}, {"Cookie": f"sess={token}"}):
            assert call(headers) == 401, (path, headers)
    clinician = requests.post(
        f"{url}/api/v1/ambient/session/create", json={}, headers={"sdp_suki_token": token}, timeout=PATIENCE)
    assert clinician.status_code == 401
    for method in ("GET", "PUT", "DELETE"):
        answer = requests.request(method, f"{url}/m-pp-bucket/key", headers=bearer(token), timeout=PATIENCE)
        assert answer.status_code == 403 and "<Code>AccessDenied</Code>" in answer.text
    secret = {"client_id": "dev-client", "client_secret": token}
    for kind, body in (("refresh-token", {"refresh_token": token}), ("login", secret)):
        answer = requests.post(f"{url}/connect-auth/v1/account/{kind}", json=body, timeout=PATIENCE)
        assert answer.status_code in (401, 403)


@pytest.mark.covers("L-57")
def test_a_granted_token_opens_no_other_socket(either):
    token, url = granted(either), f"ws://127.0.0.1:{either.port}"
    with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
        connect(f"{url}/v4/listen", additional_headers=bearer(token), open_timeout=PATIENCE)
    assert refusal.value.response.status_code == 401
    with connect(f"{url}/v4/web/listen", open_timeout=PATIENCE, close_timeout=PATIENCE) as page:
        page.send(json.dumps({"type": "auth", "token": token}))
        assert json.loads(page.recv(timeout=PATIENCE)) == {"type": "auth_response", "success": False}


@pytest.mark.covers("L-57")
def test_a_granted_token_does_not_open_the_operator_api(served):
    # Beyond this machine the operator's door asks for a token.
    server = served(*PUBLIC)
    def info(token):
        return requests.get(
            f"{server.base_url}/__admin/info", headers=bearer(token), timeout=PATIENCE).status_code

    operators = (server.folder / "data/admin-token").read_text().strip()
    assert (info(operators), info(granted(server))) == (200, 401)


@pytest.mark.covers("L-58")
def test_an_expired_token_opens_nothing_and_an_open_socket_outlives_it(either):
    token = granted(either, 4)
    with Listener(either, "endpointing=300", additional_headers={}, subprotocols=["bearer", token]) as listener:
        wait_until(lambda: not is_taken(either, token), "the token expires")
        with Listener(either, additional_headers={}, subprotocols=["bearer", token]) as late:
            assert late.end() == []
            assert late.close_frame[0] == 1008 and late.close_frame[1].startswith("401 INVALID_AUTH")
        with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
            Listener(either, additional_headers=bearer(token))
        assert refusal.value.response.status_code == 401
        # It grants as little as before.
        assert asked(either, bearer(token)).status_code in (401, 403)
        listener.send(SPEECH, "CloseStream")
        messages = listener.end()
        assert results(messages) and messages[-1]["type"] == "Metadata" and messages[-1]["duration"] == 3


@pytest.mark.covers("L-56", "L-57")
def test_the_deepgram_sdk_gets_a_token_and_live_results_with_it(server):
    from deepgram import DeepgramClient
    from deepgram.core.api_error import ApiError

    keyed = DeepgramClient(api_key=KEY, environment=environment(server))
    assert keyed.auth.v1.tokens.grant().expires_in == 30
    answer = keyed.auth.v1.tokens.grant(ttl_seconds=600)
    assert answer.expires_in == 600
    lent = DeepgramClient(access_token=answer.access_token, environment=environment(server))
    with lent.listen.v1.connect(model="nova-3", encoding="linear16", sample_rate=str(RATE)) as connection:
        connection.send_media(SPEECH)
        connection.send_close_stream()
        assert connection.recv().type == "Results"
    with pytest.raises(ApiError) as refusal:
        lent.auth.v1.tokens.grant()
    assert (refusal.value.status_code, refusal.value.body["err_code"]) == (403, "INSUFFICIENT_PERMISSIONS")


@pytest.mark.covers("L-59")
@pytest.mark.parametrize("host", [
    None, "api.deepgram.com", "api.eka.care", "anything.eka.care", "sdp.suki.ai", "localhost"])
@pytest.mark.parametrize("method, path", [
    ("GET", "/v2/listen"), ("POST", "/v2/listen"), ("GET", "/v2/listen/x"), ("GET", "/v1/auth/tokens"),
    ("POST", "/v1/auth"),
])
def test_paths_of_deepgram_that_are_not_served_get_404_in_deepgrams_format(server, method, path, host):
    answer = requests.request(
        method, f"{server.base_url}{path}", headers=KEYED | ({"Host": host} if host else {}), timeout=PATIENCE)
    assert answer.status_code == 404 and answer.headers["content-type"].startswith("application/json")
    assert answer.json()["err_code"] == "NOT_FOUND"
    assert answer.json().keys() == {"err_code", "err_msg", "request_id"}


@pytest.mark.covers("L-59")
@pytest.mark.parametrize("host", ["api.deepgram.com", "api.eka.care", "localhost"])
def test_tokens_are_granted_under_any_host(server, host):
    assert asked(server, KEYED | {"Host": host}).status_code == 200
