"""Bodies as a cloud takes them: compressed JSON, every wrong field, missing templates, addresses of audio."""

import gzip
import json
import uuid

import pytest
import requests
from emulator import PATIENCE, wait_until
from journal import Journal
from listen_client import KEY, Listener

LOGIN = {"client_id": "dev-client", "client_secret": "dev-secret"}
ZIPPED = {"Content-Type": "application/json", "Content-Encoding": "gzip"}


@pytest.fixture(scope="module")
def tolerant(served):
    """A server that reads compressed JSON, knows a model of its own, and closes sockets without audio."""
    return served(
        "--accept-gzip", "--listen-models", "nova-3-ours", "--listen-needs-audio", "--listen-idle", "500ms")


def post(server, path: str, body: bytes, headers: dict, token=None) -> requests.Response:
    headers = {**headers, **({"Authorization": f"Bearer {token}"} if token else {})}
    return requests.post(f"{server.base_url}{path}", data=body, headers=headers, timeout=PATIENCE)


def zipped(value) -> bytes:
    return gzip.compress(json.dumps(value).encode(), mtime=0)


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "br", "deflate", "gzip, gzip"])
def test_an_encoded_body_is_415_and_the_answer_names_the_encoding(server, encoding):
    answer = post(server, "/connect-auth/v1/account/login", zipped(LOGIN), {**ZIPPED, "Content-Encoding": encoding})
    assert answer.status_code == 415, answer.text
    assert encoding.lower() in answer.text or "," in encoding


def test_a_body_without_an_encoding_is_read(server):
    headers = {"Content-Type": "application/json", "Content-Encoding": "identity"}
    answer = post(server, "/connect-auth/v1/account/login", json.dumps(LOGIN).encode(), headers)
    assert answer.status_code == 200


def test_compressed_json_is_read_on_request(tolerant):
    answer = post(tolerant, "/connect-auth/v1/account/login", zipped(LOGIN), ZIPPED)
    assert answer.status_code == 200, answer.text
    token = answer.json()["access_token"]
    body = {"transfer": "vaded", "s3_url": "s3://m-prod-voice-record/260510/i-gzip", "mode": "consultation"}
    path = f"/voice/api/v2/transaction/init/i-{uuid.uuid4()}"
    assert post(tolerant, path, zipped(body), ZIPPED, token).status_code == 201


@pytest.mark.parametrize("body, status", [
    (b"no gzip", 400), (zipped(LOGIN)[:-12], 400), (b"", 400), (gzip.compress(b" " * (4 << 20), mtime=0), 413),
    (gzip.compress(b"{", mtime=0), 400)])
def test_what_is_no_gzip_or_too_much_is_refused(tolerant, body, status):
    answer = post(tolerant, "/connect-auth/v1/account/login", body, ZIPPED)
    assert answer.status_code == status, answer.text


def test_a_model_of_ours_is_taken(tolerant, server):
    with Listener(tolerant, "model=nova-3-ours") as listener:
        listener.send("CloseStream")
        assert listener.end()
    assert requests.post(
        f"{server.base_url}/v1/listen?model=nova-3-ours", data=b"x", headers={"Authorization": f"Token {KEY}"},
        timeout=PATIENCE).status_code == 403


def test_a_socket_that_gets_only_texts_is_closed_on_request(tolerant):
    with Listener(tolerant) as listener:
        for _ in range(100):
            try:
                listener.send("KeepAlive")
            except Exception:
                break
            listener.socket.ping().wait(0.1)
        listener.end()
        assert listener.close_frame[0] == 1011 and "NET-0001" in listener.close_frame[1]


def test_one_answer_names_all_wrong_fields(server):
    client = server.client()
    body = {"transfer": "vaded", "s3_url": 7, "input_language": "en-IN", "output_format_template": [{"template_id": 1}]}
    answer = client.transaction(f"i-{uuid.uuid4()}").init(**body)
    assert answer.status_code == 400
    message = answer.json()["error"]["message"]
    for field in ("s3_url", "input_language", "output_format_template.0.template_id"):
        assert f"ield '{field}' must be" in message, message
    assert message.count("ield '") == 3, "none of them is a value that was put in"


def test_the_template_that_there_is_not_is_named_with_those_that_there_are(server):
    token = server.client().tokens["access_token"]
    body = {"session_id": str(uuid.uuid4()), "upload_type": "chunked", "communication_protocol": "http",
            "templates": ["soap", "sopa"]}
    answer = requests.post(
        f"{server.base_url}/voice/v1/sessions", json=body, headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_template")
    message = answer.json()["error"]["message"]
    assert "'sopa'" in message and "soap" in message.split("Known are")[1]


@pytest.mark.parametrize("address", ["nowhere", "https://files.example", "gs://bucket/folder"])
def test_an_address_without_audio_is_taken_and_told(server, address):
    transaction = server.client().transaction(f"i-{uuid.uuid4()}")
    answer = transaction.init(transfer="vaded", s3_url=address)
    assert answer.status_code == 201, answer.text
    told = next(each for each in Journal(server).all() if each.get("path", "").endswith(transaction.id))
    assert [each["name"] for each in told["ignored"]] == ["s3_url"]
    assert transaction.commit(["1.m4a"]).status_code == 200
    wait_until(lambda: transaction.poll().status_code != 202, "it ends without audio")
