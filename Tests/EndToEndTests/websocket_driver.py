"""WebSocket clients of tests: `Socket` over the `websockets` package, and `RawSocket`,
whose bytes a test sends by hand."""

import contextlib
import copy
import json
import socket
import struct
import threading

import websockets.client
from emulator import PATIENCE
from tls import plain
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.sync.client import connect
from websockets.uri import parse_uri


def open_socket(address: str, **options):
    """Connection that stays open after the call, which is what `legacy` does."""
    return connect(address, **{"open_timeout": PATIENCE, "close_timeout": PATIENCE, "legacy": True, **options})


class Socket:
    """Client over the `websockets` package. A subclass checks and keeps messages in `receive`."""

    def __init__(self, connection):
        self.socket = connection

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def receive(self):
        raise NotImplementedError

    def receive_all(self):
        """Receives messages until the socket is closed."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                self.receive()

    @property
    def close_frame(self) -> tuple[int, str]:
        """Code and reason of the server's close frame."""
        return self.socket.protocol.close_rcvd.code, self.socket.protocol.close_rcvd.reason

    def drop(self):
        """Closes the TCP connection without a close frame.

        `close` alone would leave it open until the thread that reads it has read once more.
        """
        with contextlib.suppress(OSError):
            self.socket.socket.shutdown(socket.SHUT_RDWR)
        self.socket.socket.close()

    def send_bytes(self, data: bytes):
        """Sends bytes that need not be a frame."""
        self.socket.socket.sendall(data)


class RawSocket:
    """Client whose bytes a test sends by hand: before the handshake's answer, in parts, or as frames that never end.

    `connect` opens the connection: `plain`, `Encrypted` or a subclass. Headers are lines such as
    `Authorization: Token x`.
    """

    def __init__(self, server, path: str, *headers: str, connect=plain):
        self.connection = connect(server, PATIENCE)
        self.protocol = websockets.client.ClientProtocol(parse_uri(f"ws://127.0.0.1{path}"), max_size=None)
        request = self.protocol.connect()
        for line in headers:
            name, value = line.split(": ", 1)
            request.headers[name] = value
        self.protocol.send_request(request)
        #: Bytes of the handshake, which the test sends.
        self.handshake = b"".join(self.protocol.data_to_send())
        #: All bytes that were received, and the answer and frames in them.
        self.received, self.events = b"", []

    @classmethod
    def opened(cls, server, path: str, *headers: str):
        """Socket that the server has accepted."""
        raw = cls(server, path, *headers)
        raw.send(raw.handshake, None)
        assert raw.events[0].status_code == 101, raw.received
        return raw

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def send(self, *pieces: bytes | None):
        """Sends each piece in a packet of its own. None waits for the answer to the handshake."""
        for piece in pieces:
            if piece is None:
                while not self.events:
                    assert self.receive(), "the connection ended before the answer"
            else:
                self.connection.sendall(piece)

    def send_frame(self, opcode: int, payload: bytes, claimed: int | None = None):
        """Sends a frame that is masked with zeros. With `claimed` its header promises a payload of that many bytes."""
        head = struct.pack(">BBQI", 0x80 | opcode, 0xFF, claimed or len(payload), 0)
        with contextlib.suppress(TimeoutError):
            self.connection.sendall(head + payload)

    def send_frame_aside(self, opcode: int, payload: bytes, claimed: int):
        """Sends a frame from another thread, because the server may not read all of it."""
        self._aside(lambda sender: sender.send_frame(opcode, payload, claimed))

    def send_frames_aside(self, *frames: tuple[int, bytes]):
        """Sends whole frames, one after another, from another thread."""
        def send(sender):
            for opcode, payload in frames:
                sender.send_frame(opcode, payload)

        self._aside(send)

    def _aside(self, send):
        sender = copy.copy(self)
        sender.connection = self.connection.dup()

        def run():
            with contextlib.suppress(OSError):
                send(sender)

        threading.Thread(target=run, daemon=True).start()

    def receive(self) -> bool:
        """Receives once and answers pings and close frames. False at the end of the connection."""
        try:
            data = self.connection.recv(65536)
        except TimeoutError:
            raise
        except OSError:
            data = b""
        self._understand(data)
        if not data:
            self.protocol.receive_eof()
        with contextlib.suppress(OSError):
            self.connection.sendall(b"".join(self.protocol.data_to_send()))
        return bool(data)

    def end(self) -> list[str]:
        """Texts that were received to the end of an accepted socket, which the server closed with 1000."""
        while self.receive():
            pass
        assert self.events and self.events[0].status_code == 101, self.received
        assert self.protocol.close_code == 1000, self.events
        return [event.data.decode() for event in self.events[1:] if event.opcode is Opcode.TEXT]

    def closed_with(self, wait=0.2) -> int | None:
        """Code of the server's close frame, which is not answered. None if nothing comes for `wait` seconds."""
        before = self.connection.gettimeout()
        self.connection.settimeout(wait)
        with contextlib.suppress(TimeoutError, ConnectionResetError):
            while piece := self.connection.recv(65536):
                self._understand(piece)
        # A long message takes longer to send.
        self.connection.settimeout(before)
        return self.protocol.close_rcvd and self.protocol.close_rcvd.code

    def _understand(self, data: bytes):
        self.received += data
        if data:
            self.protocol.receive_data(data)
        self.events += self.protocol.events_received()


def binary_frame(data: bytes) -> bytes:
    return Frame(Opcode.BINARY, data).serialize(mask=True)


def json_frame(**message) -> bytes:
    return Frame(Opcode.TEXT, json.dumps(message).encode()).serialize(mask=True)
