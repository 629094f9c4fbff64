"""Outbound calls over TLS: which authorities are trusted, and what the server says of a service that is not.

`Tests/EnginesTests/Speech/HTTP/SpeechServiceProbeTests.swift` has the other checks of speech services.
"""

import json
import pathlib
import ssl
import subprocess

import pytest
import requests
import speech
from emulator import BINARY, revealed, running, wait_until
from http_recorder import Answer, HTTPRecorder

FLAGS = ("--ephemeral", "--auth", "lenient")


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], capture_output=True, check=True, cwd=folder)


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> pathlib.Path:
    """A folder with an authority of its own, and a certificate of it for 127.0.0.1 and localhost."""
    folder = tmp_path_factory.mktemp("authority")
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem",
            "-days", "2", "-subj", "/CN=Test authority", "-addext", "basicConstraints=critical,CA:TRUE")
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "tls.key", "-out", "tls.csr",
            "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl(folder, "x509", "-req", "-in", "tls.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "2", "-out", "tls.pem", "-extfile", "names")
    return folder


def serving(answers: dict[str, tuple[int, str]], authority) -> HTTPRecorder:
    """Service over TLS that answers each path with a status and a text."""
    encryption = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    encryption.load_cert_chain(authority / "tls.pem", authority / "tls.key")
    return HTTPRecorder(
        lambda request: Answer(*answers.get(request.path, (404, "nothing here"))), host="localhost",
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
    return speech.encode(speech.speak("I have a fever."), tmp_path_factory.mktemp("chunk") / "1.wav")


def by_url(server, service) -> int:
    """Asks for the recognition of a recording at a URL of the service, and returns the status."""
    return requests.post(
        f"{server.base_url}/v1/listen", json={"url": f"{service.url}/visit.wav"},
        headers={"Authorization": "Token org_dev_key"}).status_code


def test_a_private_authority_is_trusted_for_all_outbound_calls_if_outbound_ca_names_it(tmp_path, authority, chunk):
    heard = {"/v1/audio/transcriptions": (200, '{"text": "I have a fever"}'), "/v1/models": (200, '{"data": []}')}
    with serving(heard, authority) as service:
        # The check of Deepgram connects, and fails at once.
        with running(tmp_path, *FLAGS, "--transcriber", f"deepgram:{service.url}") as server:
            wait_until(lambda: component(server) == "deepgram unreachable", "an unknown authority is told of")
            line = json.loads(server.logged("the transcriber cannot be reached")[0])
            assert line["asked"] == f"a TLS connection to localhost:{service.port}" and line["answer"]
            assert ready(server) == 0 and ready(server, "--strict") != 0
            assert server.metric("scribe_transcriber_available") == 0
            assert by_url(server, service) == 400
        assert not service.asked
        trusting = ("--outbound-ca", str(authority / "ca.pem"))
        with running(tmp_path, *FLAGS, "--transcriber", f"openai:{service.url}/v1", *trusting) as server:
            server.logged("the transcriber can be reached")
            assert service.asked == [("GET", "/v1/models")]
            assert component(server) == "openai" and ready(server, "--strict") == 0
            assert server.metric("scribe_transcriber_available") == 1
            assert "fever" in revealed(json.dumps(transcribed(server, chunk)))
            assert by_url(server, service) == 400, "it is no recording"
            assert service.asked[1:] == [("POST", "/v1/audio/transcriptions"), ("GET", "/visit.wav")]
