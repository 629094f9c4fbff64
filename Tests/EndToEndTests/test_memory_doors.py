"""Memory that many sockets and long results take: the memory budget bounds it, and other connections get answers."""

import base64
import contextlib
import json
import socket
import threading

import pytest
import requests
from device_client import token_of
from emulator import SCARCE, running, wait_until
from listen_client import consultation
from session_client import SessionClient, recording
from socket_doors import DOORS, KEY, MEGABYTE, listen, stream
from websocket_driver import RawSocket

HELD = "scribe_memory_held_bytes"
#: Bytes that another business holds, so that no business may have more than half of the budget.
NEIGHBOUR = 100_000
#: Of a server whose budget four messages use up.
SMALL = 16_000_000
PING = (9, b"understood")


class Readings:
    """Reads the held bytes for the time of a `with`, each time over a new connection."""

    def __init__(self, server):
        self.server = server
        #: Most bytes that were held.
        self.held = 0.0
        #: Number of requests that were answered.
        self.answers = 0
        self.done, self.failure = threading.Event(), None
        self.thread = threading.Thread(target=self._run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()
        if self.failure:
            raise self.failure

    def _run(self):
        try:
            while not self.done.wait(0.02):
                self.held = max(self.held, self.server.metric(HELD))
                self.answers += 1
        except Exception as failure:  # noqa: BLE001 (the test raises it)
            self.failure = failure


@contextlib.contextmanager
def neighbour(server):
    """Client of another business, which holds part of a message meanwhile."""
    client = SessionClient(server.base_url, "dev-client-2", "dev-secret-2")
    url = client.create(upload_type="stream")["upload_url"]
    with RawSocket.opened(server, "/" + url.split("/", 3)[3]) as raw:
        raw.send_frame(2, b" " * NEIGHBOUR, claimed=NEIGHBOUR + 1)
        wait_until(lambda: server.metric(HELD) > NEIGHBOUR - 5000, "the other business holds its part")
        yield client
        assert raw.closed_with() is None


def understood(raw: RawSocket) -> bool:
    """Whether the server answered the ping behind a socket's messages. It may not close the socket."""
    assert raw.closed_with(0.01) is None
    return PING[1] in raw.received


@pytest.fixture(scope="module")
def small_server(tmp_path_factory):
    flags = ("--ephemeral", "--memory-budget", str(SMALL), "--listen-idle", "1h", "--omi-idle", "1h")
    with running(tmp_path_factory.mktemp("small"), *flags) as server:
        yield server


@pytest.fixture
def small(small_server):
    """A server with a budget of 16 MB, which holds nothing of earlier tests."""
    wait_until(lambda: small_server.metric(HELD) < 10_000, "nothing of earlier tests is held")
    return small_server


def test_unfinished_messages_are_held_within_the_memory_budget(small):
    """At whichever door: a second business records meanwhile, and whoever finds no room is told to come back."""
    held = 4 * 3_500_000
    with contextlib.ExitStack() as stack:
        first, late = [], []
        for _ in range(4):
            raw, opcode, _ = listen(small)
            first.append(stack.enter_context(raw))
            raw.send_frame(opcode, b" " * (held // 4 - 1), claimed=held // 4)
        wait_until(lambda: small.metric(HELD) > held - 100_000, "all of it is held")
        # Of fourteen megabytes less than one is left: no door has room for its largest message.
        for door in DOORS:
            raw, opcode, _ = door(small)
            late.append((door, stack.enter_context(raw), opcode))
        for _, raw, opcode in late:
            raw.send_frame_aside(opcode, b" " * (MEGABYTE - 1), claimed=MEGABYTE)
        other = SessionClient(small.base_url, "dev-client-2", "dev-secret-2")
        session = other.create(templates=["soap"])["session_id"]
        other.upload(session, 0, recording(1))
        other.end(session, 1)
        assert other.results(session)["status"] == "completed"
        for door, raw, _ in late:
            assert wait_until(raw.closed_with, f"{door.__name__}: who found no room is told so") == 1013
        assert [raw.closed_with() for raw in first] == [None] * 4
        assert requests.get(f"{small.base_url}/livez").status_code == 200


def test_unfinished_pictures_stay_within_the_half_of_a_business(small):
    """Twenty devices send four pictures each: four times as much as their business may have held."""
    server, budget, piece = small, SMALL, "A" * 450_000
    pictures = [{"type": "image_chunk", "id": f"p{n}", "index": 0, "total": 2, "data": piece} for n in range(4)]
    with neighbour(server) as other, Readings(server) as readings, contextlib.ExitStack() as stack:
        devices = []
        for number in range(20):
            bearer = f"Authorization: Bearer {token_of(f'device-{number}')}"
            raw = RawSocket.opened(server, "/v4/listen?codec=pcm16&sample_rate=16000", bearer)
            devices.append(stack.enter_context(raw))
            devices[-1].send_frames_aside(*((1, json.dumps(picture).encode()) for picture in pictures))
        wait_until(lambda: readings.held > budget / 2 - 1_000_000, "the business holds its half")
        session = other.create(templates=["soap"])["session_id"]
        other.upload(session, 0, recording(1))
        other.end(session, 1)
        assert other.results(session)["status"] == "completed"
        wait_until(lambda: any(raw.closed_with(0.01) for raw in devices), "a device without room is told so")
        assert {raw.closed_with(0.01) for raw in devices} <= {None, 1013}
    assert readings.held <= budget / 2 + NEIGHBOUR


def test_long_json_texts_stay_within_the_budget(served):
    """Eight sockets with more text and audio at a time than their business may have held:
    some wait, and all are heard."""
    budget, count = 64_000_000, 8
    server = served(*SCARCE)
    wait_until(lambda: server.metric(HELD) < 10_000, "nothing of earlier tests is held")
    audio = base64.b64encode(b"\1\0" * 1_120_000).decode()
    text = json.dumps({"event": "media", "media": {"payload": audio}}).encode()
    with neighbour(server), contextlib.ExitStack() as stack:
        streams = [stack.enter_context(stream(server)[0]) for _ in range(count)]
        with Readings(server) as readings:
            for raw in streams:
                raw.send_frame(1, text[:-1], claimed=len(text))
            # Each reading is the answer to another connection.
            wait_until(lambda: readings.held > count * (len(text) - 5000), "all texts are held")
            for raw in streams:
                raw.send(text[-1:])
                raw.send_frame(*PING)
            for raw in streams:
                wait_until(lambda: understood(raw), "the text was heard")
    assert readings.held <= budget / 2 + NEIGHBOUR


def test_silence_in_many_channels_is_held_up_to_a_limit(served):
    """Nothing settles silence: 8 MB of it wait, beside a chunk of 4 MB that may grow.
    Six sockets share a business's half."""
    budget, message = 64_000_000, 256 << 10
    server = served(*SCARCE)
    wait_until(lambda: server.metric(HELD) < 10_000, "nothing of earlier tests is held")
    with neighbour(server), contextlib.ExitStack() as stack:
        query = "channels=8&sample_rate=48000&encoding=linear16"
        sockets = [
            stack.enter_context(
                RawSocket.opened(server, f"/v1/listen?txn_id={consultation(server).id}&{query}", KEY))
            for _ in range(6)]
        with Readings(server) as alone:
            sockets[0].send_frames_aside(*[(2, bytes(message))] * 56, PING)
            wait_until(lambda: understood(sockets[0]), "14 MB of silence were heard")
        with Readings(server) as together:
            for raw in sockets[1:]:
                raw.send_frames_aside(*[(2, bytes(message))] * 24)
            wait_until(lambda: together.held > budget / 2 - 1_000_000, "the business holds its half")
            assert {raw.closed_with(0.01) for raw in sockets} <= {None, 1013}
    # A message counts twice while its audio waits for room: as a message, and as audio.
    assert 4 * MEGABYTE < alone.held <= 12 * MEGABYTE + 2 * message + NEIGHBOUR
    assert together.held <= budget / 2 + NEIGHBOUR


def test_answers_about_long_documents_do_not_read_their_texts(tmp_path):
    text, count = "no fever " * 100_000, 20
    data = ("--data-dir", str(tmp_path / "data"))
    with running(tmp_path, *data) as server:
        client = SessionClient(server.base_url)
        sessions = [client.create(templates=["soap"])["session_id"] for _ in range(2)]
        for number in range(count):
            document = {"session_id": sessions[0], "document_name": f"letter {number}", "markdown_data": text}
            saved = client.session.post(f"{server.base_url}/voice/api/v1/documents", json=document)
            assert saved.status_code == 201, saved.text
        for session in sessions:
            client.upload(session, 0, recording(1))
            client.end(session, 1)
            assert client.results(session)["status"] == "completed"
    # The memory of a server that has not received the documents.
    with running(tmp_path, *data) as server:
        client = SessionClient(server.base_url)
        for session in reversed(sessions):
            before = server.memory("VmRSS")
            answer = requests.get(
                f"{server.base_url}/voice/api/v1/documents", params={"session_id": session},
                headers=client.session.headers)
            assert answer.status_code == 200 and len(answer.content) < 100_000
            assert client.results(session)["status"] == "completed"
            growth = server.memory("VmHWM") - before
        assert len(answer.json()["data"]) > count
    assert growth < len(text) * count / 4


def test_documents_that_the_client_does_not_read_cost_one_piece_each(served):
    server = served(*SCARCE)
    paths = ["/openapi.yaml", "/openapi.json", "/openapi/eka.yaml"]
    for path in paths:
        assert len(requests.get(f"{server.base_url}{path}").content) > 100_000
    server.forget_peak()
    before = server.memory("VmRSS")
    with contextlib.ExitStack() as stack:
        for path in paths * 100:
            raw = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            raw.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            # The answer has begun.
            assert raw.recv(10, socket.MSG_PEEK) == b"HTTP/1.1 2"
        assert server.memory("VmHWM") - before < 300 * 100_000


def test_lists_that_the_client_does_not_read_stay_within_the_budget(served):
    """Lists whose rows are long: history, sections, templates and memories, twenty readers of each."""
    server = served(*SCARCE)
    token = SessionClient(server.base_url).session.headers["Authorization"]
    headers = {"Authorization": token}
    api = f"{server.base_url}/voice/api/v1/template"
    for number in range(120):
        body = {"title": f"s{number}", "desc": "d" * 15_000, "example": "e" * 15_000}
        assert requests.post(f"{api}/section", json=body, headers=headers).status_code == 201
        details = {"patient_details": {"notes": "n" * 60_000}, "mode": "consultation", "transfer": "vaded"}
        init = {**details, "s3_url": f"s3://m-prod-voice-record/261126/i-{number}"}
        answer = requests.post(
            f"{server.base_url}/voice/api/v2/transaction/init/i-{number}", json=init, headers=headers)
        assert answer.status_code == 201, answer.text
    server.forget_peak()
    before = server.memory("VmRSS")
    paths = [
        "/voice/api/v2/transaction/history", "/voice/api/v1/template/section", "/voice/api/v1/template",
        "/v3/memories"]
    with contextlib.ExitStack() as stack, Readings(server) as readings:
        for path in paths * 20:
            raw = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            raw.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {token}\r\n\r\n".encode())
        wait_until(lambda: readings.answers > 50, "the server answers meanwhile")
        assert readings.held > 1_000_000
        assert readings.held <= 64_000_000
    assert server.memory("VmHWM") - before < 300_000_000
    wait_until(lambda: server.metric(HELD) < 10_000, "nothing of the readers is held")
    assert requests.get(f"{server.base_url}{paths[0]}?count=3", headers=headers).json()["retrieved_count"] == 3
