"""Measures how long the server holds an event loop while it understands the longest message of each door.

`soak_memory.py` and `Benchmarks/loops.py` use it. It asserts no time.
"""

import json
import socket
import subprocess
import sys
import time

import requests
from emulator import PATIENCE, wait_until
from session_client import SessionClient
from socket_doors import DOORS, MEGABYTE, largest, listen

#: Keeps sockets open that send nothing for a while.
FLAGS = ("--listen-idle", "1h", "--omi-idle", "1h")
#: Seconds to measure after the last answer: the server stores what it took.
AFTERWARDS = 1
#: Largest configuration, in bytes.
CONFIGURATION = 8 * MEGABYTE

#: Program of the probe: a process of its own, so that a busy client of the test delays no request. Each request is on
#: a new connection, which must be accepted first. It prints a line when it has begun, and ends with its standard input.
PROBE = """
import select, socket, struct, sys, time
port = int(sys.argv[1])
longest, count = 0.0, 0
while True:
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        # No connection of the probe waits in the system after its end: there would be too many.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.sendall(b"GET /livez HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
        if not connection.recv(4096):
            sys.exit("the server closed a connection")
        longest = max(longest, time.monotonic() - began)
    count += 1
    if count == 1:
        longest = 0.0
        print("begun", flush=True)
    if select.select([sys.stdin], [], [], 0)[0]:
        break
print(longest * 1000, count)
"""


class Probe:
    """Sends short requests, one at a time, for the time of a `with`. Then it knows the longest answer time."""

    def __init__(self, server):
        self.port = server.port
        #: Longest answer time in milliseconds.
        self.longest = 0.0
        #: Number of requests.
        self.count = 0

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROBE, str(self.port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "begun\n"
        return self

    def __exit__(self, *failure):
        time.sleep(0 if failure[0] else AFTERWARDS)
        told, _ = self.process.communicate(timeout=PATIENCE)
        if failure[0]:
            return
        assert self.process.returncode == 0, "the probe has failed"
        self.longest, self.count = float(told.split()[0]), int(told.split()[1])


def send_longest(server, door):
    """Sends the longest messages of a door, each after the server understood the one before or closed the socket."""
    raw, _, _ = door(server)
    messages = [(1, text.encode()) for text in largest(door)]
    if door is listen:
        messages.append((2, b"\x12\x34" * (8 * MEGABYTE - 1)))
    for number, (opcode, message) in enumerate(messages):
        raw.send_frame(opcode, message)
        alive = f"alive-{number}".encode()
        raw.send_frame(9, alive)
        wait_until(lambda: raw.closed_with() is not None or alive in raw.received, f"message {number} was understood")
    raw.connection.close()


def send_configuration(server):
    """Writes and reads the largest configuration."""
    client = SessionClient(server.base_url)
    address = f"{server.base_url}/voice/api/v2/config"
    picture = json.dumps({"data": {"picture": "A" * (CONFIGURATION - 100)}})
    written = client.session.put(address, data=picture, headers={"Content-Type": "application/json"}, timeout=PATIENCE)
    assert written.ok, written.text
    assert client.session.get(address, timeout=PATIENCE).ok


def count_by_stars(server):
    """Asks for the requests with a body that a pattern of many stars fits, of a journal full of long bodies, by
    clients that leave at once."""
    for number in range(200):
        requests.post(f"{server.base_url}/connect-auth/v1/account/login", data="a" * 60_000 + str(number))
    body = json.dumps({"body": "*a" * 500 + "*b"})
    head = f"POST /__admin/requests/count HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
    for _ in range(4):
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall((head + body).encode())


def probe_doors(server):
    """Yields for each door what was sent, the longest hold of an event loop in milliseconds,
    and the number of requests."""
    with Probe(server) as probe:
        time.sleep(AFTERWARDS)
    yield "nothing", probe.longest, probe.count
    for door in DOORS:
        with Probe(server) as probe:
            send_longest(server, door)
        yield f"longest messages of {door.__name__}", probe.longest, probe.count
    with Probe(server) as probe:
        count_by_stars(server)
    yield "four counts by a pattern, whose clients leave", probe.longest, probe.count
    with Probe(server) as probe:
        send_configuration(server)
    yield "configuration of 8 MB, written and read", probe.longest, probe.count
