"""Namespaces and the settings of a server: limits, strict authentication, the operator's token,
public URL, TLS, and the log."""

import json

import pytest
import requests
from client import BUCKET
from emulator import LIMITED, LONG, NAMED, PLAIN, PUBLIC, SHORT, STRICT
from listen_client import SPEECH, Listener, results
from namespaces import Access, AllianceClient, EkaClient, access, ambient_client, control, created, links, own
from session_client import form_of, recording, send
from tls import trusting



def refused(answer: requests.Response, status: int, code: str):
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


def test_beyond_the_most_namespaces_the_server_is_busy(served):
    server = served(*LIMITED)
    created(server, "a")
    created(server, "b")
    for body in ({"name": "c"}, {}):
        refused(control(server, "POST", "namespaces", json=body), 503, "busy")
    refused(control(server, "POST", "namespaces", json={"name": "a"}), 409, "namespace_exists")
    found = control(server, "GET", "namespaces").json()
    assert found["max"] == 2 and [each["name"] for each in found["namespaces"]] == ["a", "b"]
    # What was refused took no place, and what is deleted gives its place back.
    assert control(server, "DELETE", "namespaces/a").status_code == 204
    created(server, "c")
    for name in "bc":
        control(server, "DELETE", f"namespaces/{name}").raise_for_status()


@pytest.mark.parametrize("flags, allowed", [
    (STRICT, False), (PUBLIC, True), (PLAIN, False),
], ids=["strict", "strict with namespaces", "no namespaces"])
def test_strict_servers_have_namespaces_only_by_the_setting(served, flags, allowed):
    server = served(*flags)
    if not allowed:
        token = {"Authorization": "Bearer operator"}
        for body in ({}, {"name": "a"}):
            refused(control(server, "POST", "namespaces", json=body, headers=token), 403, "namespaces_off")
        assert control(server, "GET", "namespaces", headers=token).json()["namespaces"] == []
        assert requests.get(f"{server.base_url}/ns/a/voice/api/v2/transaction/history").status_code == 404
        return
    made = created(server, "a", headers=operator(server))
    for way in ("prefix", "header", "credentials"):
        client = EkaClient(access(server, made, way))
        assert client.transaction(way).init().status_code == 201 and way in client.history()
    assert EkaClient(Access(server.base_url)).history() == []
    # Nobody is taken on trust.
    answer = requests.get(
        f"{server.base_url}/ns/a/voice/api/v2/transaction/history", headers={"Authorization": "Bearer a.b.c"})
    assert answer.status_code == 401


def operator(server) -> dict:
    """The operator's header for a server that has a token in its data folder."""
    return {"Authorization": f"Bearer {(server.folder / 'data/admin-token').read_text().strip()}"}


def test_namespaces_need_the_admin_token_whenever_the_operator_api_does(served):
    server = served(*PUBLIC)
    made = created(server, "mine", headers=operator(server))
    client = EkaClient(access(server, made, "credentials"))
    assert client.transaction("kept").init().status_code == 201
    strangers = [
        {}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Bearer {client.tokens['access_token']}"},
        {"Authorization": f"Token {made['api_key']}"}, {"Authorization": f"Bearer {made['client_secret']}"}]
    calls = [
        ("POST", "namespaces", {"json": {"name": "theirs"}}), ("DELETE", "namespaces/mine", {}),
        ("POST", "namespaces", {}), ("GET", "namespaces", {}), ("GET", "namespaces/mine", {}),
        ("GET", "namespaces/unknown", {}), ("POST", "reset", {"params": {"namespace": "mine"}}),
        ("POST", "reset", {"params": {"namespace": "unknown"}}),
        ("GET", "info", {"params": {"namespace": "unknown"}}),
    ]
    for headers in strangers:
        # Of wrong tokens only a few are taken in a minute.
        for method, path, options in calls[:2] if headers else calls:
            answer = control(server, method, path, headers=headers, **options)
            # Whether a name exists is not told either.
            assert answer.status_code == 401, (method, path, answer.text)
            assert answer.headers["Content-Type"].startswith("application/problem+json")
    found = control(server, "GET", "namespaces", headers=operator(server)).json()["namespaces"]
    assert [(each["name"], each["state"]) for each in found if each["name"] != "a"] == [("mine", 1)]
    assert client.history() == ["kept"]
    answer = control(server, "POST", "reset", headers=operator(server), params={"namespace": "mine"})
    assert answer.json() == {"namespace": "mine", "state": 2} and client.history() == []
    assert control(server, "DELETE", "namespaces/mine", headers=operator(server)).status_code == 204


