"""WebSocket clients that do not wait for the 101: the bytes that they send before it are the first of the stream."""

import contextlib
import re
import socket

import pytest
import requests
import tls
from emulator import LIMITED, wait_until
from listen_client import KEY, RATE, check, voice
from session_client import SessionClient, recording
from websocket_driver import RawSocket, binary_frame, json_frame
from websockets.frames import Close, Frame, Opcode

LISTEN = f"/v1/listen?encoding=linear16&sample_rate={RATE}"
FIRST, SECOND = binary_frame(voice(0.5)), binary_frame(voice(0.5))
FRAMES = FIRST + SECOND + json_frame(type="CloseStream")


class Hasty(tls.Encrypted):
    """Says its first words in one packet with the end of the handshake of TLS."""

    flushes = 0

    def _flush(self):
        self.flushes += bool(self.outgoing.pending)
        # The first is the hello, the second that end.
        if self.flushes != 2:
            super()._flush()


DOORS = {**tls.DOORS, "hasty": Hasty}


def opened(server, door: str, path=LISTEN, key=KEY) -> RawSocket:
    """Socket over a connection of one kind, on which nothing was sent yet."""
    return RawSocket(server, path, f"Authorization: Token {key}", connect=DOORS[door])


@pytest.fixture(scope="module")
def server(patient):
    """It closes no socket for being silent: bytes that are lost are missed, and not made up for by an end."""
    before = len(patient.log)
    yield patient
    assert "unexpected error" not in patient.log[before:]


def said(client: RawSocket) -> list[dict]:
    """What is heard to the end, without what differs from one stream to the next."""
    messages = [check(text) for text in client.end()]
    return [{k: v for k, v in m.items() if k not in ("metadata", "request_id", "created")} for m in messages]


@pytest.fixture(scope="module")
def usual(server):
    """What is heard by a client that waits for the 101."""
    with opened(server, "plain") as client:
        client.send(client.handshake, None, FRAMES)
        messages = said(client)
    assert [m["type"] for m in messages] == ["Results", "Metadata"] and messages[-1]["duration"] == 1
    assert messages[0]["channel"]["alternatives"][0]["transcript"]
    return messages


