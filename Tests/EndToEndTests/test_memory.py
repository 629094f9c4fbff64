"""What clients may have held for them: every way in has its part of one budget, and a second business gets on meanwhile."""

import base64
import contextlib
import json
import os
import re
import subprocess
import time

import pytest
import requests
import yaml
from device_client import Device
from emulator import PATIENCE, ROOT, running, state_folder, wait_until
from listen_client import consultation
from session_client import SessionClient, recording
from socket_doors import DOORS, KEY, MEGABYTE, SAMPLES, largest, listen, stream
from suki_client import SukiClient
from websocket_driver import RawSocket


def test_unfinished_messages_are_held_within_the_memory_budget(tmp_path):
    """At whichever door: a second business records meanwhile, and whoever finds no room is told to come back."""
    first = []
    with running(tmp_path, "--ephemeral", "--memory-budget", "16MB", "--listen-idle", "1h") as server:
        held = 4 * 3_500_000
        for _ in range(4):
            raw, opcode, _ = listen(server)
            raw.send_frame(opcode, b" " * (held // 4 - 1), claimed=held // 4)
            first.append(raw)
        wait_until(lambda: server.metric("scribe_memory_held_bytes") > held - 100_000, "all of it is held")
        # Of fourteen megabytes less than one is left: no door has room for its largest message.
        late = [door(server) for door in DOORS]
        for raw, opcode, _ in late:
            raw.send_frame_aside(opcode, b" " * (MEGABYTE - 1), claimed=MEGABYTE)
        other = SessionClient(server.base_url, "dev-client-2", "dev-secret-2")
        session = other.create(templates=["soap"])["session_id"]
        other.upload(session, 0, recording(1))
        other.end(session, 1)
        assert other.results(session)["status"] == "completed"
        for door, (raw, _, _) in zip(DOORS, late):
            assert wait_until(raw.closed_with, f"{door.__name__}: who found no room is told so") == 1013
        assert [raw.closed_with() for raw in first] == [None] * 4
        assert requests.get(f"{server.base_url}/livez").status_code == 200


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("memory"), "--ephemeral", "--listen-idle", "1h", "--omi-idle", "1h") as server:
        yield server


@pytest.mark.parametrize("door", DOORS)
def test_the_longest_text_of_a_socket_blocks_no_event_loop(server, door):
    """The server ends where one would: it is asked to."""
    raw, _, _ = door(server)
    for number, text in enumerate(largest(door)):
        raw.send_frame(1, text.encode())
        alive = f"alive-{number}".encode()
        raw.send_frame(9, alive)
        wait_until(lambda: raw.closed_with() is not None or alive in raw.received, f"text {number} was understood")
    assert requests.get(f"{server.base_url}/livez").status_code == 200


def test_the_longest_audio_message_blocks_no_event_loop(server):
    for query in [SAMPLES, "encoding=mulaw&sample_rate=8000", f"{SAMPLES}&channels=8&multichannel=true"]:
        raw = RawSocket.opened(server, f"/v1/listen?{query}", KEY)
        raw.send_frame(2, b"\x12\x34" * (MEGABYTE))
        raw.send_frame(9, b"alive")
        wait_until(lambda: b"alive" in raw.received or raw.closed_with(), "it was heard")
    assert requests.get(f"{server.base_url}/livez").status_code == 200


def operations():
    document = yaml.safe_load((ROOT / "openapi/scribe.yaml").read_text())
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if isinstance(operation, dict) and "requestBody" in operation:
                yield method, re.sub(r"\{[^}]*\}", "t", path)


def test_a_body_of_a_megabyte_blocks_no_event_loop_in_any_operation(server):
    client = SessionClient(server.base_url)
    suki = SukiClient(server.base_url)
    suki.initialize()
    client.session.headers["sdp_suki_token"] = suki.sdp_suki_token
    bodies = [
        json.dumps({"x": "y" * (MEGABYTE - 20)}), json.dumps([{"a": 1}] * (MEGABYTE // 12)),
        json.dumps({"text": "no pain " * (MEGABYTE // 9), "transcript": "so " * 10}),
    ]
    count = 0
    for method, path in operations():
        for body in bodies:
            answer = client.session.request(
                method, server.base_url + path, data=body, headers={"Content-Type": "application/json"}, timeout=PATIENCE)
            assert answer.status_code < 500 or answer.status_code == 503, (method, path, answer.status_code)
            count += 1
    assert count > 100


def test_pictures_are_sent_in_parts(server):
    """Two dozen of them, in a list that nobody reads, forty times."""
    with Device(server) as owner:
        owner.ready()
        pictures = [base64.b64encode(os.urandom(210_000)).decode() for _ in range(24)]
        for number, picture in enumerate(pictures):
            owner.send({"type": "image_chunk", "id": f"p{number}", "index": 0, "total": 1, "data": picture})
            owner.event("photo_described")
            owner.events.clear()
        path = f"{server.base_url}/v1/conversations?limit=1000&statuses=in_progress"
        before = server.memory("VmRSS")
        held = [requests.get(path, headers=owner.headers, stream=True) for _ in range(40)]
        time.sleep(1)
        assert server.memory("VmRSS") - before < 100 * MEGABYTE
        for answer in held:
            answer.close()
        [conversation] = requests.get(path, headers=owner.headers).json()
        assert [photo["base64"] for photo in conversation["photos"]] == pictures
        photos = requests.get(f"{server.base_url}/v1/conversations/{conversation['id']}/photos", headers=owner.headers)
        assert [photo["base64"] for photo in photos.json()] == pictures
        one = requests.get(f"{server.base_url}/v1/conversations/{conversation['id']}", headers=owner.headers).json()
        assert one == conversation


def test_an_hour_of_silence_in_a_hundred_kilobytes_fills_no_disk(tmp_path):
    """Eight channels of 48 kHz are 2.8 GB. What is far more than came is taken at four times real time."""
    silence = tmp_path / "silence.flac"
    source = "anullsrc=channel_layout=7.1:sample_rate=48000"
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-t", "1800", str(silence)], check=True)
    with running(tmp_path, "--data-dir", str(tmp_path / "data"), "--listen-idle", "1h") as server:
        transaction = consultation(server)
        raw = RawSocket.opened(server, f"/v1/listen?channels=8&txn_id={transaction.id}", KEY)
        before = server.memory("VmRSS")
        raw.send_frame(2, silence.read_bytes())

        def stored() -> int:
            with contextlib.suppress(FileNotFoundError):
                objects = state_folder(tmp_path / "data") / "objects"
                return sum(file.stat().st_size for file in objects.rglob("*") if file.is_file())
            return 0

        wait_until(lambda: stored() > 2 * MEGABYTE, "what is free was stored")
        time.sleep(4)
        assert stored() < 100 * MEGABYTE
        assert server.memory("VmRSS") - before < 150 * MEGABYTE


def test_a_stream_without_audio_is_closed(tmp_path):
    with running(tmp_path, "--ephemeral", "--stream-idle", "500ms") as server:
        raw, _, _ = stream(server)
        raw.send_frame(2, b"\1\0" * 100)
        deadline = time.monotonic() + PATIENCE
        while raw.closed_with() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                raw.send_frame(9, b"here")
        assert raw.closed_with() == 1001
