"""kill -9 at random moments under load: what was acknowledged is there after the restart, and work goes on.

SCRIBE_KILL_ROUNDS sets the number of rounds: 10 in `make test`, 1,000 in `make soak`.
"""

import collections
import os
import pathlib
import random
import threading
import time

import client as scribe_client
import pytest
import requests
from emulator import Server

ROUNDS = int(os.environ.get("SCRIBE_KILL_ROUNDS", "10"))
#: Results of earlier rounds that are looked at again each time.
SAMPLE = 5
ORDER = ["init", "stopped", "commit"]


class Journal:
    """What the server has acknowledged."""

    def __init__(self):
        self.lock = threading.Lock()
        self.state = {}
        self.objects = {}
        self.results = {}
        self.transactions = {}

    def note(self, table: dict, key, value):
        with self.lock:
            table[key] = value


def consult(client, s3, audio: bytes, journal: Journal, stop: threading.Event):
    """Consultations, one after another, each step noted once it is acknowledged, until the server is gone."""
    random_ = random.Random(threading.get_ident())
    try:
        while not stop.is_set():
            transaction = client.transaction()
            journal.transactions[transaction.id] = transaction
            if transaction.init(["soap"]).status_code == 201:
                journal.note(journal.state, transaction.id, "init")
            for number in range(1, random_.randint(2, 5)):
                # Each upload is another one, so that an old and a new object cannot be taken for each other.
                body = audio + random_.randbytes(200)
                key = f"{transaction.folder}/{number}.wav"
                s3.put_object(Bucket=scribe_client.BUCKET, Key=key, Body=body)
                journal.note(journal.objects, key, body)
                transaction.uploaded.append(f"{number}.wav")
            if transaction.stop().status_code == 200:
                journal.note(journal.state, transaction.id, "stopped")
            if transaction.commit().status_code == 200:
                journal.note(journal.state, transaction.id, "commit")
            answer = transaction.poll()
            if answer.status_code == 200:
                journal.note(journal.results, transaction.id, answer.json()["data"]["output"])
    except Exception as error:  # noqa: BLE001  (whatever a client makes of a server that is gone)
        if stop.is_set():
            return
        journal.note(journal.state, f"unexpected {type(error).__name__}", str(error))


def check(client, s3, journal: Journal, sample: random.Random):
    rows = client.session.get(f"{client.base_url}/voice/api/v2/transaction/history").json()["data"]
    statuses = {row["txn_id"]: row["user_status"] for row in rows}
    for identifier, status in journal.state.items():
        assert not identifier.startswith("unexpected"), (identifier, status)
        found = statuses.get(identifier)
        assert found is not None, f"{identifier} was {status}, and is lost"
        assert ORDER.index(found) >= ORDER.index(status), f"{identifier} was {status}, and is {found}"
    for key, body in journal.objects.items():
        assert s3.get_object(Bucket=scribe_client.BUCKET, Key=key)["Body"].read() == body, key
    for identifier, status in journal.state.items():
        if status != "commit":
            continue
        answer = journal.transactions[identifier].poll()
        assert answer.status_code == 200, f"{identifier} was committed, and is {answer.status_code}"
        known = journal.results.get(identifier)
        assert known is None or answer.json()["data"]["output"] == known, "a result has changed"
    old = sample.sample(sorted(journal.results), min(SAMPLE, len(journal.results)))
    return {identifier: journal.results[identifier] for identifier in old}


def usage(pid: int) -> dict:
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    values = dict(line.split(":", 1) for line in status.splitlines())
    return {
        "memory": int(values["VmRSS"].split()[0]), "threads": int(values["Threads"]),
        "files": len(os.listdir(f"/proc/{pid}/fd")),
    }


@pytest.fixture(scope="module")
def audio():
    """Half a second of a tone, as a WAV."""
    samples = b"".join(int(1000 * ((n % 40) - 20) / 20).to_bytes(2, "little", signed=True) for n in range(4000))
    size = len(samples)
    return (
        b"RIFF" + (36 + size).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little") + b"\1\0\1\0"
        + (8000).to_bytes(4, "little") + (16000).to_bytes(4, "little") + b"\2\0\x10\0data"
        + size.to_bytes(4, "little") + samples
    )


def test_kill_9_under_load_loses_nothing(tmp_path, audio):
    moments = random.Random(ROUNDS)
    totals = collections.Counter()
    earlier = {}
    for round_ in range(ROUNDS):
        server = Server(tmp_path, "--data-dir", "data", "--log-level", "warning")
        client = server.client()
        s3 = client.s3()
        for identifier, output in earlier.items():
            transaction = client.transaction(identifier)
            assert transaction.poll().json()["data"]["output"] == output, "a result of an earlier round has changed"
        journal = Journal()
        stop = threading.Event()
        workers = [threading.Thread(target=consult, args=(client, s3, audio, journal, stop)) for _ in range(4)]
        for worker in workers:
            worker.start()
        time.sleep(moments.uniform(0.05, 0.6))
        stop.set()
        server.kill()
        for worker in workers:
            worker.join()
        server = Server(tmp_path, "--data-dir", "data", "--log-level", "warning")
        client.base_url = server.base_url
        earlier = check(client, client.s3(), journal, moments)
        totals.update(transactions=len(journal.state), objects=len(journal.objects), results=len(journal.results))
        server.stop() if round_ % 2 else server.kill()
        if ROUNDS > 100 and round_ % 50 == 49:
            print(f"{round_ + 1} rounds: {dict(totals)}", flush=True)
    assert totals["objects"] > ROUNDS and totals["results"] > ROUNDS / 2, totals


def test_memory_files_and_threads_do_not_grow_under_load(tmp_path, audio):
    """Three stretches of load on one server: after the first, nothing may grow with the number of requests."""
    seconds = 2 if ROUNDS <= 10 else 60
    server = Server(tmp_path, "--ephemeral", "--log-level", "warning")
    try:
        client = server.client()
        samples = []
        for _ in range(3):
            journal = Journal()
            stop = threading.Event()
            workers = [
                threading.Thread(target=consult, args=(client, client.s3(), audio, journal, stop)) for _ in range(4)
            ]
            for worker in workers:
                worker.start()
            time.sleep(seconds)
            stop.set()
            for worker in workers:
                worker.join()
            assert not [key for key in journal.state if key.startswith("unexpected")], journal.state
            requests.get(f"{server.base_url}/livez")
            samples.append(usage(server.process.pid))
        first, last = samples[0], samples[-1]
        assert last["memory"] < first["memory"] * 1.5 + 20_000, samples
        assert last["files"] <= first["files"] + 10, samples
        assert last["threads"] <= first["threads"] + 4, samples
    finally:
        server.stop()
