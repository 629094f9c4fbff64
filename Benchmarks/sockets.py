"""Measures the server under live sockets and prints one table: sockets.py BINARY WORK_FOLDER

The load comes from `sockets.c`, on the same machine. Delays are from the last frame that a result needed to its
arrival.
"""

import json
import pathlib
import subprocess
import sys
import threading
import time
import urllib.request

from bench_table import print_table
from servers import Scribe

KEY = "org_dev_key"
SECONDS = 20


FLAGS = ("--listen-sockets", "5000", "--listen-sockets-of-business", "5000")


def resident(server) -> int:
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) << 10


def load(server, mode: str, count: int, seconds: float = SECONDS) -> dict:
    before = server.cpu_seconds()
    ended = subprocess.run(
        [WORK / "sockets", str(server.port), mode, str(count), str(seconds), KEY], stdout=subprocess.PIPE, text=True)
    taken = json.loads(ended.stdout)
    if ended.returncode != 0:
        sys.exit(f"{taken['closed']} of {count} sockets were closed")
    return {**taken, "cpu": server.cpu_seconds() - before}


class Polls(threading.Thread):
    """Asks for the status of a transaction, one request after another, until it is stopped."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.base_url, self.times, self.stopped = server.url, [], threading.Event()
        self.headers = {}
        login = self.ask("/connect-auth/v1/account/login", {"client_id": "dev-client", "client_secret": "dev-secret"})
        self.headers = {"Authorization": f"Bearer {json.loads(login)['access_token']}"}
        self.ask("/voice/api/v2/transaction/init/polled", {"transfer": "vaded", "s3_url": "s3://b/polled"})

    def ask(self, path: str, body=None) -> bytes:
        data = json.dumps(body).encode() if body else None
        return urllib.request.urlopen(urllib.request.Request(self.base_url + path, data, self.headers)).read()

    def run(self):
        while not self.stopped.wait(0.02):
            begun = time.monotonic()
            self.ask("/voice/api/v3/status/polled?dlp=true")
            self.times.append((time.monotonic() - begun) * 1000)

    def percentile(self, share: float) -> float:
        self.stopped.set()
        self.join()
        times = sorted(self.times)
        return times[int(share * (len(times) - 1))]


def row(what: str, result: str, goal: str = "") -> dict:
    return {"what": what, "result": result, "goal": goal}


def main() -> list[dict]:
    rows = []
    with Scribe(WORK / "idle", BINARY, *FLAGS) as server:
        few = 10
        load(server, "idle", few, 1)
        before, peak = resident(server), [0]
        watcher = threading.Timer(8, lambda: peak.append(resident(server)))
        watcher.start()
        idle = load(server, "idle", 1000, 12)
        watcher.join()
        rows.append(row("1,000 idle sockets, KeepAlive each 5 s: memory each",
                        f"{(max(peak) - before) / 1000 / 1000:.1f} KB", "< 60 KB"))
        rows.append(row("their CPU", f"{100 * idle['cpu'] / idle['seconds']:.1f} % of a core"))
    with Scribe(WORK / "alone", BINARY, *FLAGS) as server:
        polls = Polls(server)
        polls.start()
        time.sleep(3)
        alone = polls.percentile(0.99)
    with Scribe(WORK / "audio", BINARY, *FLAGS) as server:
        polls = Polls(server)
        polls.start()
        audio = load(server, "audio", 300)
        beside = polls.percentile(0.99)
        hours = 300 * SECONDS / 3600
        rows.append(row("300 sockets of 16 kHz audio at the pace of speech: CPU of an hour of audio",
                        f"{audio['cpu'] / hours:.2f} s"))
        rows.append(row("delay of their results, p50 and p99", f"{audio['p50_ms']:.1f} ms, {audio['p99_ms']:.1f} ms",
                        "p99 < 50 ms"))
        rows.append(row("a status poll beside them, p99 (alone)", f"{beside:.1f} ms ({alone:.1f} ms)"))
    with Scribe(WORK / "text", BINARY, *FLAGS) as server:
        text = load(server, "text", 300)
        rows.append(row("300 devices that send a segment each 600 ms: delay of the echo, p50 and p99",
                        f"{text['p50_ms']:.1f} ms, {text['p99_ms']:.1f} ms"))
        rows.append(row("their CPU", f"{100 * text['cpu'] / text['seconds']:.1f} % of a core"))
    per_minute = [each["bytes_out"] / 300 / SECONDS * 60 for each in (text, audio)]
    rows.append(row("bytes a minute that text takes, and 16 kHz audio",
                    f"{per_minute[0] / 1000:.1f} KB, {per_minute[1] / 1e6:.2f} MB: "
                    f"{100 * (1 - per_minute[0] / per_minute[1]):.1f} % less",
                    "99.6 % less"))
    return rows


if __name__ == "__main__":
    BINARY, WORK = sys.argv[1], pathlib.Path(sys.argv[2])
    print_table(main())
