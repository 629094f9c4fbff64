"""Clients of devices on `/v4/listen` and of pages on `/v4/web/listen`, over the `websockets` package."""

import base64
import contextlib
import json
import random

import requests
from emulator import PATIENCE
from schemas import component
from websocket_driver import Socket, open_socket

FLAGS = ("--ephemeral", "--conversation-timeout", "2s", "--omi-idle", "4s")


def token_of(user: str) -> str:
    """A token as another issuer makes them, which nobody verifies outside of strict mode."""
    def part(value) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    return (
        f"{part({'alg': 'RS256', 'kid': 'x'})}."
        f"{part({'iss': 'https://securetoken.google.com/omi', 'user_id': user})}.c2ln")


def check(message, schema: str):
    """Checks a message against openapi/omi.asyncapi.yaml."""
    component("omi.asyncapi.yaml", schema).validate(message)
    return message


class Device(Socket):
    """Socket of one user: a new user, unless one is named."""

    def __init__(self, server, query="", user=None, token=None, path="/v4/listen", **options):
        self.server = server
        self.user = user or f"user-{random.getrandbits(64):x}"
        self.token = token or token_of(self.user)
        self.headers = {"Authorization": f"Bearer {self.token}"}
        super().__init__(open_socket(
            f"ws://127.0.0.1:{server.port}{path}?{query}",
            additional_headers=self.headers if path == "/v4/listen" else {}, **options))
        self.texts, self.segments, self.events = [], [], []

    def send(self, *messages):
        for message in messages:
            self.socket.send(message if isinstance(message, (bytes, str)) else json.dumps(message))

    def say(self, *texts, **more):
        for text in texts:
            self.send({"type": "transcript_segment", "text": text, **more})

    def receive(self):
        text = self.socket.recv(timeout=PATIENCE)
        self.texts.append(text)
        if text == "ping":
            return text
        message = check(json.loads(text), "Segments" if text.startswith("[") else "Event")
        if isinstance(message, list):
            self.segments += message
        else:
            self.events.append(message)
        return message

    def until(self, count: int) -> list[str]:
        """The texts of the segments, once there are so many."""
        while len(self.segments) < count:
            self.receive()
        return [segment["text"] for segment in self.segments]

    def event(self, kind: str) -> dict:
        while not (known := [event for event in self.events if event["type"] == kind]):
            self.receive()
        return known[0]

    def ready(self):
        while not any(event.get("status") == "ready" for event in self.events):
            self.receive()
        return self

    def end(self) -> tuple[int, str]:
        self.receive_all()
        return self.close_frame

    def call(self, method: str, path: str, **options) -> requests.Response:
        return requests.request(
            method, f"{self.server.base_url}{path}", headers=self.headers, timeout=PATIENCE, **options)

    def conversations(self, statuses="in_progress,processing,completed") -> list[dict]:
        return self.call("GET", "/v1/conversations", params={"statuses": statuses}).json()

    def stored(self) -> list[str]:
        return [
            segment["text"] for conversation in self.conversations() for segment in conversation["transcript_segments"]]


class Page(Device):
    """Socket of a page, after its authentication."""

    def __init__(self, server, wanted=None, user=None):
        # Silence ends none of them, however busy the machine is.
        query = "conversation_timeout=600" + (f"&client_conversation_id={wanted}" if wanted is not None else "")
        super().__init__(server, query, user=user, path="/v4/web/listen")
        self.send({"type": "auth", "token": self.token})
        assert self.receive() == {"type": "auth_response", "success": True}
        # What comes next, before anything else.
        session = self.receive()
        assert session.keys() == {"type", "conversation_id"} and session["type"] == "conversation_session"
        self.session = session["conversation_id"]

    def found(self, id: str) -> int:
        return self.call("GET", f"/v1/conversations/{id}").status_code


class EdgeASRTranscriber:
    """The seed's Swift template with its buffer and its resend: what was not echoed is sent again after a drop."""

    def __init__(self, server, user):
        self.server, self.user = server, user
        self.unsent = []
        self.device = None

    def connect(self):
        self.device = Device(self.server, user=self.user).ready()
        for segment in self.unsent:
            self.device.send(segment)

    def say(self, text, **times):
        segment = {"type": "transcript_segment", "text": text, "speaker": "SPEAKER_00", "is_final": True,
                   "confidence": 0.95, **times}
        self.unsent.append(segment)
        self.device.send(segment)

    def read(self):
        """Forgets what the echoes say is stored: each echoed segment, and all before it.

        Segments that the server has from an earlier connection are not echoed again. To keep these alone would leave
        gaps in the next resend, which is then no repetition of what is stored (streaming.md 4.9).
        """
        with contextlib.suppress(TimeoutError):
            while message := self.device.socket.recv(timeout=0):
                for segment in json.loads(message) if message.startswith("[") else []:
                    texts = [each["text"] for each in self.unsent]
                    if segment["text"] in texts:
                        del self.unsent[:texts.index(segment["text"]) + 1]
