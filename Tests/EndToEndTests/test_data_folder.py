"""The data folder: kill -9 while the folder of an earlier version is moved, and states that are not valid any more."""

import contextlib
import itertools
import shutil
import sqlite3

import pytest
from emulator import ROOT, Server, run, running, state_folder, wait_until

#: A transaction whose name is in the log alone.
RENAMED = "from-the-log"
#: More calls than the move makes of each kind.
MOST_CALLS = 30


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    """A data folder as an earlier version leaves it when it is killed: its last commit is in no file but the log."""
    folder = tmp_path_factory.mktemp("earlier")
    shutil.copytree(ROOT / "Tests/Saved/0.1.0/data", folder / "running")
    (folder / "running/signing-key").chmod(0o600)
    with contextlib.closing(sqlite3.connect(folder / "running/scribe.sqlite", isolation_level=None)) as database:
        assert database.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
        database.execute(f"UPDATE transactions SET txn_id = '{RENAMED}' WHERE txn_id = 'i-full'")
        # Copied while it is open: a database that is closed has no log.
        shutil.copytree(folder / "running", folder / "data")
    assert (folder / "data/scribe.sqlite-wal").stat().st_size > 0
    return folder / "data"


def consultations(server) -> list:
    client = server.client()
    rows = client.session.get(f"{server.base_url}/voice/api/v2/transaction/history").json()["data"]
    return sorted(row["txn_id"] for row in rows)


def check(folder, known: list):
    """Starts a server, which finds every consultation and every upload."""
    with running(folder, "--data-dir", "data") as server:
        assert consultations(server) == known
    state = state_folder(folder / "data")
    assert (folder / "data/scribe.sqlite").is_dir() and not list((folder / "data").glob("scribe.sqlite-*"))
    with contextlib.closing(sqlite3.connect(state / "scribe.sqlite")) as database:
        files = [file for [file] in database.execute("SELECT file FROM objects")]
    assert files and all((state / "objects" / file[:2] / file).is_file() for file in files)


def is_killed(folder, call: str, number: int) -> bool:
    """Starts a server that is killed at the `number`-th of its system calls of one kind, unless it is ready before that."""
    trace = ["strace", "-D", "-f", "-qq", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}",
             "-o", "/dev/null"]
    try:
        server = Server(folder, "--data-dir", "data", prefix=trace)
    except AssertionError:
        return True
    server.kill()
    return False


@pytest.mark.parametrize("call", ["mkdir", "rename", "unlink", "fsync"])
def test_a_kill_at_any_step_of_the_move_leaves_the_folder_whole(tmp_path, earlier, call):
    shutil.copytree(earlier, tmp_path / "data")
    with running(tmp_path, "--data-dir", "data") as server:
        known = consultations(server)
    assert RENAMED in known
    for number in itertools.count(1):
        assert number < MOST_CALLS, "it is killed for ever"
        shutil.rmtree(tmp_path / "data")
        shutil.copytree(earlier, tmp_path / "data")
        was_killed = is_killed(tmp_path, call, number)
        check(tmp_path, known)
        if not was_killed:
            break
    assert number > 1, f"there is no {call} in a start"


def test_a_state_that_is_not_valid_goes_when_the_valid_one_is_open_and_not_before(tmp_path):
    with running(tmp_path, "--data-dir", "data"):
        pass
    database = state_folder(tmp_path / "data") / "scribe.sqlite"
    other = tmp_path / "data/states/2"
    (other / "objects/ab").mkdir(parents=True)
    (other / "objects/ab/abcdef").write_text("an upload")
    # The log is part of the database, and stays after a clean stop.
    whole = {file: file.read_bytes() for file in database.parent.glob("scribe.sqlite*")}
    for file in whole:
        file.unlink()
    database.write_bytes(b"\x07" * 8192)
    refused = run("serve", "--port", "0", "--data-dir", "data", cwd=tmp_path)
    assert refused.returncode == 1 and "states/1/scribe.sqlite is damaged" in refused.stderr
    assert (other / "objects/ab/abcdef").is_file(), "it may be the only good one"
    for file, content in whole.items():
        file.write_bytes(content)
    with running(tmp_path, "--data-dir", "data"):
        wait_until(lambda: not other.exists(), "the other state is gone")
    assert database.is_file()


def test_the_folder_of_an_earlier_version_is_backed_up_where_it_is(tmp_path, earlier):
    shutil.copytree(earlier, tmp_path / "data")
    taken = run("backup", "backup", "--data-dir", "data", cwd=tmp_path)
    assert taken.returncode == 0, taken.stderr
    assert not (tmp_path / "data/states").exists()
    (tmp_path / "restored").mkdir()
    restored = run("restore", "../backup", "--data-dir", "data", cwd=tmp_path / "restored")
    assert restored.returncode == 0, restored.stderr
    with running(tmp_path, "--data-dir", "data") as server:
        known = consultations(server)
    assert RENAMED in known
    check(tmp_path / "restored", known)
