"""Measures the server beside its peers, prints one table and writes it as JSON: bench.py BINARY WORK_FOLDER RESULT"""

import base64
import datetime
import io
import json
import math
import os
import pathlib
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
import wave

from bench_table import print_table
from messages import BUCKET, EXAMPLE_KEYS, Client, Uploads, send, write_scenarios
from servers import Moto, Nginx, Process, Recogniser, Scribe, busy_seconds

# What is compared takes turns, so that other work on the machine meets all of it alike.
ROUNDS = 5
# After these no request is begun: no part outlasts them by more than the requests that are on their way.
SECONDS = 15
MEGABYTE = 1_000_000
#: How long the recogniser takes that is not there.
SECONDS_A_CHUNK = 0.3

rows: list[dict] = []
details: dict[str, object] = {}
# How many cores the load generator, and everything else but the server, kept busy in each part.
client_load: list[float] = []
other_load: list[float] = []


def row(what: str, result: str, goal: str, met: bool, beside: str, quoted: str):
    """A line of the table. Goals and quoted numbers are those of the issue that asked for this."""
    rows.append({
        "what": what, "result": result, "goal": goal, "met": "yes" if met else "no", "beside it, this run": beside,
        "quoted": quoted,
    })


def replay(server: Process, clients: int, scenarios, body: bytes = b"") -> dict:
    """Sends the scenarios; what it took, with the CPU seconds of the server among it."""
    requests, body_file = WORK / "requests", WORK / "body"
    write_scenarios(requests, scenarios)
    body_file.write_bytes(body)
    os.sync()  # so that nobody pays for what another has written
    busy, before = busy_seconds(), server.cpu_seconds()
    program = [WORK / "replay", str(server.port), str(clients), str(SECONDS), requests, body_file]
    ended = subprocess.run(program, stdout=subprocess.PIPE, text=True, timeout=SECONDS + 60)
    if ended.returncode != 0:
        sys.exit(f"{type(server).__name__} did not take it")
    taken = json.loads(ended.stdout)
    used = server.cpu_seconds() - before
    client, seconds = taken["client_cpu_seconds"], taken["seconds"]
    others = max(0.0, (busy_seconds() - busy - used - client) / seconds)
    client_load.append(client / seconds)
    other_load.append(others)
    return taken | {"server_cpu_seconds": round(used, 3), "other_cores": round(others, 2)}


def per_second(taken: dict) -> float:
    return taken["scenarios"] / taken["seconds"]


def cpu_milliseconds(taken: dict) -> float:
    return 1000 * taken["server_cpu_seconds"] / taken["scenarios"]


def ratio(ours: list[dict], theirs: list[dict]) -> float:
    """Of the rates, round by round: what slows down one round slows down both."""
    return statistics.median(per_second(our) / per_second(their) for our, their in zip(ours, theirs))


def names(count: int) -> list[str]:
    return [f"i-{uuid.uuid4()}" for _ in range(count)]


