"""HTTP/2 as frames: what a connection and its streams may take, and what ends them."""

import contextlib
import json
import pathlib
import socket
import ssl
import time

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings
import hpack
import pytest
import requests
import tls
from conftest import PATIENCE, TLS, running, wait_until


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
            self.h2.update_settings({getattr(h2.settings.SettingCodes, name): value for name, value in settings.items()})
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
                (e for e in self.events if isinstance(e, kind) and stream in (None, getattr(e, "stream_id", None))), None)

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


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """It closes no connection for being idle: one that is closed, is closed for what was sent."""
    with running(tmp_path_factory.mktemp("server"), "--ephemeral", "--request-timeout", "1h", *TLS) as server:
        yield server


@pytest.fixture
def connection(server):
    with Connection(server) as connection:
        yield connection
    assert requests.get(f"{server.base_url}/livez").status_code == 200


LOGIN = "/connect-auth/v1/account/login"
CREDENTIALS = b'{"client_id":"dev-client","client_secret":"dev-secret"}'


def test_many_streams_are_answered_over_one_connection(connection):
    streams = [connection.open(path="/voice/ping") for _ in range(30)]
    for stream in streams:
        status, _, body = connection.answer(stream)
        assert (status, body) == (200, b'{"ping":"pong"}')


def test_bodies_arrive_and_links_are_https(connection):
    status, _, body = connection.answer(connection.open("POST", LOGIN, body=CREDENTIALS))
    assert status == 200
    token = json.loads(body)["access_token"]
    status, _, body = connection.answer(
        connection.open("POST", "/v1/file-upload?txn_id=t-h2", ("authorization", f"Bearer {token}"), body=b"{}",
                        authority="scribe.test:8443"))
    assert (status, json.loads(body)["uploadData"]["url"]) == (200, "https://scribe.test:8443/m-prod-ekascribe-batch/")


def test_no_header_of_http_1_and_no_hsts_is_in_an_answer(connection):
    _, headers, _ = connection.answer(connection.open(path="/v1/listen"))
    assert not {"connection", "upgrade", "transfer-encoding", "keep-alive", "strict-transport-security"} & set(headers)


def test_continue_is_said_where_it_is_expected(connection):
    stream = connection.open("POST", LOGIN, ("expect", "100-continue"), end=False)
    assert dict(connection.until(h2.events.InformationalResponseReceived, stream).headers)[":status"] == "100"
    connection.h2.send_data(stream, CREDENTIALS, end_stream=True)
    connection.flush()
    assert connection.answer(stream)[0] == 200


@pytest.mark.parametrize(
    "authority, fields, status",
    [
        (None, [("host", "api.eka.care")], 200), (None, [], 400), ("api.eka.care", [("host", "api.eka.care")], 200),
        ("api.eka.care", [("host", "evil.example")], 400), (None, [("host", "a"), ("host", "b")], 400), ("", [], 400),
        ("api.eka.care", [(f"x-{n}", "n") for n in range(1100)], (400, 431)),
        ("api.eka.care", [("x", "a" + "\u0301" * 3000)], 400),
    ],
)
def test_who_is_asked_is_said_once(connection, authority, fields, status):
    stream = connection.open("GET", "/voice/ping", *fields, authority=authority)
    answered = connection.answer(stream)[0]
    assert answered in (status if isinstance(status, tuple) else (status,))
    assert connection.answer(connection.open())[0] == 200, "the connection goes on"


def test_a_head_beyond_the_limit_ends_the_connection(connection):
    fields = [(f"x-{n}", "n" * 1000) for n in range(100)]
    with contextlib.suppress(OSError):
        connection.open("GET", "/livez", *fields)
    connection.end()
    assert not any(isinstance(event, h2.events.ResponseReceived) for event in connection.events)


def test_an_upload_that_is_refused_is_not_read_to_its_end(connection):
    stream = connection.open("PUT", "/bucket/key", ("content-length", "400000000"), end=False, authority="localhost")
    assert dict(connection.until(h2.events.ResponseReceived, stream).headers)[":status"] == "403"
    assert connection.until(h2.events.StreamReset, stream).error_code == h2.errors.ErrorCodes.NO_ERROR
    assert connection.answer(connection.open())[0] == 200, "the connection goes on"


def test_a_body_that_stops_ends_its_stream_and_no_other(tmp_path):
    with running(tmp_path, "--ephemeral", "--request-timeout", "500ms", *TLS) as server, Connection(server) as connection:
        slow = connection.open("POST", LOGIN, ("content-length", "100000"), body=b"{", end=False)
        while not any(isinstance(e, h2.events.StreamReset) and e.stream_id == slow for e in connection.events):
            assert connection.answer(connection.open())[0] == 200
            time.sleep(0.05)
        assert connection.answer(connection.open())[0] == 200