def test_links_begin_with_the_public_url_and_the_prefix(served):
    public = "https://public.example"
    server = served(*NAMED)
    made = created(server, "t")
    assert made["url"] == f"{public}/ns/t"
    listed = control(server, "GET", "namespaces").json()["namespaces"]
    assert {each["name"]: each["url"] for each in listed}["t"] == f"{public}/ns/t"
    for way, base in (("prefix", f"{public}/ns/t"), ("header", public), ("credentials", public)):
        inside = access(server, made, way)
        client = AllianceClient(inside)
        assert client.base == f"{base}/voice/v1"
        client.base = f"{inside.base_url}/voice/v1"
        _, form = form_of(client)
        assert form["url"] == f"{base}/m-prod-ekascribe-batch/"
        # The form's policy holds at the place that the proxy leads to.
        assert send(
            {**form, "url": form["url"].replace(public, server.base_url)}, "1.wav", recording(1)).status_code == 204
        stream = client.create(upload_type="stream")["upload_url"]
        assert stream.startswith(f"{base.replace('https', 'wss')}/voice/v1/stream/")
        answer = client.session.post(f"{inside.base_url}/v1/file-upload?txn_id=f-{way}").json()
        assert answer["uploadData"]["url"] == f"{base}/m-prod-ekascribe-batch/"


def test_over_tls_links_are_https_and_everything_is_reached_by_them(served):
    server = served(*LONG)
    answer = requests.post(f"{server.tls_url}/__admin/namespaces", json={"name": "secure"}, verify=server.authority)
    made = answer.json()
    assert answer.status_code == 201 and made["url"] == f"{server.tls_url}/ns/secure"
    context = trusting(server)
    for inside in (
        Access(made["url"], verify=server.authority), Access(server.tls_url, verify=server.authority, **own(made))
    ):
        client = EkaClient(inside)
        s3 = client.s3()
        s3.put_object(Bucket=BUCKET, Key="260510/tls/1.wav", Body=recording(1))
        assert [item["Key"] for item in s3.list_objects_v2(Bucket=BUCKET)["Contents"]] == ["260510/tls/1.wav"]
        alliance = AllianceClient(inside)
        stream = alliance.create(upload_type="stream")["upload_url"]
        _, form = form_of(alliance)
        assert (
            form["url"].startswith(f"{inside.base_url}/")
            and stream.startswith(f"{inside.socket_url}/voice/v1/stream/"))
        answer = requests.post(
            form["url"], form["fields"], files={"file": ("1.wav", recording(1))}, verify=server.authority)
        assert answer.status_code == 204
        with Listener(None, address=stream, ssl=context, additional_headers={}) as socket:
            socket.socket.send(json.dumps({"event": "stop"}))
            socket.receive_all()
            assert socket.close_frame[0] == 1000
        address = f"{inside.socket_url}/v1/listen?encoding=linear16&sample_rate=16000"
        with Listener(None, address=address, key=inside.key, ssl=context) as socket:
            socket.send(SPEECH, "CloseStream")
            assert results(socket.end(), final=True)
        ambient = ambient_client(inside)
        ambient.initialize()
        assert ambient.status(ambient.create_session()) == "created"


def test_no_secret_of_a_namespace_is_in_the_log(served):
    server = served(*SHORT)
    position = len(server.log)
    made = created(server, "logged")
    secrets = [made["client_secret"], made["api_key"], made["api_key_hex"]]
    for way in ("prefix", "header", "credentials"):
        inside = access(server, made, way)
        client = EkaClient(inside)
        secrets += [client.tokens["access_token"], client.tokens["refresh_token"]]
        keys = client.keys()
        secrets += [keys["SecretKey"], keys["SessionToken"]]
        url = client.s3(keys).generate_presigned_url("put_object", {"Bucket": "b", "Key": "k"})
        assert requests.put(url, data=b"x").status_code == 200
        transaction = client.transaction(f"t-{way}")
        transaction.init()
        details = client.get(f"/voice/api/v1/sessions/{transaction.id}?presigned=true").json()
        alliance = AllianceClient(inside)
        stream = alliance.create(upload_type="stream")["upload_url"]
        # The part of the link that opens the socket.
        secrets.append(stream.split("/stream/sessions/")[1].split("/")[0])
        with Listener(None, address=stream, additional_headers={}):
            pass
        secrets += [link.rsplit("/", 1)[1] for link in links(details) if "/documents/content/" in link]
        headers = {"Authorization": f"Token {inside.key}", **inside.headers}
        secrets.append(requests.post(f"{inside.base_url}/v1/auth/grant", headers=headers).json()["access_token"])
        wrong = {"client_id": inside.client, "client_secret": f"{inside.secret}x"}
        login = f"{inside.base_url}/connect-auth/v1/account/login"
        assert requests.post(login, json=wrong, headers=inside.headers).status_code == 401
        for name in ("logged", "other"):
            requests.get(f"{server.base_url}/ns/{name}/voice/api/v2/transaction/history", headers={
                "Authorization": f"Bearer {secrets[2]}"})
    control(server, "POST", "reset", params={"namespace": "logged"})
    control(server, "DELETE", "namespaces/logged")
    server.logged("DELETE /__admin/namespaces", position=position)
    log = server.log[position:]
    # The log has a line for each request, so a secret that was logged would be found.
    assert log.count("POST /v1/auth/grant 200") == 3
    # The demo client's secret and key are in the pages of the server.
    for secret in secrets:
        assert secret and secret not in log, secret
