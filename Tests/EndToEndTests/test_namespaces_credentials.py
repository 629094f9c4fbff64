"""Credentials choose a namespace by themselves, and those of another namespace
than the path or the header names are refused."""

import contextlib
import json
import threading

import botocore.exceptions
import pytest
import requests
from emulator import PATIENCE
from listen_client import voice
from namespaces import (
    ACCOUNT, HISTORY, LOGIN, SESSIONS, SUKI, WAYS, Access, EkaClient, World, access, account, asked, control, counts,
    created, deepgram, eka, omi, session, suki,
)
from suki_checks import make_partner_token
from websocket_driver import open_socket
from websockets.exceptions import ConnectionClosed, InvalidStatus

SAMPLES = "encoding=linear16&sample_rate=16000"


@pytest.fixture(scope="module")
def first(server):
    return World(server, "first-of-two")


@pytest.fixture(scope="module")
def second(server):
    return World(server, "second-of-two")


def test_a_request_can_name_its_namespace_by_prefix_header_and_credential_at_once(server, first):
    for prefix in ("", first.prefix):
        for header in ({}, first.header):
            for credential in (first.bearer, {"auth": first.token}, {"Cookie": f"sess={first.token}"}):
                assert asked(server, "GET", f"{prefix}{HISTORY}", headers={**header, **credential}).status_code == 200
            assert asked(server, "POST", f"{prefix}{LOGIN}", headers=header, json={
                "client_id": first.access.client, "client_secret": first.access.secret}).status_code == 200
            keyed = {**header, **first.key}
            assert asked(
                server, "POST", f"{prefix}/v1/listen?{SAMPLES}", headers=keyed, data=voice(1)).status_code == 200
            answer = asked(server, "GET", f"{prefix}{SUKI}/x/status", headers={**header, **first.suki})
            assert answer.status_code in (400, 404), answer.text
            with open_socket(
                f"ws://127.0.0.1:{server.port}{prefix}/v1/listen?{SAMPLES}", additional_headers=keyed
            ) as socket:
                socket.close()


def disagreeing(first, second) -> list[tuple]:
    """Requests of each credential: method, path, what it sends, and the envelope of its family's error."""
    partner = {"partner_id": second.access.partner, "partner_token": make_partner_token(second.access.partner, "dr-x")}
    login = {"client_id": second.access.client, "client_secret": second.access.secret}
    return [
        ("GET", HISTORY, {"headers": second.bearer}, eka), ("GET", HISTORY, {"headers": {"auth": second.token}}, eka),
        ("GET", HISTORY, {"headers": {"Cookie": f"sess={second.token}"}}, eka),
        ("GET", f"{ACCOUNT}/whoami", {"headers": second.bearer}, account),
        ("POST", f"{ACCOUNT}/login", {"json": login}, account),
        ("POST", "/connect-auth/v1/login",
         {"json": {"username": login["client_id"], "password": login["client_secret"]}}, eka),
        ("POST", f"{ACCOUNT}/refresh-token", {"json": {"refresh_token": second.refresh}}, account),
        ("POST", "/connect-auth/v1/device/token", {"json": {"device_code": second.device}}, None),
        ("POST", SESSIONS, {"headers": second.bearer, "json": {"upload_type": "chunked"}}, session),
        ("POST", "/api/v1/auth/login", {"json": partner}, suki),
        ("GET", f"{SUKI}/x/status", {"headers": second.suki}, suki),
        ("POST", f"/v1/listen?{SAMPLES}", {"headers": second.key, "data": voice(1)}, deepgram),
        ("POST", "/v1/auth/grant", {"headers": second.key}, deepgram),
        ("GET", "/v1/conversations", {"headers": second.bearer}, omi),
        ("GET", "/v3/memories", {"headers": second.bearer}, omi),
    ]


@pytest.mark.parametrize("way", ["prefix", "header"])
def test_a_credential_of_another_namespace_is_refused(server, first, second, way):
    before = counts(server), counts(server, "first-of-two"), counts(server, "second-of-two")
    for method, path, options, envelope in disagreeing(first, second):
        if way == "prefix":
            answer = asked(server, method, first.prefix + path, **options)
        else:
            answer = asked(
                server, method, path, **{**options, "headers": {**options.get("headers", {}), **first.header}})
        assert answer.status_code == 401, (method, path, answer.status_code, answer.text)
        assert "access_token" not in answer.text and "suki_token" not in answer.text
        if envelope:
            envelope(answer)
        assert "sess=" not in answer.headers.get("Set-Cookie", "")
    assert (counts(server), counts(server, "first-of-two"), counts(server, "second-of-two")) == before


