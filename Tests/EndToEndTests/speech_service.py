"""A speech service that does what a test tells it: OpenAI's and Deepgram's APIs, with every fault a service can have.
A program that asks it for plain text has the same faults.

It listens with `demo/recognise.sh`, a real recogniser, where a test asks for that.
"""

import email.parser
import email.policy
import json
import pathlib
import subprocess
import tempfile
import threading
import time
import zlib

from emulator import ROOT, Server, running
from http_recorder import Answer, HTTPRecorder, Request

#: What it says when it is not to listen, with times as if each word took half a second.
WORDS = "I have a fever for three days".split()


class SpeechService:
    """`faults` are done one after the other, one for each request; then every request is answered."""

    def __init__(self, faults=(), listens=False, delay=0.0, plain=(), answer=None):
        self.faults = list(faults)
        self.listens = listens
        self.delay = delay
        #: The models that know nothing of `verbose_json`, as newer ones do not.
        self.plain = plain
        #: Its whole answer, in place of a good one.
        self.answer = answer
        self.requests: list[dict] = []
        #: What every request gets.
        self.always: str | None = None
        #: Recordings that are refused every time.
        self.refused: set[bytes] = set()
        #: The most requests at once.
        self.most = 0
        self._now = 0
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
            self._now += 1
            self.most = max(self.most, self._now)
            fault = self.faults.pop(0) if self.faults else self.always
        try:
            return self._recognised(request, fault)
        finally:
            with self._lock:
                self._now -= 1

    def _recognised(self, request: Request, fault: str | None) -> Answer | None:
        is_openai = request.path.split("?")[0].endswith("/audio/transcriptions")
        fields, audio = form(request.headers["Content-Type"], request.body) if is_openai else ({}, request.body)
        with self._lock:
            self.requests.append({
                "path": request.path, "headers": dict(request.headers), "fields": fields, "audio": audio,
            })
        is_plain = fields.get("model", [""])[0] in self.plain
        if is_plain and fields.get("response_format") == ["verbose_json"]:
            return json_answer(400, {"error": {"message": "response_format is not supported"}})
        threading.Event().wait(self.delay)
        if audio in self.refused:
            return FAULTS["refused"]()
        if fault:
            return FAULTS[fault]()
        words = listen(audio) if self.listens else WORDS
        if request.path == "/plain":
            return Answer(200, " ".join(words), "text/plain")
        if self.answer:
            return json_answer(200, self.answer)
        return json_answer(200, openai(words, is_plain or self.listens) if is_openai else deepgram(words))


def json_answer(status: int, body, **headers: str) -> Answer:
    return Answer(status, json.dumps(body), headers={name.replace("_", "-"): value for name, value in headers.items()})


def packed() -> Answer:
    """400 MB in 400 KB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = b"".join(packer.compress(bytes(1 << 20)) for _ in range(400)) + packer.flush()
    return Answer(200, data, headers={"Content-Encoding": "gzip"})


#: Faults by name: an answer, or None, which closes the connection without one.
FAULTS = {
    "error": lambda: json_answer(500, {"error": "down"}),
    "busy": lambda: json_answer(429, {"error": "slow down"}, Retry_After="1"),
    "endless": lambda: json_answer(429, {"error": "slow down"}, Retry_After="inf"),
    "unusable": lambda: json_answer(415, {"error": {"message": "Invalid file format"}}),
    "refused": lambda: json_answer(401, {"error": "wrong key"}),
    "garbage": lambda: Answer(200, '{"text": "half an ans'),
    "html": lambda: Answer(200, "<html>Sign in</html>", "text/html"),
    "redirect": lambda: Answer(307, headers={"Location": "http://127.0.0.1:9/elsewhere"}),
    "close": lambda: None,
    "cut": lambda: Answer(200, '{"text": "', length=1000),
    "huge": lambda: Answer(200, '{"text": "' + "word " * (2 << 20) + '"}'),
    "packed": packed,
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
        recogniser = ROOT / "Tests/EndToEndTests/recognise.sh"
        return subprocess.run([recogniser, wave], check=True, capture_output=True, text=True).stdout.split()


def timed(words: list[str]) -> list[dict]:
    return [{"word": word, "start": index / 2, "end": (index + 1) / 2} for index, word in enumerate(words)]


def openai(words: list[str], plain: bool) -> dict:
    return {"text": " ".join(words)} | ({} if plain else {"words": timed(words), "segments": []})


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
