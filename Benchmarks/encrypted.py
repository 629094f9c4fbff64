"""Measures the port for TLS beside nginx with the same certificate: encrypted.py BINARY WORK_FOLDER"""

import json
import os
import pathlib
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import time

from bench_table import print_table
from messages import Client, EXAMPLE_KEYS, Message, Uploads, write_scenarios
from servers import EncryptedScribe, Nginx, Process

ROUNDS = 5
SECONDS = 15
IDLE = 500


def replay(port: str, server: Process, clients: int, scenarios, body: bytes = b"") -> dict:
    """Sends the scenarios; what it took, with the CPU seconds of the server among it."""
    (WORK / "body").write_bytes(body)
    write_scenarios(WORK / "requests", scenarios)
    os.sync()
    before = server.cpu_seconds()
    program = [WORK / "replay", port, str(clients), str(SECONDS), WORK / "requests", WORK / "body"]
    taken = json.loads(
        subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True, timeout=SECONDS + 60).stdout)
    return taken | {"cpu": 1000 * (server.cpu_seconds() - before) / taken["scenarios"]}


def rate(taken: dict) -> float:
    return taken["scenarios"] / taken["seconds"]


def median(taken: list[dict], of) -> float:
    return statistics.median(map(of, taken))


def compare(name: str, goal: float | None, ours: list[dict], theirs: list[dict], unit: str):
    ratio = statistics.median(rate(our) / rate(their) for our, their in zip(ours, theirs))
    return {
        "over TLS 1.3": name,
        "result":
            f"{median(ours, rate):.0f} {unit} ({median(ours, lambda t: t['cpu']):.2f} ms CPU each); "
            f"{ratio:.2f} of nginx",
        "goal": f"≥ {goal} of nginx" if goal else "",
        "met": "" if goal is None else "yes" if ratio >= goal else "no",
        "beside it, this run": f"nginx {median(theirs, rate):.0f} {unit} ({median(theirs, lambda t: t['cpu']):.2f} ms)",
    }


def get(path: str, closes=False) -> Message:
    close = "Connection: close\r\n" if closes else ""
    return Message(200, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{close}\r\n".encode())


def idle_memory(server: Process, port: int, encrypted: bool) -> float:
    """KB for each of many connections that have asked once."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    before, connections = server.memory("VmRSS"), []
    for _ in range(IDLE):
        connection = socket.create_connection(("127.0.0.1", port))
        connections.append(context.wrap_socket(connection) if encrypted else connection)
        connections[-1].sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connections[-1].recv(4096)
    time.sleep(1)
    after = server.memory("VmRSS")
    for connection in connections:
        connection.close()
    return 1024 * (after - before) / IDLE


def main():
    body = os.urandom(1_000_000)
    puts: dict[str, list[dict]] = {"server": [], "nginx": []}
    polls: dict[str, list[dict]] = {"server": [], "nginx": []}
    handshakes: dict[str, list[dict]] = {"server": [], "nginx": []}
    first = EncryptedScribe(WORK / "first", BINARY)
    with first as server:
        plain, encrypted = (
            idle_memory(server, port, is_tls) for port, is_tls in [(server.port, False), (server.tls_port, True)])
    for _ in range(ROUNDS):
        for name in puts:
            is_ours = name == "server"
            peer = EncryptedScribe(WORK / "puts", BINARY) if is_ours else Nginx(WORK / "nginx", first.keys)
            with peer as server:
                port = f"tls:{server.tls_port}"
                keys = Client(server.url).keys if is_ours else EXAMPLE_KEYS
                uploads = Uploads(server.url, keys, len(body))
                status = 200 if is_ours else 201
                for count in (50, 200):
                    scenarios = ([uploads.put(f"bench/{count}-{n}.wav", status)] for n in range(count))
                    taken = replay(port, server, 8, scenarios, body)
                puts[name].append(taken)
                if is_ours:
                    client = Client(server.url)
                    transaction = "i-tls"
                    subprocess.run([WORK / "replay", str(server.port), "1", "60", *one(client, server)], check=True,
                                   stdout=subprocess.DEVNULL)
                    question = client.status(transaction)
                    path = "/livez"
                else:
                    (server.files / "answer").write_bytes(bytes(1500))
                    question = get("/answer")
                    path = "/answer"
                polls[name].append(replay(port, server, 32, ([question] for _ in range(20_000))))
                handshakes[name].append(replay(port, server, 8, ([get(path, closes=True)] for _ in range(1500))))
            shutil.rmtree(peer.folder)
    rows = [
        compare("PUT of 1 MB, 8 clients, signature verified", 0.8, puts["server"], puts["nginx"], "MB/s"),
        compare("status of a finished transaction, 32 clients (nginx: a file of that size)", 0.5,
                polls["server"], polls["nginx"], "/s"),
        compare("a handshake and one GET, 8 clients", None, handshakes["server"], handshakes["nginx"], "/s"),
        {"over TLS 1.3": f"memory of an idle connection, of {IDLE}", "result": f"{encrypted:.0f} KB", "goal": "",
         "met": "", "beside it, this run": f"plain HTTP {plain:.0f} KB"},
    ]
    print_table(rows)


def one(client: Client, server: Process) -> list:
    """The files of one consultation that is done in the end."""
    from bench import recording  # the same as over plain HTTP

    chunk = recording(50_000)
    (WORK / "chunk").write_bytes(chunk)
    uploads = Uploads(server.url, client.keys, len(chunk))
    write_scenarios(WORK / "consultation", iter([client.consultation("i-tls", uploads, 1.56, 5)]))
    return [WORK / "consultation", WORK / "chunk"]


if __name__ == "__main__":
    BINARY, WORK = sys.argv[1], pathlib.Path(sys.argv[2])
    main()
