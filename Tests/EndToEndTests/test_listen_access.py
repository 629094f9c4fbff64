"""Access to live recognition: keys, parameters, origins and the number of sockets."""

import json
import socket

import pytest
import requests
import websockets.exceptions
import yaml
from emulator import LIMITED, wait_until
from listen_client import KEY, SPEECH, Listener, hear
from schemas import LOADER, component, document

DOCUMENT = "listen.asyncapi.yaml"


@pytest.mark.covers("L-01", "L-02", "L-11")
@pytest.mark.parametrize("scheme", ["Token", "token", "Bearer", "bearer", "BEARER"])
def test_a_key_opens_a_socket_by_its_header(server, scheme):
    with Listener(server, additional_headers={"Authorization": f"{scheme} {KEY}"}) as listener:
        listener.send("CloseStream")
        assert [m["type"] for m in listener.end()] == ["Metadata"]


@pytest.mark.covers("L-03", "L-04")
def test_a_key_opens_a_socket_as_a_subprotocol_and_is_never_repeated(server):
    with Listener(server, additional_headers={}, subprotocols=["token", KEY]) as listener:
        assert listener.socket.subprotocol == "token"
    with Listener(server) as listener:
        assert listener.socket.subprotocol is None


@pytest.mark.covers("L-05", "L-06", "L-07")
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Token "}, {"Authorization": "Token wrong"},
                                     {"Authorization": "Basic b3JnX2Rldl9rZXk="}, {"Authorization": KEY}])
def test_a_wrong_key_is_refused_with_401(server, headers):
    with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
        Listener(server, additional_headers=headers)
    answer = refusal.value.response
    assert answer.status_code == 401
    body = json.loads(answer.body)
    assert body["err_code"] == "INVALID_AUTH" and body["err_msg"] and body["request_id"]
    assert answer.headers["dg-request-id"] == body["request_id"] and answer.headers["dg-error"] == body["err_msg"]


@pytest.mark.covers("L-05", "L-08")
@pytest.mark.parametrize("offered", [["token", "wrong"], ["token"], ["bearer", "a.b.c"]])
def test_a_wrong_key_that_came_as_a_subprotocol_closes_the_socket_and_says_401(server, offered):
    with Listener(server, additional_headers={}, subprotocols=offered) as listener:
        assert listener.end() == []
        assert listener.close_frame[0] == 1008 and listener.close_frame[1].startswith("401 INVALID_AUTH")


def test_an_empty_credential_header_is_refused_like_a_wrong_key(server):
    # It once ended the server.
    for path in ("/v1/listen", "/v1/auth/grant"):
        answer = requests.post(f"{server.base_url}{path}", headers={"Authorization": ""})
        assert (answer.status_code, answer.json()["err_code"]) == (401, "INVALID_AUTH")
    with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
        Listener(server, additional_headers={"Authorization": ""})
    assert refusal.value.response.status_code == 401


@pytest.mark.covers("L-55")
@pytest.mark.parametrize("agent, sees_the_status", [
    ("okhttp/4.12.0", True), ("okhttp/5.0.0-alpha.14", True), ("Mozilla/5.0 (X11; Linux x86_64)", False),
    ("an okhttp/4.12.0", False), (None, False),
])
def test_okhttp_sees_the_status_of_a_refusal_and_others_see_how_the_socket_closes(server, agent, sees_the_status):
    def open_socket():
        return Listener(
            server, additional_headers={}, subprotocols=["token", "wrong"], user_agent_header=agent)

    if sees_the_status:
        with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
            open_socket()
        assert refusal.value.response.status_code == 401
        assert json.loads(refusal.value.response.body)["err_code"] == "INVALID_AUTH"
        # What is right opens it for them too.
        with Listener(server, additional_headers={}, subprotocols=["token", KEY], user_agent_header=agent) as listener:
            assert listener.socket.subprotocol == "token"
    else:
        with open_socket() as listener:
            assert listener.end() == []
            assert listener.close_frame[0] == 1008 and listener.close_frame[1].startswith("401 INVALID_AUTH")


@pytest.mark.covers("L-09", "L-10", "L-11")
def test_unknown_parameters_are_ignored(server):
    assert hear(server, "colour=blue&keyterm=a&keyterm=b+c&tag=x&tag=y&version=1&mip_opt_out=true")


@pytest.mark.parametrize("query", [
    "encoding=amr", "channels=0", "channels=x", "endpointing=-1", "interim_results=maybe", "utterance_end_ms=soon"])
def test_invalid_parameter_values_get_400(server, query):
    address = f"http://127.0.0.1:{server.port}/v1/listen?{query}"
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Authorization": f"Token {KEY}"}
    answer = requests.get(address, headers=upgrade)
    assert answer.status_code == 400 and answer.json()["err_code"] == "Bad Request"


def test_a_plain_get_is_told_to_upgrade(server):
    answer = requests.get(f"http://127.0.0.1:{server.port}/v1/listen", headers={"Authorization": f"Token {KEY}"})
    assert answer.status_code == 426 and answer.headers["upgrade"] == "websocket"


def test_the_number_of_open_sockets_is_limited(served):
    server = served(*LIMITED)
    wait_until(lambda: server.metric("scribe_connections") == 1, "no connection is open but the one that asks")
    with Listener(server), Listener(server):
        with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
            Listener(server)
        assert refusal.value.response.status_code == 429

    def opens():
        try:
            with Listener(server):
                return True
        except websockets.exceptions.InvalidStatus:
            return False

    wait_until(opens, "a place is given back")


def test_a_client_that_says_it_has_no_body_opens_a_socket(server):
    # As clients made with NIO do.
    with Listener(server, additional_headers={"Authorization": f"Token {KEY}", "Content-Length": "0"}) as listener:
        listener.send(SPEECH, "CloseStream")
        assert listener.end()[-1]["type"] == "Metadata"


def test_pages_of_other_origins_open_no_socket(server):
    # Pages set no header.
    page = {"subprotocols": ["token", KEY], "additional_headers": {}}
    for origin in ("https://evil.example", "null", "https://api.deepgram.com"):
        with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
            Listener(server, origin=origin, **page)
        assert refusal.value.response.status_code == 403
    with Listener(server, origin="http://localhost:3000", **page):
        pass


def test_a_library_that_sends_the_origin_of_the_compiled_in_host_opens_a_socket(server):
    # As the WebSockets of React Native and Starscream do.
    for host in ("api.deepgram.com", "api.subquadratic.ai"):
        for sent in (
            {"additional_headers": {"Authorization": f"Token {KEY}"}},
            {"subprotocols": ["token", KEY], "additional_headers": {}},
        ):
            with socket.create_connection(("127.0.0.1", server.port)) as connection:
                address = f"ws://{host}/v1/listen?encoding=linear16&sample_rate=16000"
                with Listener(server, address=address, sock=connection, origin=f"https://{host}", **sent) as listener:
                    listener.send(SPEECH, "CloseStream")
                    assert listener.end()[-1]["type"] == "Metadata"
    with Listener(server, origin="https://app.example"):
        pass


def test_the_examples_of_the_document_fit_it():
    for name, message in document(DOCUMENT)["components"]["messages"].items():
        for example in message.get("examples", []):
            payload = example["payload"]
            component(DOCUMENT, message["payload"]["$ref"].rsplit("/", 1)[1]).validate(payload)


def test_the_document_is_served(server):
    answer = requests.get(f"{server.base_url}/listen.asyncapi.yaml")
    assert answer.status_code == 200 and yaml.load(answer.text, LOADER) == document(DOCUMENT)