def test_half_a_body_is_400_or_a_reset(connection):
    stream = connection.open("POST", LOGIN, ("content-length", "100"), body=b"{", end=True)
    try:
        reset = connection.until(h2.events.StreamReset, stream)
        assert reset.error_code == h2.errors.ErrorCodes.PROTOCOL_ERROR
    except AssertionError:
        assert connection.answer(stream)[0] == 400


def test_a_connection_on_which_nothing_is_asked_is_closed(tmp_path):
    with running(tmp_path, "--ephemeral", "--request-timeout", "300ms", *TLS) as server:
        with Connection(server) as silent:
            silent.end()
        assert requests.get(f"{server.base_url}/livez").status_code == 200


def test_a_head_that_comes_byte_by_byte_ends_with_its_connection(tmp_path):
    with running(tmp_path, "--ephemeral", "--request-timeout", "500ms", *TLS) as server, Connection(server, 0.1) as slow:
        slow.send(frame(1, 0, 1, hpack.Encoder().encode([(":method", "GET"), (":path", "/livez"), (":scheme", "https")])))

        def is_ended():
            try:
                slow.send(frame(9, 0, 1, b"\x00")[:1])
                return not slow.receive()
            except TimeoutError:
                return False
            except OSError:
                return True

        wait_until(is_ended, "the slow connection is ended")
        assert requests.get(f"{server.base_url}/livez").status_code == 200


def flood(connection, frames):
    """Sends without end until the server has had enough."""
    try:
        for data in frames:
            connection.send(data)
    except OSError:
        return
    connection.end()


def test_rapid_resets_end_the_connection(server):
    """CVE-2023-44487."""
    with Connection(server) as connection:
        encoder = hpack.Encoder()
        head = [(":method", "GET"), (":path", "/voice/ping"), (":scheme", "https"), (":authority", "api.eka.care")]
        before = server.memory("VmRSS")
        flood(connection, (
            frame(1, 5, 2 * n + 1, encoder.encode(head)) + frame(3, 0, 2 * n + 1, (8).to_bytes(4, "big"))
            for n in range(100_000)))
        assert server.memory("VmRSS") - before < 50 << 20
    assert requests.get(f"{server.base_url}/livez").status_code == 200


@pytest.mark.parametrize(
    "name, data",
    [
        ("settings", frame(4, 0, 0, b"")), ("pings", frame(6, 0, 0, bytes(8))),
        ("priorities", frame(2, 0, 1, bytes(3) + b"\x03\x10")), ("empty data", frame(0, 0, 1, b"")),
        ("continuations", frame(9, 0, 1, b"")),
    ],
)
def test_floods_of_frames_end_the_connection(server, name, data):
    with Connection(server) as connection:
        if name in ("empty data", "continuations"):
            block = hpack.Encoder().encode([
                (":method", "POST"), (":path", LOGIN), (":scheme", "https"), (":authority", "api.eka.care")])
            connection.send(frame(1, 4 if name == "empty data" else 0, 1, block))
        before = server.memory("VmRSS")
        flood(connection, (data for _ in range(200_000)))
        assert server.memory("VmRSS") - before < 50 << 20
    assert requests.get(f"{server.base_url}/livez").status_code == 200


def test_what_is_no_http_2_ends_the_connection(server):
    for nonsense in (b"GET / HTTP/1.1\r\n\r\n", bytes(100), frame(0, 0, 0, b"x"), frame(7, 0, 0, b"")):
        with Connection(server) as connection:
            flood(connection, [nonsense])
    raw = socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE)
    with tls.trusting(server, "h2").wrap_socket(raw, server_hostname="localhost") as connection:
        connection.sendall(b"PRI * HTTP/1.0\r\n\r\n" + bytes(1000))
        try:
            while connection.recv(1000):
                pass
        except OSError:
            pass
    assert requests.get(f"{server.base_url}/livez").status_code == 200


def test_a_poll_whose_stream_is_reset_is_let_go(tmp_path):
    with running(tmp_path, "--ephemeral", "--long-poll", "1h", *TLS) as server, Connection(server) as connection:
        client = server.client()
        transaction = client.transaction()
        transaction.init()
        stream = connection.open(
            "GET", f"/voice/api/v3/status/{transaction.id}", ("auth", client.tokens["access_token"]))
        wait_until(lambda: server.metric("scribe_held_polls") == 1, "the poll is held")
        connection.h2.reset_stream(stream)
        connection.flush()
        wait_until(lambda: server.metric("scribe_held_polls") == 0, "the poll is let go")
        assert connection.answer(connection.open())[0] == 200


