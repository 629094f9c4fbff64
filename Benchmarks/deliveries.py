"""Measures what ten thousand deliveries to ten receivers take, one of them dead: deliveries.py BINARY WORK_FOLDER

A thousand sessions are begun, and ten webhooks are told of each. The receivers are one process on the same machine.
"""

import asyncio
import json
import multiprocessing
import pathlib
import sys
import threading
import time
import urllib.request

from bench_table import print_table
from servers import Scribe

SESSIONS = 1000
RECEIVERS = 10
CLIENTS = 16


class Receiver(asyncio.Protocol):
    """Acknowledges every message, and counts."""

    def __init__(self, count):
        self.count = count
        self.data = b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.data += data
        head, _, body = self.data.partition(b"\r\n\r\n")
        size = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), None)
        if size is not None and len(body) >= size:
            self.count()
            self.data = body[size:]
            self.transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")


def receive(ports, counts, times):
    async def run():
        loop = asyncio.get_running_loop()
        servers = []
        for index in range(RECEIVERS):
            def count(index=index):
                counts[index] += 1
                times[index] = time.time()
            servers.append(await loop.create_server(lambda count=count: Receiver(count), "127.0.0.1", 0))
        ports.send([server.sockets[0].getsockname()[1] for server in servers])
        await asyncio.Event().wait()

    asyncio.run(run())


def main(binary: str, work: pathlib.Path):
    rows = []
    for dead in (0, 1):
        ours, theirs = multiprocessing.Pipe()
        counts, times = multiprocessing.Array("q", RECEIVERS), multiprocessing.Array("d", RECEIVERS)
        process = multiprocessing.Process(target=receive, args=(theirs, counts, times), daemon=True)
        process.start()
        ports = ours.recv()
        with Scribe(work / f"deliveries-{dead}", binary, "--webhook-pauses", "1h") as server:
            headers = {}

            def post(path: str, body: dict) -> dict:
                request = urllib.request.Request(server.url + path, json.dumps(body).encode(), headers)
                return json.loads(urllib.request.urlopen(request).read())

            login = {"client_id": "dev-client", "client_secret": "dev-secret"}
            headers["Authorization"] = f"Bearer {post('/connect-auth/v1/account/login', login)['access_token']}"
            for index, port in enumerate(ports):
                # Nobody listens at the last one's port when it is dead.
                where = 81 if dead and index == RECEIVERS - 1 else port
                events = {"url": f"http://127.0.0.1:{where}/", "events": ["session.started"], "secret": "key"}
                post("/voice/v1/webhooks", events)
            before, begun = server.cpu_seconds(), time.time()

            def begin(first: int):
                for number in range(first, SESSIONS, CLIENTS):
                    post(f"/voice/api/v2/transaction/init/{number}", {"transfer": "vaded", "s3_url": f"s3://b/{number}"})

            threads = [threading.Thread(target=begin, args=(first,)) for first in range(CLIENTS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            init = time.time() - begun
            alive = RECEIVERS - dead
            deadline = time.time() + 300
            while sum(counts) < alive * SESSIONS:
                if time.time() > deadline:
                    sys.exit(f"{sum(counts)} of {alive * SESSIONS} messages came in five minutes")
                time.sleep(0.01)
            took = max(times[:alive]) - begun
            cpu = server.cpu_seconds() - before
        process.terminate()
        what = f"{SESSIONS:,} sessions told to {RECEIVERS} receivers" + (", one of them dead" if dead else "")
        rows.append({
            "what": what, "rate": f"{alive * SESSIONS / took:,.0f}/s",
            "the last one is heard":
                f"{took:.1f} s after the first session was begun, {took - init:.1f} s after the last",
            "CPU each, inits included": f"{cpu / (alive * SESSIONS) * 1000:.2f} ms",
        })
    print_table(rows)


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
