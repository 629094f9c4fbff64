"""Outbound calls: trusted authorities, and what the server says when a speech service does not answer."""

import json
import pathlib
import socket
import ssl
import subprocess

import pytest
import requests
from emulator import BINARY, revealed, running, wait_until
from http_recorder import Answer, HTTPRecorder
from speech_service import SpeechService

FLAGS = ("--ephemeral", "--auth", "lenient")


def openssl(folder, *arguments, stdin=None) -> bytes:
    return subprocess.run(["openssl", *arguments], input=stdin, capture_output=True, check=True, cwd=folder).stdout


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> pathlib.Path:
    """A folder with an authority of its own, and a certificate of it for 127.0.0.1 and localhost."""
    folder = tmp_path_factory.mktemp("authority")
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
            "-subj", "/CN=Test authority", "-addext", "basicConstraints=critical,CA:TRUE")
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "tls.key", "-out", "tls.csr", "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl(folder, "x509", "-req", "-in", "tls.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-out", "tls.pem", "-extfile", "names")
    return folder


def serving(answers: dict[str, tuple[int, str]], authority=None, port=0) -> HTTPRecorder:
    """HTTP service that answers each path with a status and a text, over TLS if there is an authority."""
    encryption = None
    if authority:
        encryption = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        encryption.load_cert_chain(authority / "tls.pem", authority / "tls.key")
    return HTTPRecorder(
        lambda request: Answer(*answers.get(request.path, (404, "nothing here"))), port=port, host="localhost",
        encryption=encryption, version="HTTP/1.0")


def component(server) -> str:
    answer = requests.get(f"{server.base_url}/readyz")
    assert answer.status_code == 200
    return answer.json()["components"]["transcriber"]


def ready(server, *flags) -> int:
    return subprocess.run([BINARY, "ready", "--url", server.base_url, *flags], capture_output=True).returncode


def transcribed(server, chunk) -> dict:
    client = server.client()
    transaction = client.transaction()
    transaction.init()
    transaction.upload(client.s3(), chunk, 0.0, 1.0)
    transaction.commit()
    return wait_until(lambda: (answer := transaction.poll()).status_code != 202 and answer, "a result").json()


@pytest.fixture(scope="module")
def chunk(tmp_path_factory) -> pathlib.Path:
    import speech

    path = tmp_path_factory.mktemp("chunk") / "1.wav"
    return speech.encode(speech.speak("I have a fever."), path)


def test_a_recogniser_with_a_private_authority_is_trusted_if_outbound_ca_names_it(tmp_path, authority, chunk):
    heard = {"/v1/audio/transcriptions": (200, '{"text": "I have a fever"}'), "/v1/models": (200, '{"data": []}')}
    with serving(heard, authority) as service:
        with running(tmp_path, *FLAGS, "--transcriber", f"openai:{service.url}/v1") as server:
            wait_until(lambda: component(server) == "openai unreachable", "an unknown authority is told of")
            wait_until(
                lambda: "the transcriber cannot be reached" in server.log and f"GET {service.url}/v1/models" in server.log,
                "the log says so")
        assert not service.asked
        trusting = ("--outbound-ca", str(authority / "ca.pem"))
        with running(tmp_path, *FLAGS, "--transcriber", f"openai:{service.url}/v1", *trusting) as server:
            assert "fever" in revealed(json.dumps(transcribed(server, chunk)))
            assert component(server) == "openai"
            assert ("POST", "/v1/audio/transcriptions") in service.asked and ("GET", "/v1/models") in service.asked


def test_webhooks_and_audio_by_url_trust_the_same_authorities(tmp_path, authority, chunk):
    with serving({"/told": (200, "{}")}, authority) as service:
        for flags, is_trusted in (((), False), (("--outbound-ca", str(authority / "ca.pem")), True)):
            with running(tmp_path, *FLAGS, *flags) as server:
                answer = requests.post(
                    f"{server.base_url}/v1/listen", json={"url": f"{service.url}/visit.wav"},
                    headers={"Authorization": "Token org_dev_key"})
                assert answer.status_code == 400, answer.text
                assert bool(service.asked) == is_trusted
                if is_trusted:
                    assert service.asked[0] == ("GET", "/visit.wav")