def test_answers_that_nobody_takes_hold_no_memory(server):
    """Thirty streams with no window: what was asked for waits, and is not kept in memory for it."""
    client = server.client()
    keys = client.session.get(f"{server.base_url}/credentials").json()["credentials"]
    assert keys
    s3 = client.s3()
    s3.put_object(Bucket="b", Key="large", Body=bytes(8_000_000))
    path = s3.generate_presigned_url("get_object", {"Bucket": "b", "Key": "large"}).removeprefix(server.base_url)
    with Connection(server, INITIAL_WINDOW_SIZE=0) as connection:
        before = server.memory("VmRSS")
        streams = [connection.open("GET", path, authority=f"127.0.0.1:{server.port}") for _ in range(30)]
        for stream in streams:
            connection.until(h2.events.ResponseReceived, stream)
        assert server.memory("VmRSS") - before < 90 << 20
    assert requests.get(f"{server.base_url}/livez").status_code == 200


def test_bodies_by_the_byte_are_no_bodies_and_take_no_memory(server):
    """Of a poll that is held, nobody reads them."""
    client = server.client()
    transaction = client.transaction()
    transaction.init()
    with Connection(server) as connection:
        stream = connection.open(
            "GET", f"/voice/api/v3/status/{transaction.id}", ("auth", client.tokens["access_token"]), end=False)
        before = server.memory("VmRSS")
        flood(connection, (frame(0, 0, stream, b"x") for _ in range(12_000)))
        assert server.memory("VmRSS") - before < 50 << 20
    assert requests.get(f"{server.base_url}/livez").status_code == 200


def test_a_large_table_of_headers_costs_nobody_anything(server):
    with Connection(server, HEADER_TABLE_SIZE=2**31 - 1) as connection:
        for _ in range(40):
            streams = [connection.open() for _ in range(25)]
            for stream in streams:
                connection.until(h2.events.StreamEnded, stream)
            connection.events.clear()
        assert len(connection.h2.decoder.header_table.dynamic_entries) == 0


@pytest.mark.parametrize("goes", ["close", "shutdown"])
def test_a_poll_whose_connection_ends_is_let_go(tmp_path, goes):
    with running(tmp_path, "--ephemeral", "--long-poll", "1h", *TLS) as server, Connection(server) as connection:
        client = server.client()
        transaction = client.transaction()
        transaction.init()
        connection.open("GET", f"/voice/api/v3/status/{transaction.id}", ("auth", client.tokens["access_token"]))
        wait_until(lambda: server.metric("scribe_held_polls") == 1, "the poll is held")
        connection.socket.close() if goes == "close" else connection.socket.shutdown(socket.SHUT_WR)
        wait_until(lambda: server.metric("scribe_held_polls") == 0, "the poll is let go")


def test_an_upload_that_breaks_off_is_no_error_of_the_server(server):
    client = server.client()
    url = client.s3().generate_presigned_url("put_object", {"Bucket": "b", "Key": "broken"})
    with Connection(server) as connection:
        stream = connection.open(
            "PUT", url.removeprefix(server.base_url), ("content-length", "100000"), body=b"x" * 1000, end=False,
            authority=f"127.0.0.1:{server.port}")
        connection.h2.reset_stream(stream)
        connection.flush()
        assert connection.answer(connection.open())[0] == 200
    assert "unexpected error" not in server.log


def test_an_upload_of_megabytes_arrives_whole(server):
    client = server.client()
    body = pathlib.Path("/proc/self/exe").read_bytes()[:3_000_000]
    s3 = client.s3()
    url = s3.generate_presigned_url("put_object", {"Bucket": "b", "Key": "h2"})
    with Connection(server) as connection:
        stream = connection.open(
            "PUT", url.removeprefix(server.base_url), ("content-length", str(len(body))), end=False,
            authority=f"127.0.0.1:{server.port}")
        sent = 0
        while sent < len(body):
            size = min(len(body) - sent, connection.h2.local_flow_control_window(stream), 16_384)
            if size == 0:
                assert connection.receive()
                continue
            connection.h2.send_data(stream, body[sent:sent + size], end_stream=sent + size == len(body))
            connection.flush()
            sent += size
        assert connection.answer(stream)[0] == 200
    assert s3.get_object(Bucket="b", Key="h2")["Body"].read() == body


def test_a_stop_says_goodbye_and_answers_what_was_asked(tmp_path):
    with running(tmp_path, "--ephemeral", *TLS) as server, Connection(server) as connection:
        assert connection.answer(connection.open())[0] == 200
        server.stop()
        connection.end()
        assert any(isinstance(event, h2.events.ConnectionTerminated) for event in connection.events)


def test_who_offers_no_protocol_gets_http_1(server):
    raw = socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE)
    context = ssl.create_default_context(cafile=server.authority)
    with context.wrap_socket(raw, server_hostname="localhost") as connection:
        connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
