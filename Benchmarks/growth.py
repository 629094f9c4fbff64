"""Measures what grows with what is stored: growth.py BINARY WORK_FOLDER

One real consultation is copied by SQL until there are as many as a line says, all of one user, with a file for each of
their chunks; then a server that finds them is asked."""

import pathlib
import shutil
import sqlite3
import statistics
import sys
import time
import urllib.request

import bench
from bench_table import print_table
from messages import Client, Message, http
from servers import Process, Scribe

#: Of stored consultations. What the first costs is what the others are compared with.
SIZES = (100, 10_000, 100_000)
GOAL = 1.25
#: In MB, for the whole history.
MOST_MEMORY = 80


def state_folder(data: pathlib.Path) -> pathlib.Path:
    """Returns the folder of the valid database and its uploads."""
    return data / "states" / (data / "current").read_text().strip()


def grow(data: pathlib.Path, size: int):
    """Copies the one consultation that is there, an hour apart, into the past."""
    state = state_folder(data)
    database = sqlite3.connect(state / "scribe.sqlite")
    [[name]] = database.execute("SELECT txn_id FROM transactions")
    copies = size - 1
    database.execute("CREATE TEMP TABLE copies AS "
                     "WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies "
                     f"WHERE n < {copies}) SELECT n, printf('copy-%08d', n) AS name FROM copies")
    # Names are as long as real ones, and come in no order.
    unique = "printf('%02x', n % 256) || substr(lower(hex(randomblob(16))), 3)"
    changed = {
        "transactions": {
            "id": "id + n", "txn_id": "copies.name", "created_at": "created_at - n * 3600000",
            "folder": f"replace(folder, '{name}', copies.name)", "request": f"replace(request, '{name}', copies.name)",
        },
        "documents": {"id": "NULL", "transaction_id": "transaction_id + n", "document_id": unique},
        "chunk_transcripts": {"transaction_id": "transaction_id + n"},
        "objects": {"id": "NULL", "key": f"replace(key, '{name}', copies.name)", "file": f"{unique} || '.00000000'"},
    }
    for table, new in changed.items():
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        values = (new.get(column, f"{table}.{column}") for column in columns)
        database.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {table}, copies")
    database.commit()
    database.execute("ANALYZE")
    files = [file for [file] in database.execute("SELECT file FROM objects WHERE file LIKE '%.00000000'")]
    for folder in {file[:2] for file in files}:
        (state / "objects" / folder).mkdir(mode=0o700, exist_ok=True)
    for file in files:
        (state / "objects" / file[:2] / file).touch()
    database.close()


class Stored:
    """A server that finds so many consultations."""

    def __init__(self, work: pathlib.Path, binary: str, size: int):
        self.size, self.folder, self.binary = size, work / f"growth-{size}", binary

    def prepare(self):
        with Scribe(self.folder, self.binary) as server:
            bench.consult(server, bench.names(1))
        grow(self.folder / "data", self.size)

    def measure(self) -> dict:
        starts = []
        for _ in range(3):
            with Scribe(self.folder, self.binary) as server:
                starts.append(1000 * server.time_to_first_answer)
                time.sleep(1)  # it looks for files that belong to nothing
                idle, work = server.memory("VmHWM"), 1000 * server.cpu_seconds()
        with Scribe(self.folder, self.binary) as server:
            time.sleep(1)
            bench.consult(server, bench.names(100))
            measured = {"consultation": bench.cpu_milliseconds(bench.consult(server, bench.names(500)))}
            client = Client(server.url)
            # As many different ones whatever there is.
            copies = [f"copy-{1 + index % 90 * (self.size // 100):08d}" for index in range(2000)]
            gets = {
                "poll": lambda name: client.status(name),
                "details": lambda name: get(client, f"/voice/api/v2/transaction/{name}"),
                "history of 20": lambda name: get(client, "/voice/api/v2/transaction/history?count=20"),
                "/metrics": lambda name: Message(200, http("GET", "/metrics", {"host": "localhost"})),
            }
            for what, message in gets.items():
                bench.replay(server, 8, ([message(name)] for name in copies[:200]))
                measured[what] = bench.cpu_milliseconds(bench.replay(server, 8, ([message(name)] for name in copies)))
            before, begun = server.memory("VmRSS"), time.monotonic()
            size = whole_history(server, client)
            measured["whole history"] = 1000 * (time.monotonic() - begun)
            grown = server.memory("VmHWM") - before
        return measured | {
            "start": statistics.median(starts), "start, CPU": work, "start, memory": idle, "history's MB": size / 1e6,
            "history's memory": max(0, grown), "memory before it": before,
        }


def get(client: Client, path: str) -> Message:
    return Message(200, http("GET", path, client.headers))


def whole_history(server: Process, client: Client) -> int:
    """Its length in bytes, read as it comes."""
    request = urllib.request.Request(server.url + "/voice/api/v2/transaction/history", headers=client.headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return sum(map(len, iter(lambda: answer.read(1 << 16), b"")))


def main():
    bench.WORK, bench.SECONDS = pathlib.Path(sys.argv[2]), 120
    measured = []
    for size in SIZES:
        stored = Stored(bench.WORK, sys.argv[1], size)
        stored.prepare()
        measured.append(stored.measure())
        shutil.rmtree(stored.folder)
    rows = []
    for what in measured[0]:
        values = [each[what] for each in measured]
        unit = "MB" if "MB" in what or "memory" in what else "ms"
        goal = f"≤ {MOST_MEMORY} MB" if what == "history's memory" else (
            "" if "history's" in what or what == "whole history" or "before" in what else f"× {GOAL} at most")
        met = values[-1] <= MOST_MEMORY if "MB" in goal else values[-1] <= GOAL * values[0]
        rows.append(
            {"what": what} | {f"{size:,}": f"{value:.2f} {unit}" for size, value in zip(SIZES, values)}
            | {"goal": goal, "met": ("yes" if met else "no") if goal else ""})
    print_table(rows)


if __name__ == "__main__":
    main()
