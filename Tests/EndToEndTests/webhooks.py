"""Webhook receivers and the client that registers them.

The checks of a receiver are written from the vendor's sample (eka-v2.md section 7), by hand and in no way of the
server's.
"""

import collections
import hashlib
import hmac
import json
import threading
import time

import requests
from emulator import PATIENCE, Server, wait_until
from http_recorder import Answer, HTTPRecorder, Request
from schemas import document, validator

KEY = "kéy of nobody"
SUBSCRIPTIONS = "/notification/v1/connect/webhook/subscriptions"
#: So that what is tried again is tried soon.
FAST = ("--webhook-pauses", "50ms,50ms,50ms,50ms,50ms,50ms")


def schema_of(name: str):
    """The validator of a webhook's messages, by the webhook's name in openapi/scribe.yaml."""
    body = document("scribe.yaml")["webhooks"][name]["post"]["requestBody"]
    return validator("scribe.yaml", body["content"]["application/json"]["schema"])


def verified(headers, body: bytes) -> dict:
    """The message, if its signature is right: over the bytes as they came, and over the same JSON encoded anew, which
    is what the vendor's sample does before it looks."""
    signature = headers.get("Eka-Webhook-Signature") or headers.get("X-MSA-Signature")
    parts = dict(part.split("=") for part in signature.split(","))
    assert abs(time.time() - int(parts["t"])) < 180
    message = json.loads(body)
    for signed in (body, json.dumps(message, separators=(",", ":")).encode()):
        expected = hmac.new(KEY.encode(), f"{parts['t']}.".encode() + signed, hashlib.sha256).hexdigest()
        assert hmac.compare_digest(expected, parts["v1"])
    assert headers["Content-Type"] == "application/json"
    name = "connect" if "Eka-Webhook-Signature" in headers else "session"
    schema_of(name).validate(message)
    return message


class Receiver:
    """Webhook receiver: answers each path in its own way, and keeps the events whose signature it could verify."""

    def __init__(self, port=0):
        self.heard = collections.defaultdict(list)
        self.lock = threading.Lock()
        #: Requests on `/stuck` are answered once a test sets this.
        self.released = threading.Event()
        #: Called with each event before it is answered.
        self.before_answer = lambda path, event: None
        self.recorder = HTTPRecorder(self._answer, port=port)
        self.port, self.url = self.recorder.port, self.recorder.url

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.released.set()
        self.recorder.stop()

    def _answer(self, request: Request) -> Answer | None:
        path, message = request.path, verified(request.headers, request.body)
        event = (message.get("session_id") or message["transaction_id"], message["event"])
        with self.lock:
            self.heard[path].append(event)
            is_first = self.heard[path].count(event) == 1
        self.before_answer(path, event)
        if path == "/stuck":
            self.released.wait(PATIENCE)
        if path == "/vanishing" and is_first:
            return None
        if path == "/moved":
            return Answer(302, headers={"Location": "/good"})
        return Answer(500 if path == "/flaky" and is_first else 204)


class Consultant:
    """Client that registers webhooks, and begins and ends transactions."""

    def __init__(self, server: Server):
        sdk = server.client()
        self.session = sdk.session
        self.base_url = server.base_url

    def post(self, path: str, body) -> dict:
        answer = self.session.post(self.base_url + path, json=body, timeout=PATIENCE)
        assert answer.ok, answer.text
        return answer.json()

    def register(self, url: str, *events: str) -> str:
        names = [f"session.{event}" for event in events or ("started", "ended", "completed", "partial", "failed")]
        return self.post("/voice/v1/webhooks", {"url": url, "events": names, "secret": KEY})["webhook_id"]

    def unregister(self, hook: str):
        answer = self.session.delete(f"{self.base_url}/voice/v1/webhooks/{hook}", timeout=PATIENCE)
        assert answer.ok, answer.text

    def begin(self, name: str):
        body = {"transfer": "vaded", "mode": "consultation", "s3_url": f"s3://bucket/260510/{name}"}
        self.post(f"/voice/api/v2/transaction/init/{name}", body)

    def end(self, name: str):
        self.post(
            f"/voice/api/v1/transaction/{name}/convert-to-template", {"template_id": "soap", "transcript": "A fever."})


def admin(server: Server, path: str) -> dict:
    token = server.folder / "data/admin-token"
    headers = {"Authorization": f"Bearer {token.read_text()}"} if token.exists() else {}
    answer = requests.get(f"{server.base_url}/__admin/{path}", headers=headers, timeout=PATIENCE)
    assert answer.ok, answer.text
    return answer.json()


def settle(server: Server):
    """Waits until no delivery is pending."""
    wait_until(
        lambda: admin(server, "info")["counts"]["pending_deliveries"] == 0, "everything is delivered or has failed")


WHOLE = ["session.started", "session.ended", "session.completed"]
