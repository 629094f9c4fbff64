"""HTTP server for tests that records each request: webhook receivers, speech services, key sets and pages."""

import http.client
import http.server
import json
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Request:
    """Request that was received whole."""

    method: str
    path: str
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass
class Answer:
    """Answer to a request. `length` is the Content-Length; a larger one than the body's cuts the answer off."""

    status: int = 200
    body: bytes | str = b""
    content_type: str | None = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None


class HTTPRecorder:
    """Listens on 127.0.0.1, records requests in `requests`, and answers each with what `answer` returns.

    `answer` runs in the connection's own thread. None in place of an answer closes the connection. An exception in it
    closes the connection too, and fails the test when the recorder stops.
    """

    def __init__(
        self, answer: Callable[[Request], Answer | None] = lambda request: Answer(204), *, port=0, host="127.0.0.1",
        encryption: ssl.SSLContext | None = None, version="HTTP/1.1",
    ):
        self.requests: list[Request] = []
        self.problems: list[str] = []
        self._answer = answer
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), self._handler(version))
        self._server.daemon_threads = True
        if encryption:
            self._server.socket = encryption.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port
        self.url = f"{'https' if encryption else 'http'}://{host}:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def asked(self) -> list[tuple[str, str]]:
        """Method and path of each request."""
        return [(request.method, request.path) for request in self.requests]

    def stop(self):
        """Stops listening. Open connections are left to their threads."""
        self._server.shutdown()
        self._server.server_close()
        assert not self.problems, self.problems

    def _handler(recorder, version: str):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = version

            def log_message(self, *_):
                pass

            def receive(self):
                size = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(size)
                if len(body) < size:
                    # The sender was killed while it sent this: nothing was delivered.
                    self.close_connection = True
                    return
                request = Request(self.command, self.path, self.headers, body)
                recorder.requests.append(request)
                try:
                    answer = recorder._answer(request)
                except Exception as problem:
                    recorder.problems.append(f"{self.command} {self.path} {body[:200]!r}: {problem!r}")
                    answer = None
                try:
                    self.send(answer)
                except OSError:
                    # The client has closed the connection.
                    self.close_connection = True

            do_DELETE = do_GET = do_PATCH = do_POST = do_PUT = receive

            def send(self, answer: Answer | None):
                if answer is None:
                    self.close_connection = True
                    return
                body = answer.body.encode() if isinstance(answer.body, str) else answer.body
                length = len(body) if answer.length is None else answer.length
                self.send_response(answer.status)
                if answer.content_type and body:
                    self.send_header("Content-Type", answer.content_type)
                self.send_header("Content-Length", str(length))
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = self.close_connection or length > len(body)

        return Handler
