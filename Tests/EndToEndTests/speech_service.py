"""A speech service that does what a test tells it: OpenAI's and Deepgram's APIs, with every fault a service can have.
A program that asks it for plain text has the same faults.

It listens with `demo/recognise.sh`, a real recogniser, where a test asks for that.
"""

import email.parser
import email.policy
import http.server
import json
import pathlib
import socket
import subprocess
import tempfile
import threading
import time
import zlib

from conftest import DEMO, Server, running

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
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def transcriber(self, kind: str) -> str:
        if kind == "command":
            return f"command:curl --silent --fail --data-binary @{{file}} {self.url}/plain"
        return f"{kind}:{self.url}/v1"

    def _handler(service):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with service._lock:
                    service._now += 1
                    service.most = max(service.most, service._now)
                    fault = service.faults.pop(0) if service.faults else service.always
                try:
                    self.answer(body, fault)
                except OSError:
                    pass  # The client has gone.
                finally:
                    with service._lock:
                        service._now -= 1

            def answer(self, body: bytes, fault):
                is_openai = self.path.split("?")[0].endswith("/audio/transcriptions")
                fields, audio = form(self.headers["Content-Type"], body) if is_openai else ({}, body)
                with service._lock:
                    service.requests.append({
                        "path": self.path, "headers": dict(self.headers), "fields": fields, "audio": audio,
                    })
                is_plain = fields.get("model", [""])[0] in service.plain
                if is_plain and fields.get("response_format") == ["verbose_json"]:
                    return self.send(400, {"error": {"message": "response_format is not supported"}})
                time.sleep(service.delay)
                if audio in service.refused:
                    return self.fault_refused()
                if fault:
                    return getattr(self, f"fault_{fault}")()
                words = listen(audio) if service.listens else WORDS
                if self.path == "/plain":
                    return self.send(200, " ".join(words).encode(), "text/plain")
                if service.answer:
                    return self.send(200, service.answer)
                self.send(200, openai(words, is_plain or service.listens) if is_openai else deepgram(words))

            def send(self, status: int, answer, content_type="application/json", **headers):
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(data)))
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(data)

            def fault_error(self):
                self.send(500, {"error": "down"})

            def fault_busy(self):
                self.send(429, {"error": "slow down"}, Retry_After="1")

            def fault_endless(self):
                self.send(429, {"error": "slow down"}, Retry_After="inf")

            def fault_unusable(self):
                self.send(415, {"error": {"message": "Invalid file format"}})

            def fault_refused(self):
                self.send(401, {"error": "wrong key"})

            def fault_garbage(self):
                self.send(200, b'{"text": "half an ans')

            def fault_html(self):
                self.send(200, b"<html>Sign in</html>", "text/html")

            def fault_redirect(self):
                self.send(307, b"", Location="http://127.0.0.1:9/elsewhere")

            def fault_close(self):
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

            def fault_cut(self):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"text": "')
                self.close_connection = True

            def fault_huge(self):
                self.send(200, b'{"text": "' + b"word " * (2 << 20) + b'"}')

            def fault_packed(self):
                """400 MB in 400 KB."""
                packer = zlib.compressobj(9, zlib.DEFLATED, 31)
                data = b"".join(packer.compress(bytes(1 << 20)) for _ in range(400)) + packer.flush()
                self.send(200, data, Content_Encoding="gzip")

            def fault_silent(self):
                time.sleep(30)

        return Handler


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
        return subprocess.run([DEMO / "recognise.sh", wave], check=True, capture_output=True, text=True).stdout.split()


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