@pytest.mark.parametrize("way", ["prefix", "header"])
def test_credentials_of_the_default_world_open_no_namespace(server, first, way):
    """Its clients and secrets are in each namespace too, its tokens are not."""
    default = EkaClient(Access(server.base_url))
    bearer = {"Authorization": f"Bearer {default.tokens['access_token']}"}
    prefix, header = (first.prefix, {}) if way == "prefix" else ("", first.header)
    for path in (HISTORY, f"{ACCOUNT}/whoami", "/v1/conversations"):
        assert asked(server, "GET", f"{prefix}{path}", headers={**bearer, **header}).status_code == 401, path
    refresh = {"refresh_token": default.tokens["refresh_token"]}
    assert asked(
        server, "POST", f"{prefix}{ACCOUNT}/refresh-token", headers=header, json=refresh).status_code in (401, 403)
    with pytest.raises(botocore.exceptions.ClientError) as refusal:
        s3 = default.s3(base_url=f"{server.base_url}{first.prefix}")
        s3.list_buckets()
    assert refusal.value.response["Error"]["Code"] in ("AccessDenied", "InvalidToken", "InvalidAccessKeyId")


def test_two_credentials_of_other_namespaces_in_one_request_are_refused(server, first, second):
    answer = asked(server, "GET", HISTORY, headers={**first.bearer, "auth": second.token})
    assert answer.status_code == 401, answer.text
    answer = asked(
        server, "POST", f"{ACCOUNT}/refresh-token", headers=first.bearer, json={"refresh_token": second.refresh})
    assert answer.status_code == 401, answer.text


@pytest.mark.parametrize("way", ["prefix", "header"])
def test_sockets_refuse_a_credential_of_another_namespace(server, first, second, way):
    prefix, headers = (first.prefix, {}) if way == "prefix" else ("", first.header)
    address = f"ws://127.0.0.1:{server.port}{prefix}"
    for path, more in [
        (f"/v1/listen?{SAMPLES}", second.key), ("/v4/listen", second.bearer),
        ("/ws/stream", {**second.suki, "ambient_session_id": "x"}),
    ]:
        with pytest.raises(InvalidStatus) as refusal:
            open_socket(f"{address}{path}", additional_headers={**headers, **more})
        assert refusal.value.response.status_code == 401, path
    # A browser learns it from the close frame.
    with contextlib.suppress(InvalidStatus):
        with open_socket(
            f"{address}/v1/listen?{SAMPLES}", additional_headers=headers, subprotocols=["token", second.access.key]
        ) as socket:
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(timeout=PATIENCE)
            assert closed.value.rcvd.code == 1008
    with open_socket(f"{address}/v4/web/listen", additional_headers=headers) as page:
        page.send(json.dumps({"type": "auth", "token": second.token}))
        assert json.loads(page.recv(timeout=PATIENCE)) == {"type": "auth_response", "success": False}


