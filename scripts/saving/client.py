"""A server of the saved version, and a client that has logged in to it."""

import contextlib
import dataclasses
import io
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.parse
import wave

import boto3
import botocore.config
import requests
import websockets.sync.client

SECRETS = {"dev-client": "dev-secret", "dev-client-2": "dev-secret-2", "dev-limited": "dev-limited-secret"}
#: Headers of no SDK: the server then looks for the client in `flavour`, or in the transaction.
PLAIN = {"User-Agent": "test"}
DOTNET = {"User-Agent": "EkaCare-DotNet-SDK/1.0"}
#: Seconds to wait for what is sure to happen.
PATIENCE = 120


def wait_until(condition, what: str):
    deadline = time.monotonic() + PATIENCE
    while not (result := condition()):
        if time.monotonic() > deadline:
            sys.exit(f"in vain: {what}")
        time.sleep(0.02)
    return result


@contextlib.contextmanager
def serving(binary: pathlib.Path, data: pathlib.Path, *flags: str | pathlib.Path):
    """Yields the base URL of a server on that data folder. The server has stopped by itself at the end."""
    ready, log = data.parent / "ready.json", data.parent / "log"
    process = subprocess.Popen(
        [binary, "serve", "--port", "0", "--ready-file", ready, "--data-dir", data, *flags],
        stdout=subprocess.DEVNULL, stderr=open(log, "ab"), cwd=data.parent,
        env={"PATH": os.environ["PATH"], "HOME": str(data.parent)},
    )
    try:
        wait_until(lambda: ready.exists() or process.poll() is not None, "the server is ready")
        if process.poll() is not None:
            sys.exit(log.read_text())
        yield json.loads(ready.read_text())["base_url"]
        process.send_signal(signal.SIGTERM)
        if process.wait(timeout=PATIENCE) != 0:
            sys.exit(log.read_text())
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def quoted(identifier: str) -> str:
    return urllib.parse.quote(identifier, safe="")


@dataclasses.dataclass(frozen=True)
class Question:
    """A GET whose answer is saved. `login` is None for the client's own token, or the name of another way to log in."""

    path: str
    headers: dict = dataclasses.field(default_factory=lambda: PLAIN)
    client: str = "dev-client"
    login: str | None = None


class Client:
    def __init__(self, base_url: str, client_id: str):
        self.base_url, self.id = base_url, client_id
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.headers.clear()
        self.tokens = self.call(
            "POST", "/connect-auth/v1/account/login", {"client_id": client_id, "client_secret": SECRETS[client_id]})
        self.authorise(self.tokens)

    def authorise(self, tokens: dict):
        self.session.headers["Authorization"] = f"Bearer {tokens['access_token']}"

    def send(self, method: str, path: str, body=None, headers=PLAIN, **options) -> requests.Response:
        return self.session.request(method, self.base_url + path, json=body, headers=headers, timeout=60, **options)

    def call(self, method: str, path: str, body=None, headers=PLAIN, **options):
        answer = self.send(method, path, body, headers, **options)
        if not answer.ok:
            sys.exit(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else None

    def poll(self, path: str, is_ready, headers=PLAIN) -> dict:
        """Repeats a GET until its JSON is ready."""
        def ask():
            answer = self.call("GET", path, headers=headers)
            return answer if is_ready(answer) else None

        return wait_until(ask, f"{path} is ready")

    def s3(self):
        keys = self.call("GET", "/credentials")["credentials"]
        return boto3.client(
            "s3", endpoint_url=self.base_url, region_name="ap-south-1", aws_access_key_id=keys["AccessKeyId"],
            aws_secret_access_key=keys["SecretKey"], aws_session_token=keys["SessionToken"],
            config=botocore.config.Config(retries={"max_attempts": 1}, proxies={}),
        )

    def socket(self, path: str, headers: dict):
        """A WebSocket of the server, which is closed at the end of a `with`."""
        return open_socket(self.base_url.replace("http", "ws", 1) + path, headers)


def open_socket(url: str, headers: dict | None = None):
    return websockets.sync.client.connect(
        url, additional_headers=headers or {}, proxy=None, compression=None, max_size=None, open_timeout=PATIENCE,
        close_timeout=PATIENCE)


def drain(socket):
    """Receives until the server has closed the socket."""
    for _ in socket:
        pass


def samples(pitch: int, seconds=0.15, rate=4000) -> bytes:
    """16-bit samples, loud and then quiet, so that there is a quality to be measured."""
    count = int(seconds * rate)
    levels = [8000 if index < count * 0.7 else 300 for index in range(count)]
    values = (round(level * math.sin(2 * math.pi * pitch * index / rate)) for index, level in enumerate(levels))
    return b"".join(value.to_bytes(2, "little", signed=True) for value in values)


def tone(pitch: int, seconds=0.15, rate=4000) -> bytes:
    """A WAV of `samples`."""
    out = io.BytesIO()
    with wave.open(out, "wb") as audio:
        audio.setparams((1, 2, rate, 0, "NONE", ""))
        audio.writeframes(samples(pitch, seconds, rate))
    return out.getvalue()
