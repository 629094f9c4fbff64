"""Resets of a data folder, with backups, polls and sockets meanwhile. test_crashes.py has kills during a reset."""

import concurrent.futures
import contextlib
import fcntl
import os
import pathlib
import sqlite3
import threading

import pytest
import requests
from crashes import content, fill
from emulator import PATIENCE, Server, run, running, state_folder, wait_until
from namespaces import Access, EkaClient, control, counts, listener
from websockets.exceptions import ConnectionClosed

NOTHING = {"jobs": 0, "objects": 0, "object_bytes": 0, "webhooks": 0}


@pytest.fixture(scope="module")
def resettable(tmp_path_factory):
    """A server with a data folder that may be reset, and with polls that only a reset ends."""
    folder = tmp_path_factory.mktemp("resets")
    with running(folder, "--data-dir", "data", "--allow-reset", "--long-poll", "1h") as server:
        yield server


@pytest.fixture
def empty(resettable):
    """That server after a reset, with the number of its state."""
    answer = control(resettable, "POST", "reset")
    assert answer.status_code == 200, answer.text
    return resettable, answer.json()["state"]


def test_a_reset_ends_polls_and_sockets_and_removes_the_files(empty):
    server, number = empty
    fill(server, "t")
    old = state_folder(server.folder / "data")
    client = EkaClient(Access(server.base_url))
    answers = []
    poll = threading.Thread(target=lambda: answers.append(client.get("/voice/api/v3/status/t")))
    poll.start()
    wait_until(lambda: server.metric("scribe_held_polls") == 1, "the poll is held")
    with listener(Access(server.base_url)) as socket:
        answer = control(server, "POST", "reset")
        assert (answer.status_code, answer.json()) == (200, {"namespace": "default", "state": number + 1})
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                socket.socket.recv(timeout=PATIENCE)
        assert closed.value.rcvd.code == 1012
    poll.join(PATIENCE)
    gone = client.get("/voice/api/v3/status/t")
    assert answers[0].status_code == gone.status_code == 400
    assert answers[0].json()["error"]["code"] == gone.json()["error"]["code"] == "transaction_not_found"
    assert content(server) == ([], 0) and counts(server) == NOTHING
    wait_until(lambda: not old.exists(), "the old state is removed")


def test_a_reset_while_a_backup_reads_is_refused(empty):
    server, _ = empty
    fill(server, "t")
    reader = os.open(state_folder(server.folder / "data"), os.O_RDONLY)
    fcntl.flock(reader, fcntl.LOCK_SH)
    refused = control(server, "POST", "reset")
    assert refused.status_code == 409 and refused.json()["code"] == "backup_runs"
    assert content(server) == (["t"], 1)
    os.close(reader)
    assert control(server, "POST", "reset").status_code == 200


def test_backups_between_resets_are_whole(empty, tmp_path):
    """Each one is of a state before a reset or of the next one, with the files of all its objects."""
    server, _ = empty
    file, done = tmp_path / "backup.tar", threading.Event()

    def reset_again():
        while not done.is_set():
            status = control(server, "POST", "reset").status_code
            assert status in (200, 409)
            # A backup refuses a reset while it reads.
            if status == 200:
                fill(server, "t")

    with concurrent.futures.ThreadPoolExecutor() as pool:
        resets = pool.submit(reset_again)
        try:
            for number in range(3):
                backup = run("backup", "--data-dir", server.folder / "data", file)
                assert backup.returncode == 0, backup.stderr
                target = tmp_path / f"restored-{number}"
                restored = run("restore", "--data-dir", target, file)
                assert restored.returncode == 0, restored.stderr
                check_restored(state_folder(target))
        finally:
            done.set()
        resets.result(PATIENCE)


def check_restored(state: pathlib.Path):
    with contextlib.closing(sqlite3.connect(state / "scribe.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        transactions = [name for [name] in database.execute("SELECT txn_id FROM transactions")]
        files = [file for [file] in database.execute("SELECT file FROM objects")]
    # The object comes after its transaction.
    assert (transactions, len(files)) in (([], 0), (["t"], 0), (["t"], 1))
    assert all((state / "objects" / file[-2:] / file).read_bytes() == b"audio" for file in files)


def test_a_reset_whose_disk_fails_half_way_ends_the_server_and_the_next_start_keeps_both_states(
        empty, tmp_path):
    flags, data = ("--data-dir", "data", "--allow-reset"), tmp_path / "data"
    fill(empty[0], "t")
    for verb, folder in (("backup", empty[0].folder / "data"), ("restore", data)):
        done = run(verb, "--data-dir", folder, tmp_path / "backup.tar")
        assert done.returncode == 0, done.stderr
    old = state_folder(data).name
    # The folder of the states is synced, and the one with the name of the valid state is not.
    failing = [
        "strace", "-D", "-f", "-qq", "-P", data, "-e", "trace=fsync", "-e", "inject=fsync:error=EIO", "-o", "/dev/null"]
    server = Server(tmp_path, *flags, prefix=failing)
    with contextlib.suppress(requests.ConnectionError):
        assert control(server, "POST", "reset").status_code == 500
    assert server.process.wait(PATIENCE) == 1
    server.logged("the disk failed in the middle of a reset")
    with running(tmp_path, *flags) as server:
        server.logged("is kept")
        names = {old, state_folder(data).name}
        assert len(names) == 2 and names <= set(os.listdir(data / "states"))
        # Nobody knows which of them is wanted: the next reset leaves the old one, too.
        assert control(server, "POST", "reset").status_code == 200
        assert old in os.listdir(data / "states")
    with contextlib.closing(sqlite3.connect(data / "states" / old / "scribe.sqlite")) as database:
        assert database.execute("SELECT txn_id FROM transactions").fetchall() == [("t",)]


def test_backup_says_what_to_do_where_rows_are_in_memory(server, tmp_path):
    [data] = (server.folder / "temporary").glob("scribe-emulator-*/lock")
    answer = run("backup", "--data-dir", data.parent, tmp_path / "backup.tar")
    assert answer.returncode == 1 and "snapshot export" in answer.stderr
    assert not (tmp_path / "backup.tar").exists()