def test_s3_refuses_a_session_token_of_another_namespace(server, first, second):
    client, keys = first.client, second.client.keys()
    objects = second.client.s3(keys)
    objects.put_object(Bucket="theirs", Key="a", Body=b"x")
    inside = client.s3(keys, base_url=f"{server.base_url}{first.prefix}")
    where = {"Bucket": "theirs", "Key": "a"}
    for call in (lambda: inside.get_object(**where), lambda: inside.put_object(**where, Body=b"y"), inside.list_buckets,
                 lambda: inside.list_objects_v2(Bucket="theirs"), lambda: inside.delete_object(**where)):
        with pytest.raises(botocore.exceptions.ClientError) as refusal:
            call()
        answer = refusal.value.response
        assert (answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"]) == (403, "AccessDenied")
    for link in (inside.generate_presigned_url("get_object", where),):
        answer = requests.get(link)
        assert answer.status_code == 403 and "<Code>AccessDenied</Code>" in answer.text
    form = inside.generate_presigned_post("theirs", "b")
    answer = requests.post(form["url"], form["fields"], files={"file": b"x"})
    assert answer.status_code == 403 and "<Code>AccessDenied</Code>" in answer.text
    assert [item["Key"] for item in objects.list_objects_v2(Bucket="theirs")["Contents"]] == ["a"]
    assert objects.get_object(**where)["Body"].read() == b"x"
    assert "theirs" not in [bucket["Name"] for bucket in client.s3().list_buckets()["Buckets"]]


def test_a_credential_alone_selects_its_namespace(server, first, second):
    """What one login began is seen by everything that the login gave, and by nothing else."""
    client = EkaClient(first.access)
    assert client.transaction("by-token").init().status_code == 201

    def seen(headers) -> bool:
        answer = asked(server, "GET", HISTORY, headers=headers)
        assert answer.status_code == 200, answer.text
        return "by-token" in [row["txn_id"] for row in answer.json()["data"]]

    renewed = asked(
        server, "POST", f"{ACCOUNT}/refresh-token", json={"refresh_token": client.tokens["refresh_token"]}).json()
    cookies = requests.Session()
    assert cookies.post(f"{server.base_url}{LOGIN}", json={
        "client_id": first.access.client, "client_secret": first.access.secret}).status_code == 200
    assert [row["txn_id"] for row in cookies.get(f"{server.base_url}{HISTORY}").json()["data"]].count("by-token") == 1
    for token in (client.tokens["access_token"], renewed["access_token"]):
        for headers in ({"Authorization": f"Bearer {token}"}, {"auth": token}, {"Cookie": f"sess={token}"}):
            assert seen(headers)
    assert not seen(second.bearer)
    assert not seen({"Authorization": f"Bearer {EkaClient(Access(server.base_url)).tokens['access_token']}"})


def test_a_key_of_40_hex_digits_selects_its_namespace(server, first):
    """Deepgram's SDK 2 sends no other form. Only the namespace itself knows the key."""
    made = created(server)

    def status(key=made["api_key_hex"], prefix="", headers=None) -> int:
        keyed = {"Authorization": f"Token {key}", **(headers or {})}
        return asked(server, "POST", f"{prefix}/v1/listen?{SAMPLES}", headers=keyed, data=voice(1)).status_code

    assert status() == status(prefix=made["path"]) == 200
    assert status(headers=first.header) == status(prefix=first.prefix) == status(key="0" * 40) == 401
    assert control(server, "POST", "reset", params={"namespace": made["name"]}).status_code == 200
    assert status() == 200
    assert control(server, "DELETE", f"namespaces/{made['name']}").status_code == 204
    assert status() == 401
    assert status(key="00000000000000000000000000000000dec0de01") == 200, "the demo client's"


def test_a_device_logs_in_to_the_namespace_of_its_code(server):
    made = created(server)
    for way in WAYS[:2]:
        inside = access(server, made, way)
        begun = inside.session().post(f"{inside.base_url}/connect-auth/v1/device/code", json={}).json()
        # A browser sends no header, so that the address has the prefix in any case.
        assert begun["verification_uri"].startswith(f"{made['url']}/")
        assert requests.get(begun["verification_uri"]).status_code == 200
        token = asked(
            server, "POST", "/connect-auth/v1/device/token",
            json={"device_code": begun["device_code"]}).json()["access_token"]
        client = EkaClient(inside)
        assert client.transaction(f"device-{way}").init().status_code == 201
        rows = asked(server, "GET", HISTORY, headers={"Authorization": f"Bearer {token}"}).json()["data"]
        assert f"device-{way}" in [row["txn_id"] for row in rows]


def test_cookies_of_a_client_that_came_by_the_prefix_stay_below_it(server, first):
    session = requests.Session()
    body = {"client_id": "dev-client", "client_secret": "dev-secret"}
    assert session.post(f"{server.base_url}{first.prefix}{LOGIN}", json=body).status_code == 200
    assert {cookie.path for cookie in session.cookies} == {first.prefix}
    assert session.get(f"{server.base_url}{first.prefix}{HISTORY}").status_code == 200
    assert session.get(f"{server.base_url}{HISTORY}").status_code == 401
    assert session.get(f"{server.base_url}/ns/second-of-two{HISTORY}").status_code in (401, 404)


def test_requests_of_one_connection_choose_anew_each_time(server, first, second):
    wrong = []

    def alternate():
        mine = requests.Session()
        for number in range(20):
            world = (first, second)[number % 2]
            answer = mine.get(
                f"{server.base_url}{['', world.prefix][number % 3 // 2]}{ACCOUNT}/whoami", headers=world.bearer)
            if answer.status_code != 200 or f"ns-{world.name}" not in answer.text:
                wrong.append(answer.text)

    threads = [threading.Thread(target=alternate) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join(PATIENCE) for thread in threads]
    assert not wrong
