"""What the server calls: whom it trusts there, what it says when nobody answers, and keys that are published at a URL."""

import base64
import contextlib
import http.server
import json
import pathlib
import socket
import ssl
import subprocess
import threading
import time

import pytest
import requests
from conftest import BINARY, PATIENCE, revealed, running, wait_until
from speech_service import SpeechService
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

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


@contextlib.contextmanager
def serving(handler, authority=None):
    """An HTTP service that does what the handler says, over TLS where there is an authority. Gives its base URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if authority:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority / "tls.pem", authority / "tls.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"{'https' if authority else 'http'}://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def handler(answers, asked):
    """Answers each path from a table of (status, text), and notes what was asked."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append((self.command, self.path))
            status, text = answers.get(self.path, (404, "nothing here"))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_POST = answer

        def log_message(self, *_):
            pass

    return Handler


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


def test_a_recogniser_of_an_authority_of_ones_own_is_trusted_once_that_is_named(tmp_path, authority, chunk):
    asked = []
    heard = {"/v1/audio/transcriptions": (200, '{"text": "I have a fever"}'), "/v1/models": (200, '{"data": []}')}
    with serving(handler(heard, asked), authority) as url:
        with running(tmp_path, *FLAGS, "--transcriber", f"openai:{url}/v1") as server:
            wait_until(lambda: component(server) == "openai unreachable", "an unknown authority is told of")
            wait_until(
                lambda: "the transcriber cannot be reached" in server.log and f"GET {url}/v1/models" in server.log,
                "the log says so")
        assert not asked
        with running(tmp_path, *FLAGS, "--transcriber", f"openai:{url}/v1", "--outbound-ca", str(authority / "ca.pem")) as server:
            assert "fever" in revealed(json.dumps(transcribed(server, chunk)))
            assert component(server) == "openai"
            assert ("POST", "/v1/audio/transcriptions") in asked and ("GET", "/v1/models") in asked


def test_webhooks_and_audio_by_url_trust_the_same_authorities(tmp_path, authority, chunk):
    asked = []
    with serving(handler({"/told": (200, "{}")}, asked), authority) as url:
        for flags, is_trusted in (((), False), (("--outbound-ca", str(authority / "ca.pem")), True)):
            with running(tmp_path, *FLAGS, *flags) as server:
                answer = requests.post(
                    f"{server.base_url}/v1/listen", json={"url": f"{url}/visit.wav"},
                    headers={"Authorization": "Token org_dev_key"})
                assert answer.status_code == 400, answer.text
                assert bool(asked) == is_trusted
                if is_trusted:
                    assert asked[0] == ("GET", "/visit.wav")


