"""Memory that many sockets and long results take: bounded by the memory budget, whatever a business sends."""

import base64
import contextlib
import json
import threading

import requests
from device_client import token_of
from emulator import PATIENCE, running, wait_until
from listen_client import consultation
from session_client import SessionClient, recording
from socket_doors import KEY, MEGABYTE, stream
from websocket_driver import RawSocket

HELD = "scribe_memory_held_bytes"
#: Bytes that another business holds, so that no business may have more than half of the budget.
NEIGHBOUR = 100_000


class Readings:
    """Reads the held bytes and the process's memory for the time of a `with`, each time over a new connection."""

    def __init__(self, server):
        self.server = server
        #: Most bytes that were held, and most memory of the process.
        self.held, self.resident = 0.0, 0
        #: Requests that were answered.
        self.answers = 0

    def read(self):
        self.held = max(self.held, self.server.metric(HELD))
        self.resident = max(self.resident, self.server.memory("VmRSS"))
        self.answers += 1

    def __enter__(self):
        self.before = self.server.memory("VmRSS")
        self.done, self.failure = threading.Event(), None
        self.thread = threading.Thread(target=self._run)
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
                self.read()
        except Exception as failure:  # noqa: BLE001 (the test raises it)
            self.failure = failure

    @property
    def growth(self) -> int:
        return self.resident - self.before


@contextlib.contextmanager
def neighbour(server):
    """Another business, which holds part of a message."""
    client = SessionClient(server.base_url, "dev-client-2", "dev-secret-2")
    url = client.create(upload_type="stream")["upload_url"]
    raw = RawSocket.opened(server, "/" + url.split("/", 3)[3])
    raw.send_frame(2, b" " * NEIGHBOUR, claimed=NEIGHBOUR + 1)
    wait_until(lambda: server.metric(HELD) > NEIGHBOUR - 5000, "the other business holds its part")
    yield client
    assert raw.closed_with() is None
    raw.connection.close()


def test_unfinished_pictures_stay_within_the_half_of_a_business(tmp_path):
    """Twenty devices with four pictures each send five times as much as may be held."""
    budget, piece = 32_000_000, "A" * 900_000
    flags = ("--ephemeral", "--memory-budget", str(budget), "--omi-idle", "1h")
    with running(tmp_path, *flags) as server, neighbour(server) as other, Readings(server) as readings:
        devices = []
        for number in range(20):
            bearer = f"Authorization: Bearer {token_of(f'device-{number}')}"
            raw = RawSocket.opened(server, "/v4/listen?codec=pcm16&sample_rate=16000", bearer)
            pictures = [{"type": "image_chunk", "id": f"p{n}", "index": 0, "total": 2, "data": piece} for n in range(4)]
            raw.send_frames_aside(1, *(json.dumps(picture).encode() for picture in pictures))
            devices.append(raw)
        wait_until(lambda: readings.held > budget / 2 - 1_000_000, "the business holds its half")
        session = other.create(templates=["soap"])["session_id"]
        other.upload(session, 0, recording(1))
        other.end(session, 1)
        assert other.results(session)["status"] == "completed"
        wait_until(lambda: 1013 in [raw.closed_with() for raw in devices], "a device without room is told to come back")
        assert {raw.closed_with() for raw in devices} <= {None, 1013}
        for raw in devices:
            raw.connection.close()
        wait_until(lambda: server.metric(HELD) <= NEIGHBOUR, "all of it was given back")
    print(readings.held, readings.growth, readings.answers)
    assert readings.held <= budget / 2 + NEIGHBOUR


def test_long_json_texts_stay_within_the_budget_and_other_connections_are_answered(tmp_path):
    budget, sockets = 64_000_000, 6
    audio = base64.b64encode(b"\1\0" * 1_500_000).decode()
    text = json.dumps({"event": "media", "media": {"payload": audio}}).encode()
    with running(tmp_path, "--ephemeral", "--memory-budget", str(budget)) as server, neighbour(server):
        streams = [stream(server)[0] for _ in range(sockets)]
        with Readings(server) as readings:
            for raw in streams:
                raw.send_frames_aside(1, text, text)
            wait_until(lambda: readings.held > len(text), "a text is held")
            answers = readings.answers
            for raw in streams:
                raw.connection.settimeout(PATIENCE)
                while True:
                    pass
    assert readings.held <= budget / 2 + NEIGHBOUR
