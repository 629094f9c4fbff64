"""Keys that Firebase publishes at a URL: fetched, kept, and fetched again when they rotate."""

import base64
import json
import socket
import subprocess
import time

import pytest
import requests
from emulator import PATIENCE, running, wait_until
from http_recorder import Answer, HTTPRecorder, Request
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


def openssl(folder, *arguments, stdin=None) -> bytes:
    return subprocess.run(["openssl", *arguments], input=stdin, capture_output=True, check=True, cwd=folder).stdout


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
            {"kty": "RSA", "alg": "RS256", "use": "sig", "kid": self.key,
             "n": part(bytes.fromhex(modulus)), "e": "AQAB"}]

    def token(self, **claims) -> str:
        claims = {"iss": "https://securetoken.google.com/omi", "aud": "omi", "sub": "u1", "user_id": "u1",
                  "exp": int(time.time()) + 600, **claims}
        signed = f"{part({'alg': 'RS256', 'kid': self.key})}.{part(claims)}"
        return f"{signed}.{part(openssl(self.folder, 'dgst', '-sha256', '-sign', self.key, stdin=signed.encode()))}"


def conversations(server, token) -> requests.Response:
    return requests.get(f"{server.base_url}/v1/conversations", headers={"Authorization": f"Bearer {token}"})


def test_firebases_keys_are_taken_from_their_url_kept_and_found_again_when_they_rotate(tmp_path):
    issuer = Issuer(tmp_path)

    def answer(request: Request) -> Answer:
        return Answer(200, json.dumps(issuer.keys)) if request.path == "/jwks" else Answer(404, "nothing here")

    with HTTPRecorder(answer, host="localhost", version="HTTP/1.0") as service:
        flags = (
            "--firebase-jwks-url", f"{service.url}/jwks", "--firebase-project", "omi",
            "--firebase-client", "dev-client-2")
        with running(tmp_path, "--ephemeral", "--auth", "strict", "--demo-seed", *flags) as server:
            for _ in range(3):
                assert conversations(server, issuer.token()).status_code == 200
            assert len(service.requests) == 1, "they are kept"
            assert conversations(server, issuer.token(aud="another")).status_code == 401
            old = issuer.token(sub="u9")
            issuer.rotate()
            new = issuer.token()
            wait_until(lambda: conversations(server, new).status_code == 200, "the new key is found")
            assert len(service.requests) == 2
            assert conversations(server, old).status_code == 401
            forged = issuer.token()[:-8] + "AAAAAAAA"
            for _ in range(5):
                assert conversations(server, forged).status_code == 401
            assert len(service.requests) == 2, "a stranger cannot have them fetched again and again"


def test_while_the_keys_cannot_be_fetched_clients_get_a_temporary_error(tmp_path):
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
