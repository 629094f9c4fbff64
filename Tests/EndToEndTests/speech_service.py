"""A speech service that does what a test tells it: OpenAI's and Deepgram's APIs, and plain text for programs.
`Tests/EnginesTests/Services/SpeechAPI.swift` has every fault that a service can have.

It listens with `recognise.sh`, a real recogniser, where a test asks for that.
"""

import email.parser
import email.policy
import json
import pathlib
import subprocess
import tempfile
import threading
import time

from emulator import ROOT, Server, running
from http_recorder import Answer, HTTPRecorder, Request

#: What it says when it is not to listen, with times as if each word took half a second.
WORDS = "I have a fever for three days".split()


class SpeechService:
    """`faults` are done one after the other, one for each request; then every request is answered."""

    def __init__(self, faults=(), listens=False, delay=0.0):
        self.faults = list(faults)
        self.listens = listens
        self.delay = delay
        self.requests: list[dict] = []
        #: What every request gets.
        self.always: str | None = None
        #: Recordings that are refused every time.
        self.refused: set[bytes] = set()
        self._lock = threading.Lock()
        self.recorder = HTTPRecorder(self._answer)
        self.url = self.recorder.url

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.recorder.stop()

    def transcriber(self, kind: str) -> str:
        if kind == "command":
            return f"command:curl --silent --fail --data-binary @{{file}} {self.url}/plain"
        return f"{kind}:{self.url}/v1"

    def _answer(self, request: Request) -> Answer | None:
        if request.method != "POST":
            return Answer(501)
        with self._lock:
            fault = self.faults.pop(0) if self.faults else self.always
        return self._recognised(request, fault)

    def _recognised(self, request: Request, fault: str | None) -> Answer | None:
        is_openai = request.path.split("?")[0].endswith("/audio/transcriptions")
        fields, audio = form(request.headers["Content-Type"], request.body) if is_openai else ({}, request.body)
        with self._lock:
            self.requests.append({
                "path": request.path, "headers": dict(request.headers), "fields": fields, "audio": audio,
            })
        threading.Event().wait(self.delay)
        if audio in self.refused:
            return FAULTS["refused"]()
        if fault:
            return FAULTS[fault]()
        words = listen(audio) if self.listens else WORDS
        if request.path == "/plain":
            return Answer(200, " ".join(words), "text/plain")
        return json_answer(200, openai(words, self.listens) if is_openai else deepgram(words))


def json_answer(status: int, body) -> Answer:
    return Answer(status, json.dumps(body))


#: Faults by name: an answer, or None, which closes the connection without one.
FAULTS = {
    "error": lambda: json_answer(500, {"error": "down"}),
    "unusable": lambda: json_answer(415, {"error": {"message": "Invalid file format"}}),
    "refused": lambda: json_answer(401, {"error": "wrong key"}),
    "silent": lambda: threading.Event().wait(30) and None,
}


def form(content_type: str, body: bytes) -> tuple[dict, bytes]:
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(
        b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body
    )
    fields: dict[str, list[str]] = {}
    audio = b""
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        if name == "file":
            audio = part.get_payload(decode=True)
        else:
            fields.setdefault(name, []).append(part.get_payload(decode=True).decode())
    return fields, audio


def listen(audio: bytes) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        upload, wave = pathlib.Path(folder) / "upload", pathlib.Path(folder) / "16k.wav"
        upload.write_bytes(audio)
        subprocess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-i", upload, "-ar", "16000", "-ac", "1", wave], check=True
        )
        program = ROOT / "Tests/EndToEndTests/recognise.sh"
        return subprocess.run([program, wave], check=True, capture_output=True, text=True).stdout.split()


def timed(words: list[str]) -> list[dict]:
    return [{"word": word, "start": index / 2, "end": (index + 1) / 2} for index, word in enumerate(words)]


def openai(words: list[str], without_times: bool) -> dict:
    return {"text": " ".join(words)} | ({} if without_times else {"words": timed(words), "segments": []})


def deepgram(words: list[str]) -> dict:
    best = {"transcript": " ".join(words), "confidence": 0.98, "words": timed(words)}
    return {"metadata": {"request_id": "r"}, "results": {"channels": [{"alternatives": [best]}]}}


def start(folder: pathlib.Path, transcriber: str, *flags: str, **options):
    flags = ("--long-poll", "2s", "--object-wait", "1s", "--transcriber", transcriber, *flags)
    return running(folder, *flags, **options)


def take(server: Server, chunks, **more):
    """Init to commit, then polls until there is a result."""
    client = server.client()
    transaction = client.transaction()
    assert transaction.init(**more).status_code == 201
    s3 = client.s3()
    for path, begin, end in chunks:
        transaction.upload(s3, path, begin, end)
    assert transaction.stop().status_code == 200
    assert transaction.commit().status_code == 200
    return result(transaction)


def result(transaction, seconds=180):
    deadline = time.monotonic() + seconds
    while (answer := transaction.poll()).status_code == 202:
        assert time.monotonic() < deadline, "no result"
    return answer


def transcript(answer) -> dict:
    return answer.json()["data"]["template_results"]["transcript"][0]
