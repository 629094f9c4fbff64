"""What clients may have held for them: every way in has its part of one budget,
and a second business gets on meanwhile."""

import base64
import contextlib
import json
import os
import pathlib
import re
import subprocess

import pytest
import requests
from device_client import Device
from emulator import SHORT, wait_until
from every_field.operations import OPERATIONS
from every_field.tenants import Exchange, Tenant
from listen_client import consultation
from namespaces import control
from socket_doors import DOORS, KEY, MEGABYTE, SAMPLES, largest
from websocket_driver import RawSocket


@pytest.fixture(scope="module")
def server(patient):
    return patient


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


#: Statuses of operations that refuse a body of a megabyte: it is too long, has too many items, a text that is too long
#: or an unknown member, or is no audio. Without a file the endpoint of recordings wants a form.
REFUSED = {
    "login": 413, "loginFromPage": 413, "refreshToken": 413, "refresh": 413, "refreshDesktop": 413, "logout": 413,
    "finishDeviceLogin": 413, "approveDevice": 413, "editResults": 400, "transcribeText": 422, "patchSession": 422,
    "recogniseRecording": 400, "uploadAmbientAudio": 400, "uploadRecording": 400,
}


@pytest.fixture(scope="module")
def tenant(served, tmp_path_factory):
    server = served(*SHORT)
    control(server, "POST", "reset").raise_for_status()
    return Tenant(server, "dev-client", "dev-secret", "first", tmp_path_factory.mktemp("operations"))


@pytest.mark.parametrize(
    "operation", [each for each in OPERATIONS if each.takes_body], ids=lambda operation: operation.id)
def test_a_body_of_a_megabyte_blocks_no_event_loop(tenant, operation):
    """The server aborts where one would. A long text, many objects and many words come beside an example's members."""
    third = MEGABYTE // 3 - 400
    more = {"x": "y" * third, "items": [{"a": 1}] * (third // 10), "text": "no pain " * (third // 8)}
    exchange = Exchange(tenant, operation)
    body = json.dumps(more).encode()
    if operation.schema:
        good = exchange.good_body()
        body = good | more if isinstance(good, dict) else good * (MEGABYTE // len(json.dumps(good)))
    answer = exchange.send(body)
    assert answer.status_code in operation.responses
    if operation.id in REFUSED:
        assert answer.status_code == REFUSED[operation.id], answer.text[:500]
    else:
        assert answer.ok, answer.text[:500]


def blocked_answers(server) -> int:
    """Connections with bytes that the system cannot send, because the client reads nothing."""
    count = 0
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, queues, *_ = line.split()
        count += local.endswith(f":{server.port:04X}") and state == "01" and not queues.startswith("00000000:")
    return count


def test_pictures_are_sent_in_parts(server):
    """Two dozen pictures, in a list that no client reads, forty times."""
    with Device(server) as owner:
        owner.ready()
        pictures = [base64.b64encode(os.urandom(210_000)).decode() for _ in range(24)]
        for number, picture in enumerate(pictures):
            owner.send({"type": "image_chunk", "id": f"p{number}", "index": 0, "total": 1, "data": picture})
            owner.event("photo_described")
            owner.events.clear()
        path = f"{server.base_url}/v1/conversations?limit=1000&statuses=in_progress"
        server.forget_peak()
        before = server.memory("VmRSS")
        held = [requests.get(path, headers=owner.headers, stream=True) for _ in range(40)]
        wait_until(lambda: blocked_answers(server) == 40, "no client takes more")
        for answer in held:
            answer.close()
        [conversation] = requests.get(path, headers=owner.headers).json()
        assert [photo["base64"] for photo in conversation["photos"]] == pictures
        photos = requests.get(f"{server.base_url}/v1/conversations/{conversation['id']}/photos", headers=owner.headers)
        assert [photo["base64"] for photo in photos.json()] == pictures
        one = requests.get(f"{server.base_url}/v1/conversations/{conversation['id']}", headers=owner.headers).json()
        assert one == conversation
        # At most so far: all forty answers are 270 MB.
        assert server.memory("VmHWM") - before < 100 * MEGABYTE


class Decoder:
    """The ffmpeg process of a server that decodes one stream."""

    def __init__(self, server):
        self.folder = wait_until(lambda: self.process_of(server), "the server decodes")

    @staticmethod
    def process_of(server) -> pathlib.Path | None:
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            # A process may end meanwhile.
            with contextlib.suppress(OSError):
                parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
                if parent == server.process.pid and (folder / "comm").read_text() == "ffmpeg\n":
                    return folder
        return None

    def written(self) -> int:
        """Bytes that were written so far. Raises an error if the process has ended."""
        return int(re.search(r"^wchar: (\d+)$", (self.folder / "io").read_text(), re.MULTILINE)[1])


def test_six_hours_of_silence_in_50_kilobytes_fill_no_disk(server, tmp_path):
    """The samples are 690 MB. Beyond 32 MB, and 200 bytes for each byte, the server takes four times real time."""
    silence = tmp_path / "silence.flac"
    source = "anullsrc=channel_layout=mono:sample_rate=8000"
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-t", "21600", "-frame_size", "65535", str(silence)],
        check=True)
    free = 32 * MEGABYTE + 200 * silence.stat().st_size
    assert free < 50 * MEGABYTE
    transaction = consultation(server)
    wait_until(lambda: Decoder.process_of(server) is None, "no stream of another test is decoded")
    server.forget_peak()
    before = server.memory("VmRSS")

    def all_stored() -> int:
        total = 0
        for file in (server.folder / "temporary").rglob("*"):
            # The server removes files meanwhile.
            with contextlib.suppress(FileNotFoundError):
                total += file.stat().st_size if file.is_file() else 0
        return total

    earlier = all_stored()

    def stored() -> int:
        return all_stored() - earlier

    def is_braked() -> bool:
        count = decoder.written()
        for _ in range(10):
            assert requests.get(f"{server.base_url}/livez").status_code == 200
        return count >= free and decoder.written() == count

    with RawSocket.opened(server, f"/v1/listen?txn_id={transaction.id}", KEY) as raw:
        raw.send_frame(2, silence.read_bytes())
        decoder = Decoder(server)
        wait_until(is_braked, "the server answers ten requests while it takes no samples")
        assert decoder.written() < 100 * MEGABYTE
        wait_until(lambda: stored() > 2 * MEGABYTE, "the free part is stored")
        assert stored() < 100 * MEGABYTE
        assert server.memory("VmHWM") - before < 150 * MEGABYTE
