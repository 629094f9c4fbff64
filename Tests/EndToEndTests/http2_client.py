"""HTTP/2 client that can send frames that no library would make."""

import socket

import h2.config
import h2.connection
import h2.events
import h2.settings
import tls
from emulator import PATIENCE


class Connection:
    """A client that can be as rude as it likes."""

    def __init__(self, server, timeout=PATIENCE, **settings):
        raw = socket.create_connection(("127.0.0.1", server.tls_port), timeout=timeout)
        self.socket = tls.trusting(server, "h2").wrap_socket(raw, server_hostname="api.eka.care")
        assert self.socket.selected_alpn_protocol() == "h2"
        configuration = h2.config.H2Configuration(
            validate_outbound_headers=False, normalize_outbound_headers=False, header_encoding="utf-8")
        self.h2 = h2.connection.H2Connection(configuration)
        self.h2.initiate_connection()
        if settings:
            self.h2.update_settings(
                {getattr(h2.settings.SettingCodes, name): value for name, value in settings.items()})
        self.flush()
        self.events, self.ended = [], False
        # What is sent before has the limits that everybody begins with.
        self.until(h2.events.RemoteSettingsChanged)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def send(self, frames: bytes):
        """Frames that the library would not make."""
        self.socket.sendall(frames)

    def open(self, method="GET", path="/livez", *fields, body=b"", end=True, authority="api.eka.care") -> int:
        stream = self.h2.get_next_available_stream_id()
        names = [(":method", method), (":scheme", "https"), (":path", path)]
        if authority:
            names.append((":authority", authority))
        self.h2.send_headers(stream, names + list(fields), end_stream=end and not body)
        if body:
            self.h2.send_data(stream, body, end_stream=end)
        self.flush()
        return stream

    def receive(self, acknowledge=True) -> bool:
        """Takes what comes next; false at the end of the connection."""
        try:
            data = self.socket.recv(65536)
        except TimeoutError:
            raise
        except OSError:
            data = b""
        if not data:
            self.ended = True
            return False
        for event in self.h2.receive_data(data):
            self.events.append(event)
            if acknowledge and isinstance(event, h2.events.DataReceived):
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        self.flush()
        return True

    def until(self, kind, stream=None):
        """The first event of a kind, of a stream if one is named."""
        def found():
            return next(
                (e for e in self.events if isinstance(e, kind) and stream in (None, getattr(e, "stream_id", None))),
                None)

        while found() is None:
            assert self.receive(), f"the connection ended before {kind.__name__}: {self.events[-3:]}"
        return found()

    def answer(self, stream) -> tuple[int, dict, bytes]:
        self.until(h2.events.StreamEnded, stream)
        head = self.until(h2.events.ResponseReceived, stream)
        headers = dict(head.headers)
        body = b"".join(e.data for e in self.events if isinstance(e, h2.events.DataReceived) and e.stream_id == stream)
        return int(headers[":status"]), headers, body

    def end(self):
        """Waits for the server to end the connection; how it says why, if it does."""
        while not self.ended:
            try:
                self.receive()
            except h2.exceptions.ProtocolError:
                pass
        goodbyes = [e for e in self.events if isinstance(e, h2.events.ConnectionTerminated)]
        return goodbyes[-1].error_code if goodbyes else None


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


LOGIN = "/connect-auth/v1/account/login"
CREDENTIALS = b'{"client_id":"dev-client","client_secret":"dev-secret"}'