# Speech services that the server checks at its start.


@pytest.mark.parametrize("status", [200, 404])
def test_a_list_of_models_or_none_counts_as_an_answer(tmp_path, status):
    with serving({"/v1/models": (status, "{}")}) as service:
        with running(tmp_path, *FLAGS, "--transcriber", f"openai:{service.url}/v1") as server:
            wait_until(lambda: service.asked, "the service is asked")
            assert service.asked == [("GET", "/v1/models")]
            wait_until(lambda: "the transcriber can be reached" in server.log, "the answer counts")
            assert component(server) == "openai"
            assert ready(server, "--strict") == 0
            assert server.metric("scribe_transcriber_available") == 1
            assert "cannot be reached" not in server.log


@pytest.mark.parametrize("status, text", [(401, "the key sk-secret is wrong"), (502, "bad gateway"), (302, "")])
def test_an_answer_that_no_recogniser_gives_is_reported_and_the_server_stays_ready(tmp_path, status, text):
    with serving({"/v1/models": (status, text)}) as service:
        with running(
            tmp_path, *FLAGS, "--transcriber", f"openai:{service.url}/v1", environment={"SCRIBE_STT_KEY": "sk-secret"}
        ) as server:
            wait_until(lambda: component(server) == "openai unreachable", "it is told")
            assert ready(server) == 0 and ready(server, "--strict") != 0
            assert server.metric("scribe_transcriber_available") == 0
            line = next(line for line in server.log.splitlines() if "cannot be reached" in line)
            assert json.loads(line)["asked"] == f"GET {service.url}/v1/models"
            said = text.replace("sk-secret", "…")
            assert json.loads(line)["answer"] == (f"{status}: {said}" if said else str(status))
            assert "sk-secret" not in server.log
            assert ("key … is wrong" in server.log) == (status == 401), "services repeat keys"


def test_the_check_of_deepgram_connects_and_sends_no_request(tmp_path, authority):
    with serving({}, authority) as service:
        for flags, expected in (((), "deepgram unreachable"), (("--outbound-ca", str(authority / "ca.pem")), "deepgram")):
            with running(tmp_path, *FLAGS, "--transcriber", f"deepgram:{service.url}", *flags) as server:
                said = "the transcriber can be reached" if flags else "the transcriber cannot be reached"
                wait_until(lambda: said in server.log, f"the log says: {said}")
                assert component(server) == expected
    assert not service.asked, "a request would be paid for"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with running(tmp_path, *FLAGS, "--transcriber", f"deepgram:http://127.0.0.1:{port}") as server:
        wait_until(lambda: component(server) == "deepgram unreachable", "nobody listens")
        assert f"a TCP connection to 127.0.0.1:{port}" in server.log


def test_a_recogniser_that_comes_later_is_found_by_the_next_recording(tmp_path, chunk):
    with SpeechService() as service:
        url = service.url
    with running(tmp_path, *FLAGS, "--transcriber", f"openai:{url}/v1") as server:
        wait_until(lambda: component(server) == "openai unreachable", "nobody listens")
        port = int(url.rsplit(":", 1)[1])
        with serving({"/v1/audio/transcriptions": (200, '{"text": "I have a fever"}')}, port=port):
            transcribed(server, chunk)
            assert component(server) == "openai"


def test_the_log_has_the_error_with_which_a_service_refuses_a_recording(tmp_path, chunk):
    said = '{"error": {"message": "unknown model: whisper-1",\n "type": "invalid_request_error"}}' + "x" * 400
    with serving({"/v1/audio/transcriptions": (400, said)}) as service:
        with running(tmp_path, *FLAGS, "--transcriber", f"openai:{service.url}/v1") as server:
            transcribed(server, chunk)
            line = next(json.loads(line) for line in server.log.splitlines() if "was not transcribed" in line)
            assert "400" in line["error"] and "unknown model: whisper-1" in line["error"]
            assert len(line["error"]) < 400
            assert "unknown model" not in json.dumps(transcribed(server, chunk)), "it is for operators"
