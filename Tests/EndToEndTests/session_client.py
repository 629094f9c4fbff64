"""Client of the session protocol, written from medscribe.md section 4.1: sends the requests of the official Python SDK,
and checks answers as it does. The SDK itself is in no registry."""

import base64
import io
import json
import random
import wave

import requests
from websockets.sync.client import connect

PATIENCE = 120
#: Where the SDK raises: in a list of required members with their types.
STATUS = {"session_id": str, "status": str, "created_at": str, "audio_files_received": int, "audio_files": list}


class SessionClient:
    def __init__(self, base_url: str, client="dev-client", secret="dev-secret", verify: bool | str = True):
        self.root = base_url
        self.session = requests.Session()
        self.session.trust_env, self.session.verify = False, verify
        body = {"client_id": client, "client_secret": secret}
        login = self.session.post(f"{base_url}/connect-auth/v1/account/login", json=body, timeout=PATIENCE)
        assert login.ok and login.json()["access_token"] and login.json()["expires_in"] > 300
        self.session.headers["Authorization"] = f"Bearer {login.json()['access_token']}"
        self.base = self.session.get(
            f"{base_url}/voice/v1/.well-known/medscribealliance").json()["endpoints"]["base_url"]

    def call(self, method: str, path: str, expected: tuple[int, ...], **arguments) -> requests.Response:
        answer = self.session.request(method, self.base + path, timeout=PATIENCE, **arguments)
        assert answer.status_code in expected, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer

    def create(self, **options) -> dict:
        upload_type = options.get("upload_type", "chunked")
        body = {
            "session_mode": "dictation", "templates": [], "model": "lite", "upload_type": upload_type,
            "communication_protocol": "websocket" if upload_type == "stream" else "http", **options,
        }
        created = self.call("POST", "/sessions", (200, 201), json=body).json()
        assert all(isinstance(created[name], str) for name in ("session_id", "status", "created_at", "expires_at"))
        assert isinstance(created.get("upload_url"), str)
        return created

    def upload(self, session: str, index: int, audio: bytes, extension="wav", content_type="audio/wav"):
        path = f"/sessions/{session}/audio/chunk_{index}.{extension}"
        answer = self.call("POST", path, (200,), data=audio, headers={"Content-Type": content_type}).json()
        assert answer["session_id"] == session and answer["success"] is True

    def end(self, session: str, count: int):
        answer = self.call("POST", f"/sessions/{session}/end", (200, 202), json={"audio_files_sent": count}).json()
        assert answer["session_id"] == session and answer["status"]

    def results(self, session: str) -> dict:
        while True:
            answer = self.call("GET", f"/sessions/{session}", (200, 202, 206, 410)).json()
            assert all(isinstance(answer[name], kind) for name, kind in STATUS.items()), answer
            assert isinstance(answer.get("templates", []), list)
            if answer["status"] in ("completed", "partial", "failed", "expired"):
                return answer

    def stream(self, audio: bytes, envelope=False, piece=64_000, finalize=True, **options) -> str:
        """Streams, says stop, waits for the server to close, and ends the session."""
        created = self.create(upload_type="stream", **options)
        self.send(created["upload_url"], audio, envelope, piece)
        if finalize:
            self.end(created["session_id"], 0)
        return created["session_id"]

    def send(self, url: str, audio: bytes, envelope=False, piece=64_000, stops=True):
        with connect(url, max_size=None, open_timeout=PATIENCE) as socket:
            if envelope:
                form = {"encoding": "audio/x-l16", "sampleRate": 16000}
                socket.send(json.dumps({"event": "start", "start": {"streamId": "s", "mediaFormat": form}}))
            for begin in range(0, len(audio), piece):
                part = audio[begin:begin + piece]
                if envelope:
                    part = json.dumps({"event": "media", "media": {"payload": base64.b64encode(part).decode()}})
                socket.send(part)
            socket.ping().wait(PATIENCE)
            if stops:
                socket.send(json.dumps({"event": "stop"}))
                try:
                    socket.recv(timeout=PATIENCE)
                except Exception as closed:  # noqa: BLE001 (what it is depends on the version)
                    assert getattr(closed, "rcvd", None) and closed.rcvd.code == 1000, closed


def recording(seconds: float, seed=1) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as audio:
        audio.setparams((1, 2, 16_000, 0, "NONE", ""))
        audio.writeframes(random.Random(seed).randbytes(int(32_000 * seconds)))
    return file.getvalue()


def form_of(client: SessionClient, **options) -> tuple[str, dict]:
    """Creates a session as the web SDK does. Returns its id and the form for its audio."""
    body = {"upload_type": "chunked", "templates": ["soap"], "language_hint": ["en"], **options}
    created = client.call("POST", "/sessions?version=v2", (201,), json=body).json()
    return created["session_id"], created["upload_url"]["uploadData"]


def send(form: dict, name: str, audio: bytes) -> requests.Response:
    """Exactly as the form was given: the key is still the folder with `${filename}`."""
    return requests.post(form["url"], data=form["fields"], files={"file": (name, audio, "audio/wav")})