@pytest.mark.parametrize("content", ["", "no certificate"])
def test_a_file_without_authorities_ends_the_start(tmp_path, content):
    (tmp_path / "ca.pem").write_text(content)
    result = subprocess.run(
        [BINARY, "serve", "--port", "0", "--ephemeral", "--outbound-ca", "ca.pem"], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode != 0
    assert "--outbound-ca: 'ca.pem' holds no certificate in PEM" in result.stderr


# Recognisers that are asked whether they are there.


@pytest.mark.parametrize("status", [200, 404])
def test_a_list_of_models_or_none_counts_as_an_answer(tmp_path, status):
    asked = []
    with serving(handler({"/v1/models": (status, "{}")}, asked)) as url:
        with running(tmp_path, *FLAGS, "--transcriber", f"openai:{url}/v1") as server:
            wait_until(lambda: asked, "the service is asked")
            assert asked == [("GET", "/v1/models")]
            wait_until(lambda: "the transcriber can be reached" in server.log, "the answer counts")
            assert component(server) == "openai"
            assert ready(server, "--strict") == 0
            assert server.metric("scribe_transcriber_available") == 1
            assert "cannot be reached" not in server.log


@pytest.mark.parametrize("status, text", [(401, "the key sk-secret is wrong"), (502, "bad gateway"), (302, "")])
def test_an_answer_of_nobody_who_takes_recordings_is_told_and_the_server_stays_ready(tmp_path, status, text):
    with serving(handler({"/v1/models": (status, text)}, [])) as url:
        with running(
            tmp_path, *FLAGS, "--transcriber", f"openai:{url}/v1", environment={"SCRIBE_STT_KEY": "sk-secret"}
        ) as server:
            wait_until(lambda: component(server) == "openai unreachable", "it is told")
            assert ready(server) == 0 and ready(server, "--strict") != 0
            assert server.metric("scribe_transcriber_available") == 0
            line = next(line for line in server.log.splitlines() if "cannot be reached" in line)
            assert json.loads(line)["asked"] == f"GET {url}/v1/models"
            said = text.replace("sk-secret", "…")
            assert json.loads(line)["answer"] == (f"{status}: {said}" if said else str(status))
            assert "sk-secret" not in server.log
            assert ("key … is wrong" in server.log) == (status == 401), "services repeat keys"


def test_deepgram_is_only_connected_to(tmp_path, authority):
    asked = []
    with serving(handler({}, asked), authority) as url:
        for flags, expected in (((), "deepgram unreachable"), (("--outbound-ca", str(authority / "ca.pem")), "deepgram")):
            with running(tmp_path, *FLAGS, "--transcriber", f"deepgram:{url}", *flags) as server:
                said = "the transcriber can be reached" if flags else "the transcriber cannot be reached"
                wait_until(lambda: said in server.log, f"the log says: {said}")
                assert component(server) == expected
    assert not asked, "a request would be paid for"
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
        later = http.server.ThreadingHTTPServer(
            ("127.0.0.1", port), handler({"/v1/audio/transcriptions": (200, '{"text": "I have a fever"}')}, []))
        threading.Thread(target=later.serve_forever, daemon=True).start()
        transcribed(server, chunk)
        assert component(server) == "openai"
        later.shutdown()


def test_what_a_service_refuses_a_recording_with_is_in_the_log(tmp_path, chunk):
    said = '{"error": {"message": "unknown model: whisper-1",\n "type": "invalid_request_error"}}' + "x" * 400
    with serving(handler({"/v1/audio/transcriptions": (400, said)}, [])) as url:
        with running(tmp_path, *FLAGS, "--transcriber", f"openai:{url}/v1") as server:
            transcribed(server, chunk)
            line = next(json.loads(line) for line in server.log.splitlines() if "was not transcribed" in line)
            assert "400" in line["error"] and "unknown model: whisper-1" in line["error"]
            assert len(line["error"]) < 400
            assert "unknown model" not in json.dumps(transcribed(server, chunk)), "it is for operators"


# Keys that an issuer publishes.


def part(data) -> str:
    data = data if isinstance(data, bytes) else json.dumps(data).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """Firebase's part: keys that rotate, published over HTTP."""

    def __init__(self, folder):
        self.folder = folder
        self.count = 0
        self.keys = {"keys": []}
        self.rotate()

    def rotate(self):
        self.count += 1
        self.key = f"key{self.count}.pem"
        openssl(self.folder, "genrsa", "-out", self.key, "2048")
        modulus = openssl(self.folder, "rsa", "-in", self.key, "-noout", "-modulus").decode().strip().split("=")[1]
        self.keys["keys"] = [
            {"kty": "RSA", "alg": "RS256", "use": "sig", "kid": self.key, "n": part(bytes.fromhex(modulus)), "e": "AQAB"}]

    def token(self, **claims) -> str:
        claims = {"iss": "https://securetoken.google.com/omi", "aud": "omi", "sub": "u1", "user_id": "u1",
                  "exp": int(time.time()) + 600, **claims}
        signed = f"{part({'alg': 'RS256', 'kid': self.key})}.{part(claims)}"
        return f"{signed}.{part(openssl(self.folder, 'dgst', '-sha256', '-sign', self.key, stdin=signed.encode()))}"


def conversations(server, token) -> requests.Response:
    return requests.get(f"{server.base_url}/v1/conversations", headers={"Authorization": f"Bearer {token}"})


def test_firebases_keys_are_taken_from_their_url_kept_and_found_again_when_they_rotate(tmp_path):
    issuer, asked = Issuer(tmp_path), []

    class Answers(dict):
        def get(self, path, default=None):
            return (200, json.dumps(issuer.keys)) if path == "/jwks" else default

    with serving(handler(Answers(), asked)) as url:
        flags = ("--firebase-jwks-url", f"{url}/jwks", "--firebase-project", "omi", "--firebase-client", "dev-client-2")
        with running(tmp_path, "--ephemeral", "--auth", "strict", "--demo-seed", *flags) as server:
            for _ in range(3):
                assert conversations(server, issuer.token()).status_code == 200
            assert len(asked) == 1, "they are kept"
            assert conversations(server, issuer.token(aud="another")).status_code == 401
            old = issuer.token(sub="u9")
            issuer.rotate()
            wait_until(lambda: conversations(server, issuer.token()).status_code == 200, "the new key is found")
            assert len(asked) == 2
            assert conversations(server, old).status_code == 401
            forged = issuer.token()[:-8] + "AAAAAAAA"
            for _ in range(5):
                assert conversations(server, forged).status_code == 401
            assert len(asked) == 2, "a stranger cannot have them fetched again and again"


def test_while_the_keys_cannot_be_fetched_nobody_is_let_in_or_turned_away_for_good(tmp_path):
    issuer = Issuer(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    flags = ("--firebase-jwks-url", f"http://127.0.0.1:{port}/jwks", "--firebase-project", "omi")
    with running(tmp_path, "--ephemeral", *flags) as server:
        answer = conversations(server, issuer.token())
        assert answer.status_code == 503 and answer.headers["retry-after"] == "10"
        assert conversations(server, server.client().tokens["access_token"]).status_code == 200
        # A page that was refused would sign out.
        with connect(f"ws://127.0.0.1:{server.port}/v4/web/listen") as page:
            page.send(json.dumps({"type": "auth", "token": issuer.token()}))
            with pytest.raises(ConnectionClosed) as closed:
                page.recv(timeout=PATIENCE)
            assert closed.value.rcvd.code == 1013


@pytest.mark.parametrize(
    "flags, why",
    [
        (("--firebase-jwks-url", "ftp://x"), "must be an http or https URL"),
        (("--firebase-jwks-url", "http://localhost/jwks"), "firebase-project goes together with"),
        (("--firebase-client", "nobody"), "there is no client 'nobody'"),
    ],
)
def test_settings_of_firebase_that_cannot_be_end_the_start(tmp_path, flags, why):
    result = subprocess.run(
        [BINARY, "serve", "--port", "0", "--ephemeral", *flags], capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE)
    assert result.returncode != 0 and why in result.stderr
