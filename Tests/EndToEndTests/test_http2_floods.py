"""Small frames of HTTP/2: a flood of them ends the connection."""

import contextlib
import ssl

import h2.events
import h2.exceptions
import pytest
import requests
from http2_client import Connection, frame

#: How often a frame may come within seconds, and how often it is a flood.
FEW, MANY = 150, 2_000


@pytest.fixture(scope="module")
def server(patient):
    """It closes no connection for being idle, and no poll is over: what ends, ends for what was sent."""
    return patient


def poll(server, connection) -> int:
    """A stream that stays open."""
    client = server.client()
    transaction = client.transaction()
    transaction.init()
    return connection.open("GET", f"/voice/api/v3/status/{transaction.id}", ("auth", client.tokens["access_token"]))


def survives(connection, frames: bytes) -> bool:
    """Whether a connection goes on after these, which a ping tells, or is ended."""
    try:
        connection.send(frames)
        connection.h2.ping(bytes(8))
        connection.flush()
        connection.until(h2.events.PingAckReceived)
        connection.events.clear()
        return True
    except TimeoutError:
        raise
    except (AssertionError, OSError, h2.exceptions.ProtocolError):
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            while connection.socket.recv(65536):
                pass
        return False


def window_update(stream: int) -> bytes:
    return frame(8, 0, stream, (1).to_bytes(4, "big"))


SMALL = {
    "updates of the connection": lambda _: window_update(0), "updates of a stream": window_update,
    "unknown frames": lambda _: frame(0x0B, 0, 0, b""),
    "unknown frames of a stream": lambda stream: frame(0x42, 0, stream, b"x"),
}


@pytest.mark.parametrize("count, is_taken", [(FEW, True), (MANY, False)])
@pytest.mark.parametrize("name", SMALL)
def test_a_flood_of_small_frames_ends_the_connection(server, name, count, is_taken):
    with Connection(server) as connection:
        assert survives(connection, SMALL[name](poll(server, connection)) * count) == is_taken
    assert requests.get(f"{server.base_url}/livez").status_code == 200


@pytest.mark.parametrize("name", ["updates of the connection", "unknown frames"])
def test_a_flood_on_a_connection_without_requests_ends_the_connection(server, name):
    with Connection(server) as connection:
        assert survives(connection, SMALL[name](0) * FEW)
        assert not survives(connection, SMALL[name](0) * MANY)


def test_updates_of_many_streams_are_counted_together(server):
    with Connection(server) as connection:
        streams = [poll(server, connection) for _ in range(20)]
        assert not survives(connection, b"".join(map(window_update, streams)) * (MANY // len(streams)))


def test_a_flood_of_goaway_frames_ends_the_connection(server):
    with Connection(server) as connection:
        poll(server, connection)
        assert not survives(connection, frame(7, 0, 0, bytes(8)) * MANY)
    assert requests.get(f"{server.base_url}/livez").status_code == 200