def recording(size: int) -> bytes:
    """A WAV file of that many bytes: a tone, 16 kHz, 16 bit."""
    file = io.BytesIO()
    with wave.open(file, "wb") as audio:
        audio.setparams((1, 2, 16_000, 0, "NONE", ""))
        samples = (round(8000 * math.sin(position / 6)) for position in range((size - 44) // 2))
        audio.writeframes(b"".join(sample.to_bytes(2, "little", signed=True) for sample in samples))
    return file.getvalue()


def consult(server: Scribe, transactions: list[str], size=50_000, seconds=1.56, chunks=5) -> dict:
    chunk = recording(size)
    client = Client(server.url)
    uploads = Uploads(server.url, client.keys, len(chunk))
    return replay(server, 32, (client.consultation(name, uploads, seconds, chunks) for name in transactions), chunk)


def upload(server: Process, clients: int, body: bytes, count: int, status: int = 200, keys_made=names) -> dict:
    # Only ours looks at the signature.
    keys = Client(server.url).keys if isinstance(server, Scribe) else EXAMPLE_KEYS
    uploads = Uploads(server.url, keys, len(body))
    return replay(server, clients, ([uploads.put(f"bench/{name}.wav", status)] for name in keys_made(count)), body)


def poll(server: Scribe, transactions: list[str], count: int) -> dict:
    client = Client(server.url)
    polls = [client.status(name) for name in transactions]
    return replay(server, 32, ([polls[index % len(polls)]] for index in range(count)))


def init(server: Scribe, count: int) -> dict:
    client = Client(server.url)
    return replay(server, 32, ([client.init(name)] for name in names(count)))


def consultations(server: Scribe) -> list[str]:
    """Returns the transactions that are finished now."""
    consult(server, names(100))  # so that caches are filled and statements prepared
    transactions = names(1000)
    taken = consult(server, transactions)
    details["consultation"] = taken
    row(
        "consultation (init, 5 × 50 KB, stop, commit, done), 32 clients: server CPU each",
        f"{cpu_milliseconds(taken):.2f} ms; {per_second(taken):.0f}/s", "≤ 2.5 ms", cpu_milliseconds(taken) <= 2.5,
        "", "open FastAPI/Postgres backend: 126 ms, 7/s",
    )
    return transactions[: taken["scenarios"]]


def chunks(place: pathlib.Path, where: str, size: int, count: int, goal: float):
    """PUTs of so many bytes, by turns to the server and its peers, each time to one that has nothing yet."""
    body = os.urandom(size)
    taken: dict[str, list[dict]] = {"server": [], "nginx": []}

    def put(name: str, peer: Process, count: int, status: int = 200):
        with peer:
            if isinstance(peer, Moto):
                peer.create_bucket(BUCKET)
            upload(peer, 8, body, count // 2, status)
            taken.setdefault(name, []).append(upload(peer, 8, body, count, status))
        # On a disk what is deleted makes what is written next dearer: see Benchmarks/fresh.
        if where == "memory":
            shutil.rmtree(peer.folder)

    kilobytes = size // 1000
    for round in range(ROUNDS):
        put("server", Scribe(place / f"chunks-{kilobytes}-{round}", BINARY), count)
        put("nginx", Nginx(place / f"nginx-{kilobytes}-{round}"), count, 201)
        if size == MEGABYTE and where == "disk":
            # Fewer: it keeps them all in memory.
            put("moto", Moto(place / f"moto-{round}"), 60)
    details[f"chunk of {kilobytes} KB, {where}"] = taken
    rate = {name: statistics.median(map(per_second, rounds)) for name, rounds in taken.items()}
    cpu = {name: statistics.median(map(cpu_milliseconds, rounds)) for name, rounds in taken.items()}
    shown = {
        name: f"{rate[name] * size / 1e6:.0f} MB/s ({cpu[name]:.2f} ms CPU each)" for name in taken
    }
    to_nginx = ratio(taken["server"], taken["nginx"])
    to_moto = f", {ratio(taken['server'], taken['moto']):.1f} × moto" if "moto" in taken else ""
    row(
        f"chunk PUT {kilobytes} KB, {where}, 8 clients, new names, UNSIGNED-PAYLOAD, signature verified",
        f"{shown.pop('server')}; {to_nginx:.2f} of nginx{to_moto}", f"≥ {goal} of nginx", to_nginx >= goal,
        ", ".join(f"{name} {text}" for name, text in shown.items()), "",
    )


def memory():
    """64 clients at once, each with 10 MB, to a server that has done nothing before."""
    body = os.urandom(10 * MEGABYTE)
    with Scribe(WORK / "memory", BINARY) as server:
        taken = upload(server, 64, body, 64)
        peak = server.memory("VmHWM")
    details["memory"] = taken | {"peak_mb": round(peak, 1)}
    row(
        "peak memory, 64 clients uploading 10 MB each", f"{peak:.0f} MB", "≤ 100 MB", peak <= 100, "",
        "own write loop 87 MB, moto 1800 MB",
    )


def statuses(server: Scribe, transactions: list[str]):
    taken = poll(server, transactions, 20_000)
    details["status"] = taken
    row(
        "status GET of a finished transaction, 32 clients", f"{per_second(taken):.0f}/s", "≥ 8000/s",
        per_second(taken) >= 8000, "", "JSON echo 12–13 k/s, FastAPI without any work 11.6 k/s",
    )


def journal():
    """The same polls by turns, of servers with a full journal and of servers without.

    Each round has fresh servers: two processes of one binary differ by some percent, by where their memory lies.
    """
    rounds, taken = [], {"full": [], "off": []}
    for number in range(20):
        turns = {mode: [] for mode in taken}
        with Scribe(WORK / f"full-{number}", BINARY, "--journal", "full") as full, \
                Scribe(WORK / f"off-{number}", BINARY, "--journal", "off") as off:
            servers = {"full": full, "off": off}
            finished = {mode: names(20) for mode in servers}
            for mode, server in servers.items():
                consult(server, finished[mode])
                poll(server, finished[mode], 4000)
            for turn in range(4):
                for mode in list(servers)[:: -1 if turn % 2 else 1]:
                    turns[mode].append(poll(servers[mode], finished[mode], 5000))
        for mode in taken:
            taken[mode] += turns[mode]
            shutil.rmtree(servers[mode].folder)
        rounds.append(ratio(turns["full"], turns["off"]))
    share, spread = statistics.mean(rounds), statistics.stdev(rounds) / len(rounds) ** 0.5
    cost = (
        statistics.median(map(cpu_milliseconds, taken["full"]))
        - statistics.median(map(cpu_milliseconds, taken["off"])))
    details["journal"] = {**taken, "rounds": rounds}
    row(
        "status GET with a full journal, of the rate without",
        f"{100 * share:.1f} ± {100 * spread:.1f} % (server CPU +{1000 * cost:.1f} µs)", "> 95 %", share > 0.95, "", "",
    )


def inits(server: Scribe):
    """Distinct transactions, by turns with a loop that does nothing but store rows."""
    taken, raw = [], []
    for _ in range(ROUNDS):
        taken.append(init(server, 5000))
        seconds = subprocess.check_output([WORK / "store", WORK / "store.sqlite", "20000"], text=True, timeout=60)
        raw.append(20_000 / float(seconds))
    details["init"] = {"server": taken, "raw_sqlite_per_second": [round(rate) for rate in raw]}
    rate, peer = statistics.median(map(per_second, taken)), statistics.median(raw)
    row(
        "init, a durable row, distinct ids, 32 clients", f"{rate:.0f}/s; {rate / peer:.2f} of raw SQLite", "≥ 5000/s",
        rate >= 5000, f"raw C sqlite3 loop {peer:.0f} rows/s", "store alone 22 k/s",
    )


def starts(folder: pathlib.Path):
    """Of a server that finds the data of the runs before."""
    times, idle = [], 0.0
    for _ in range(10):
        with Scribe(folder, BINARY) as server:
            times.append(1000 * server.time_to_first_answer)
            time.sleep(0.5)
            idle = server.memory("VmRSS")
    median = statistics.median(times)
    details["start"] = {"milliseconds": [round(each, 1) for each in times], "idle_mb": round(idle, 1)}
    row(
        "start to first 200 with an existing database (median of 10); idle memory", f"{median:.0f} ms; {idle:.0f} MB",
        "≤ 60 ms; ≤ 50 MB", median <= 60 and idle <= 50, "", "bare 25 ms; 32 MB",
    )


def early():
    """Chunks that arrive while the consultation goes on, twenty times as fast: what is left to do at commit."""
    length = 10.0
    chunk = recording(44 + round(length * 32_000))
    left = []
    with Recogniser(SECONDS_A_CHUNK) as recogniser:
        with Scribe(WORK / "early", BINARY, "--transcriber", recogniser.flag) as server:
            client = Client(server.url)
            uploads = Uploads(server.url, client.keys, len(chunk))
            for name in names(ROUNDS):
                begun = time.monotonic()
                with socket.create_connection(("127.0.0.1", server.port)) as connection:
                    for message in client.consultation(name, uploads, length, chunks=20):
                        if message.with_body:
                            begun += length / 20
                            time.sleep(max(0, begun - time.monotonic()))
                        if b"/commit/" in message.head:
                            committed = time.monotonic()
                        answer = send(connection, message, chunk)
                    left.append((time.monotonic() - committed) / SECONDS_A_CHUNK)
                [transcript] = json.loads(answer)["data"]["template_results"]["transcript"]
                said = base64.b64decode(transcript["value"]).decode().count(recogniser.words)
                if said != 20 or recogniser.heard != 20 * len(left):
                    sys.exit(f"{recogniser.heard} chunks were heard, and {said} are in the last transcript")
    median = statistics.median(left)
    details["early"] = {"commit_to_transcript_in_chunks": [round(each, 2) for each in left]}
    row(
        "commit to transcript: 20 chunks at 20 times recording pace, a recogniser of 300 ms a chunk",
        f"{median:.2f} × a chunk's time", "≤ 1.5 ×", median <= 1.5, "", "",
    )


def main():
    load = os.getloadavg()[0]
    began = time.monotonic()
    with Scribe(WORK / "consultations", BINARY) as server:
        finished = consultations(server)
        with tempfile.TemporaryDirectory(dir="/dev/shm") as in_memory:
            for size, count in [(MEGABYTE, 200), (50_000, 3000)]:
                chunks(WORK, "disk", size, count, 0.8)
                chunks(pathlib.Path(in_memory), "memory", size, count, 0.5)
        memory()
        statuses(server, finished)
        inits(server)
    journal()
    starts(WORK / "consultations")
    early()
    machine = {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}", "cores": os.cpu_count(),
        "load_before": round(load, 2), "load_generator_cores_at_most": round(max(client_load), 2),
        "other_cores_at_most": round(max(other_load), 2), "seconds": round(time.monotonic() - began),
    }
    at = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    RESULT.write_text(json.dumps({"at": at, "machine": machine, "rows": rows, "details": details}, indent=2) + "\n")
    print_table(rows)
    print(
        f"\n{machine['cores']} cores; the load generator used at most {max(client_load):.2f} of them, everything else "
        f"{statistics.median(other_load):.2f} (at most {max(other_load):.2f}); {machine['seconds']} s."
    )


if __name__ == "__main__":
    BINARY, WORK, RESULT = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    main()
