"""HTTP/2 limits: what one connection and its streams may take, and what ends them."""

import contextlib
import socket

import h2.events
import hpack
import pytest
import requests
import tls
from emulator import IMPATIENT, PATIENCE, wait_until
from http2_client import LOGIN, Connection, frame


@pytest.fixture(scope="module")
def server(patient):
    """It closes no connection for being idle: one that is closed, is closed for what was sent."""
    return patient


@pytest.fixture
def connection(server):
    with Connection(server) as connection:
        yield connection
    assert requests.get(f"{server.base_url}/livez").status_code == 200


def test_a_head_beyond_the_limit_ends_the_connection(connection):
    fields = [(f"x-{n}", "n" * 1000) for n in range(100)]
    with contextlib.suppress(OSError):
        connection.open("GET", "/livez", *fields)
    connection.end()
    assert not any(isinstance(event, h2.events.ResponseReceived) for event in connection.events)


def test_a_connection_without_requests_is_closed(served):
    server = served(*IMPATIENT)
    with Connection(server) as silent:
        silent.end()
    assert requests.get(f"{server.base_url}/livez").status_code == 200


def test_a_head_that_comes_byte_by_byte_ends_with_its_connection(served):
    server = served(*IMPATIENT)
    with Connection(server, 0.1) as slow:
        slow.send(
            frame(1, 0, 1, hpack.Encoder().encode([(":method", "GET"), (":path", "/livez"), (":scheme", "https")])))

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


def test_bytes_that_are_no_http_2_end_the_connection(server):
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


def test_answers_that_the_client_does_not_read_take_no_memory(server):
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


def test_one_byte_data_frames_on_a_held_poll_take_no_memory(server):
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


def test_a_large_header_table_of_the_client_is_not_used(server):
    with Connection(server, HEADER_TABLE_SIZE=2**31 - 1) as connection:
        for _ in range(40):
            streams = [connection.open() for _ in range(25)]
            for stream in streams:
                connection.until(h2.events.StreamEnded, stream)
            connection.events.clear()
        assert len(connection.h2.decoder.header_table.dynamic_entries) == 0
