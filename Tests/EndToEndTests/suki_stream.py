"""WebSocket of an ambient session: sends audio and events, and checks how the server closes it.

Written only from the SDK's public page and the wire contract, never from the server.
"""

import base64
import json
import time
from socket import SHUT_RDWR

from suki_checks import PATIENCE, field, filled, rfc3339
from websocket_driver import Socket
from websockets.exceptions import ConnectionClosed

END_MARKER = "RU9G"
FRAME_BYTES = 3200


class StreamError(AssertionError):
    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


class Stream(Socket):
    """One socket of a session, which starts with a segment."""

    def __init__(self, connection, start_time=None):
        super().__init__(connection)
        self.messages = []
        self.start_segment(start_time)

    @property
    def close_code(self):
        return self.socket.close_code

    @property
    def close_reason(self):
        return self.socket.close_reason

    def send(self, frame):
        """Any frame, also a wrong one: text as it is, bytes as a binary frame."""
        self.socket.send(frame)

    def message(self, kind, **members):
        self.send(json.dumps({"type": kind, **members}))

    def event(self, name):
        self.message("EVENT", event=name)

    def start_segment(self, start_time=None):
        moment = rfc3339(time.time_ns() if start_time is None else start_time)
        self.message("START_TIME", data=base64.b64encode(moment.encode()).decode())

    def audio(self, pcm_bytes):
        """LINEAR16 mono at 16 kHz in frames of 100 ms."""
        assert len(pcm_bytes) % 2 == 0, "half a sample"
        for start in range(0, len(pcm_bytes), FRAME_BYTES):
            chunk = pcm_bytes[start : start + FRAME_BYTES]
            self.message("AUDIO", data=base64.b64encode(chunk).decode())

    def pause(self):
        self.event("PAUSE")

    def resume(self):
        self.event("RESUME")

    def keep_alive(self):
        self.event("KEEP_ALIVE")

    def cancel(self):
        self.event("CANCEL")
        self._settle()

    def abort(self):
        self.event("ABORT")
        self._settle()

    def finish(self):
        self.message("AUDIO", data=END_MARKER)
        self._settle()

    def wait_closed(self, timeout=PATIENCE):
        """The code of the server's close, with whatever it said before kept in `messages`."""
        deadline = time.monotonic() + timeout
        try:
            while True:
                self._keep(self.socket.recv(timeout=deadline - time.monotonic()))
        except ConnectionClosed:
            return self.close_code

    def close(self):
        """A close handshake without the end marker."""
        self.socket.close()

    def drop(self):
        """Ends TCP without a close frame, after what was sent: a reset could destroy frames on their way."""
        try:
            self.socket.socket.shutdown(SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()

    def _keep(self, frame):
        assert isinstance(frame, str), f"a binary frame from the server: {frame[:100]!r}"
        body = json.loads(frame)
        field(body, "code", int)
        filled(body, "message")
        self.messages.append(body)

    def _settle(self):
        # Who closes first is not published. This server does, once all is stored, and a client that closed before would
        # see how busy the machine is.
        self.wait_closed(PATIENCE)
        if self.messages or self.close_code != 1000:
            raise StreamError(f"closed {self.close_code} {self.close_reason!r} {self.messages}", self.close_code)