#: How the bytes are cut into packets, and where (None) the 101 is waited for.
CUTS = {
    "all in one packet": lambda handshake: [handshake + FRAMES],
    "all at once in two packets": lambda handshake: [handshake, FRAMES],
    "one and a half frames with the handshake": lambda handshake: [
        handshake + FRAMES[:len(FIRST) + len(SECOND) // 2], None, FRAMES[len(FIRST) + len(SECOND) // 2:]],
    "one byte with the handshake": lambda handshake: [handshake + FRAMES[:1], None, FRAMES[1:]],
    "half a header in a packet of its own": lambda handshake: [handshake, FRAMES[:5], None, FRAMES[5:]],
    "the frames with the end of the handshake": lambda handshake: [handshake[:-1], handshake[-1:] + FRAMES],
    "the rest frame by frame": lambda handshake: [handshake + FIRST, SECOND, FRAMES[len(FIRST) + len(SECOND):]],
}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("door", DOORS)
def test_audio_sent_before_the_101_is_recognised(server, usual, door, cut):
    for _ in range(5):
        with opened(server, door) as client:
            client.send(*CUTS[cut](client.handshake))
            assert said(client) == usual


FEW = {
    "a command": json_frame(type="CloseStream"), "two": json_frame(type="KeepAlive") + json_frame(type="CloseStream"),
    "an empty message": binary_frame(b""),
}


@pytest.mark.parametrize("few", FEW)
@pytest.mark.parametrize("door", DOORS)
def test_a_few_frames_before_the_101_are_processed_at_once(server, door, few):
    with opened(server, door) as client:
        client.send(client.handshake + FEW[few])
        assert [(m["type"], m["duration"]) for m in said(client)] == [("Metadata", 0)]


@pytest.mark.parametrize("door", DOORS)
def test_a_close_frame_before_the_101_is_answered(server, door):
    with opened(server, door) as client:
        client.send(client.handshake + Frame(Opcode.CLOSE, Close(1000, "").serialize()).serialize(mask=True))
        assert client.end() == []


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("goes", ["close", "shutdown"])
def test_a_client_that_disconnects_before_the_101_frees_its_socket(served, door, goes):
    server = served(*LIMITED)
    # Or the socket would be refused, and have no place to give back.
    wait_until(lambda: server.metric("scribe_connections") == 1, "no connection is open but the one that asks")
    with opened(server, "plain") as other, opened(server, door) as gone:
        # Of two places one is left.
        other.send(other.handshake, None)
        assert other.events[0].status_code == 101
        gone.send(gone.handshake + FIRST)
        gone.connection.close() if goes == "close" else gone.connection.shutdown(socket.SHUT_WR)

        def is_free():
            with opened(server, door) as client:
                client.send(client.handshake + FRAMES, None)
                return client.events[0].status_code == 101

        wait_until(is_free, "its place is given back")


EARLY = {
    "frames": FRAMES, "half a frame": FIRST[:100], "another request": b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n",
    "nonsense": b"\xff" * 100_000,
}


@pytest.mark.parametrize(
    "path, key, status", [(LISTEN, "wrong", 401), ("/v1/nothing", KEY, 404), ("/v1/listen?channels=x", KEY, 400)])
@pytest.mark.parametrize("early", EARLY)
@pytest.mark.parametrize("door", DOORS)
def test_bytes_after_a_refused_upgrade_are_not_read(server, door, early, path, key, status):
    """Nor is it taken for requests."""
    for together in (True, False):
        with opened(server, door, path, key) as client:
            with contextlib.suppress(ConnectionError):
                client.send(*([client.handshake + EARLY[early]] if together else [client.handshake, EARLY[early]]))
            while client.receive():
                pass
        assert re.findall(rb"^HTTP/1.1 (\d+)", client.received, re.MULTILINE) == [b"%d" % status]
    assert requests.get(f"{server.base_url}/livez").status_code == 200


@pytest.mark.parametrize("door", DOORS)
def test_a_socket_with_a_refused_key_gets_no_results(server, door):
    with opened(server, door) as client:
        offered = client.handshake.replace(
            f"Authorization: Token {KEY}".encode(), b"Sec-WebSocket-Protocol: token, wrong")
        # Which the client's side is to take for its own.
        client.protocol.available_subprotocols = ["token"]
        client.send(offered + FRAMES)
        while client.receive():
            pass
        assert [event for event in client.events[1:] if event.opcode is Opcode.TEXT] == []
        assert client.protocol.close_code == 1008


@pytest.mark.parametrize("door", DOORS)
def test_megabytes_of_audio_sent_before_the_101_are_recognised(server, door):
    megabytes = voice(1) * 160
    server.forget_peak()
    before = server.memory("VmRSS")
    with opened(server, door) as client:
        client.send(client.handshake + binary_frame(megabytes) + json_frame(type="CloseStream"))
        assert said(client)[-1]["duration"] == 160
    assert server.memory("VmHWM") - before < 50 << 20


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("path", [LISTEN, "/v1/nothing"], ids=["accepted", "refused"])
def test_a_flood_before_the_101_takes_no_memory(server, door, path):
    """One frame without end, for which no room is: it is neither kept nor waited for."""
    server.forget_peak()
    before = server.memory("VmRSS")
    with opened(server, door, path) as client:
        with contextlib.suppress(ConnectionError):
            client.send(client.handshake + b"\x82\xff" + (1 << 40).to_bytes(8, "big") + bytes(4))
            for _ in range(200):
                client.send(bytes(1 << 20))
        while client.receive():
            pass
    assert server.memory("VmHWM") - before < 50 << 20
    assert requests.get(f"{server.base_url}/livez").status_code == 200


@pytest.mark.parametrize("door", DOORS)
def test_audio_before_the_101_is_in_the_session(server, door):
    sessions = SessionClient(server.base_url)
    created = sessions.create(upload_type="stream")
    session, audio = created["session_id"], recording(2)[44:]
    path = created["upload_url"].split(str(server.port), 1)[1]
    assert path.startswith("/voice/v1/stream/sessions/")
    with opened(server, door, path) as client:
        client.send(client.handshake + binary_frame(audio) + json_frame(event="stop"))
        client.end()
    sessions.end(session, 0)
    results = sessions.results(session)
    assert results["status"] == "completed" and results["audio_files"] == ["1.wav"] and results["transcript"]
    kept = server.client().s3().get_object(Bucket="m-prod-ekascribe-batch", Key=f"sessions/{session}/1.wav")
    assert kept["Body"].read()[44:] == audio
