"""As much as one business can have held for it, at every door at once: the process stays small, and another business
records.

`make soak` runs it with a release build (SCRIBE_BINARY), for a debug build is slow at such lengths."""

import os
import socket
import threading
import time

import requests
from device_client import Device, token_of
from emulator import PATIENCE, running
from loop_probe import FLAGS, probe_doors
from session_client import SessionClient, recording
from suki_client import SukiClient
from socket_doors import KEY, MEGABYTE, SAMPLES
from websocket_driver import RawSocket

SOCKETS = 200


def test_one_business_using_every_family_leaves_the_process_small(tmp_path):
    with running(tmp_path, "--ephemeral", *FLAGS, "--request-timeout", "60s") as server:
        client, suki = SessionClient(server.base_url), SukiClient(server.base_url)
        suki.initialize()
        bearer = f"Authorization: Bearer {token_of('somebody')}"
        with Device(server, user="reader") as owner:
            owner.ready()
            for number in range(24):
                picture = {"type": "image_chunk", "id": f"p{number}", "index": 0, "total": 1, "data": "QUJD" * 70_000}
                owner.send(picture)
                owner.event("photo_described")
                owner.events.clear()
        before = server.memory("VmRSS")
        largest, done = [0], threading.Event()

        def watch():
            while not done.wait(0.05):
                largest[0] = max(largest[0], server.memory("VmRSS"))

        watcher = threading.Thread(target=watch)
        watcher.start()
        sockets, threads = [], []

        def hold(raw: RawSocket, opcode: int, size: int):
            raw.connection.settimeout(15)
            try:
                raw.send_frame(opcode, b" " * (size - 1), claimed=size)
            except OSError:
                return

        def opened(door: int) -> tuple[RawSocket, int, int]:
            if door == 0:
                return RawSocket.opened(server, f"/v1/listen?{SAMPLES}", KEY), 2, 16 * MEGABYTE
            if door == 1:
                url = client.create(upload_type="stream")["upload_url"]
                return RawSocket.opened(server, "/" + url.split("/", 3)[3]), 1, 16 * MEGABYTE
            if door == 2:
                return RawSocket.opened(server, "/v4/listen?codec=pcm16&sample_rate=16000", bearer), 1, MEGABYTE
            session = f"ambient_session_id: {suki.create_session()}"
            return RawSocket.opened(
                server, "/ws/stream", f"sdp_suki_token: {suki.sdp_suki_token}", session), 1, MEGABYTE

        for number in range(4 * SOCKETS):
            raw, opcode, size = opened(number % 4)
            sockets.append(raw)
            threads.append(threading.Thread(target=hold, args=(raw, opcode, size)))
            threads[-1].start()
        strangers = [RawSocket.opened(server, "/v4/web/listen") for _ in range(SOCKETS)]
        for stranger in strangers:
            hold(stranger, 1, 4 << 10)
        readers = []
        for _ in range(40):
            reader = socket.create_connection(("127.0.0.1", server.port))
            path = "/v1/conversations?limit=1000&statuses=in_progress,completed"
            reader.sendall(
                f"GET {path} HTTP/1.1\r\nHost: localhost\r\n"
                f"Authorization: Bearer {token_of('reader')}\r\n\r\n".encode())
            readers.append(reader)
        began = time.monotonic()
        other = SessionClient(server.base_url, "dev-client-2", "dev-secret-2")
        session = other.create(templates=["soap"])["session_id"]
        for number in range(3):
            other.upload(session, number, recording(10))
        other.end(session, 3)
        assert other.results(session)["status"] == "completed"
        recorded = time.monotonic() - began
        for thread in threads:
            thread.join(PATIENCE)
        closed = sum(raw.closed_with() is not None for raw in sockets)
        done.set()
        watcher.join()
        print(
            f"\n{len(sockets)} sockets, {closed} of them closed; "
            f"{before >> 20} MB before, {largest[0] >> 20} MB at most; "
            f"another business's consultation took {recorded:.2f} s; {os.getloadavg()[0]:.1f} load")
        assert largest[0] < 500 * MEGABYTE
        assert requests.get(f"{server.base_url}/livez").status_code == 200


def test_the_longest_hold_of_an_event_loop_is_printed_for_each_route(tmp_path):
    """Prints the longest hold for each door. `make bench` prints the same."""
    with running(tmp_path, "--ephemeral", *FLAGS) as server:
        for what, longest, count in probe_doors(server):
            print(f"\n{what}: {longest:.1f} ms at most, of {count} requests")
