"""The data folder: what a killed server leaves, states that are not valid any more, backups, and disks of their own."""

import contextlib
import itertools
import os
import shutil
import sqlite3
import subprocess
import tarfile

import pytest
from emulator import BINARY, PATIENCE, Server, run, running, state_folder

#: The consultation of the folder that a killed server has left.
KEPT = "from-the-log"
#: More calls than a first start or a restore makes of each kind.
MOST_CALLS = 600
#: Paths in the data folder that a first start makes.
PATHS = (
    "", "lock", "current", "current.new", "reserve", "signing-key", "signing-key.new", "states", "states/1",
    "states/1/objects", "work", *(f"states/1/scribe.sqlite{suffix}" for suffix in ("", ".new", "-shm", "-wal")))


def record(server, identifier: str, chunk):
    """Records a consultation with one chunk, which the server acknowledges."""
    client = server.client()
    transaction = client.transaction(identifier)
    assert transaction.init().status_code == 201
    transaction.upload(client.s3(), *chunk)
    assert transaction.commit().status_code == 200


@pytest.fixture(scope="module")
def killed(tmp_path_factory, chunks):
    """A data folder as a killed server leaves it: its last commits are in no file but the log."""
    folder = tmp_path_factory.mktemp("killed")
    server = Server(folder, "--data-dir", "data")
    try:
        record(server, KEPT, chunks[0])
    finally:
        server.kill()
    state = state_folder(folder / "data")
    assert KEPT.encode() in (state / "scribe.sqlite-wal").read_bytes()
    assert KEPT.encode() not in (state / "scribe.sqlite").read_bytes()
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
    with contextlib.closing(sqlite3.connect(state / "scribe.sqlite")) as database:
        files = [file for [file] in database.execute("SELECT file FROM objects")]
    assert files and all((state / "objects" / file[-2:] / file).is_file() for file in files)


def killing(call: str, number: int, *paths) -> list:
    """The start of a command line that kills a program at a thread's `number`-th system call of one kind.

    With paths, calls on other paths do not count.
    """
    named = [word for path in paths for word in ("-P", path)]
    injected = f"inject={call}:signal=KILL:when={number}"
    return ["strace", "-D", "-f", "-qq", *named, "-e", f"trace={call}", "-e", injected, "-o", "/dev/null"]


def is_killed(folder, prefix: list) -> bool:
    """Starts a server that is killed, unless it is ready before that."""
    try:
        server = Server(folder, "--data-dir", "data", prefix=prefix)
    except AssertionError:
        return True
    server.kill()
    return False


def rows(data) -> dict:
    """The number of rows in each table of the valid state."""
    with contextlib.closing(sqlite3.connect(state_folder(data) / "scribe.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        return {table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for [table] in tables}


def contents(data) -> dict:
    """The bytes of each file."""
    return {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}


def left(data) -> frozenset:
    """The names and sizes of the files that a killed start has left."""
    return frozenset((path, path.stat().st_size) for path in data.rglob("*"))


def each(*calls: str, few: tuple[str, ...]):
    """Parameters of a test: a system call, and whether all calls of the kind are tried or only the first."""
    first = [pytest.param(call, False, id=f"first {call}") for call in few]
    return first + [pytest.param(call, True, id=f"each {call}", marks=pytest.mark.full) for call in calls]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A data folder that was started once."""
    folder = tmp_path_factory.mktemp("fresh")
    with running(folder, "--data-dir", "data"):
        pass
    return folder / "data"


@pytest.fixture(scope="module")
def whole(fresh) -> tuple[list, dict]:
    """Its names and rows."""
    return sorted(os.listdir(fresh)), rows(fresh)


@pytest.mark.parametrize(
    "call, are_all",
    each("mkdir", "openat", "rename", "fsync", "fdatasync", "pwrite64", few=("mkdir", "rename", "fsync")))
def test_a_first_start_that_is_killed_at_any_step_leaves_a_folder_that_starts_and_nothing_double(
        tmp_path, whole, call, are_all):
    data, copy = tmp_path / "data", tmp_path / "copy"
    names, known = whole
    seen = set()
    # SQLite writes each page of the schema by itself, so that one in 25 of these calls is enough.
    for number in itertools.count(1, 25 if call == "pwrite64" else 1):
        assert number < MOST_CALLS, "it is killed for ever"
        shutil.rmtree(data, ignore_errors=True)
        was_killed = is_killed(tmp_path, killing(call, number, *(data / path for path in PATHS)))
        # Between many of these calls nothing is written.
        if was_killed and left(data) in seen:
            continue
        seen.add(left(data))
        if (data / "current").exists():
            shutil.copytree(data, copy)
            assert rows(copy).keys() == known.keys(), "the state was named before its schema was there"
            shutil.rmtree(copy)
        with running(tmp_path, "--data-dir", "data"):
            pass
        assert sorted(os.listdir(data)) == names and os.listdir(data / "states") == ["1"]
        assert rows(data) == known
        if not was_killed or not are_all:
            break
    assert was_killed or number > 1, f"there is no {call} in a first start"


def test_an_invalid_state_is_deleted_only_after_the_valid_one_is_open(tmp_path, fresh):
    shutil.copytree(fresh, tmp_path / "data")
    database = state_folder(tmp_path / "data") / "scribe.sqlite"
    other, copy = tmp_path / "data/states/2", tmp_path / "data/states/1-before-upgrade"
    shutil.copytree(database.parent, copy)
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
    with running(tmp_path, "--data-dir", "data") as server:
        server.logged("states/2 was not the valid state, and was removed")
        assert not other.exists()
    assert database.is_file()
    assert (copy / "scribe.sqlite").is_file(), "the operator has made it, not the server"


def uploads_in(state) -> set:
    with contextlib.closing(sqlite3.connect(state / "scribe.sqlite")) as database:
        return {f"objects/{file[-2:]}/{file}" for [file] in database.execute("SELECT file FROM objects")}


def test_a_backup_has_every_upload_although_a_server_starts_and_deletes_them_meanwhile(tmp_path, killed):
    shutil.copytree(killed, tmp_path / "data")
    with contextlib.closing(sqlite3.connect(tmp_path / "data/states/1/scribe.sqlite")) as database:
        [bucket, key] = database.execute("SELECT bucket, key FROM objects").fetchone()
    uploads = uploads_in(tmp_path / "data/states/1")
    # The backup reads the keys after it has linked the uploads, and waits for the end of this one.
    pipe = tmp_path / "data/suki-signing-key.pem"
    os.mkfifo(pipe, 0o600)
    with subprocess.Popen([BINARY, "backup", "backup", "--data-dir", "data"], cwd=tmp_path) as backup:
        with open(pipe, "wb") as key_file, running(tmp_path, "--data-dir", "data") as server:
            server.client().s3().delete_object(Bucket=bucket, Key=key)
            key_file.write(b"a key")
        assert backup.wait(PATIENCE) == 0
    with tarfile.open(tmp_path / "backup") as archive:
        assert uploads and uploads <= set(archive.getnames())
        assert archive.extractfile(pipe.name).read() == b"a key"
    assert not uploads_in(tmp_path / "data/states/1")
    assert not list((tmp_path / "data").glob(".*"))


@pytest.fixture
def mounted(tmp_path):
    """Mounts a disk of so many MB on a folder, and returns what starts programs that see it."""
    with contextlib.ExitStack() as stack:
        def mount(folder, size: int) -> list:
            folder.mkdir(parents=True, exist_ok=True)
            command = 'mount -t tmpfs -o "size=$0m" disk "$1" && echo mounted && exec sleep 100000'
            holder = stack.enter_context(subprocess.Popen(
                ["unshare", "-rm", "sh", "-c", command, str(size), folder], stdout=subprocess.PIPE, text=True))
            stack.callback(holder.kill)
            assert holder.stdout.readline() == "mounted\n"
            return ["nsenter", "-t", str(holder.pid), "-U", "-m", "--preserve-credentials"]

        yield mount


@pytest.mark.parametrize("name", ["states", *(
    pytest.param(name, marks=pytest.mark.full) for name in ("states/1/objects", "work"))])
def test_a_folder_on_a_disk_of_its_own_is_served_and_backed_up(tmp_path, mounted, chunks, name):
    data = tmp_path / "data"
    disk = mounted(data / name, 64)
    with running(tmp_path, "--data-dir", data, prefix=disk) as server:
        record(server, "on-a-disk", chunks[0])
    # Links do not lead from one disk to another: uploads and keys are copied.
    backup = [BINARY, "backup", tmp_path / "backup", "--data-dir", data]
    taken = subprocess.run([*disk, *backup], capture_output=True, text=True)
    assert taken.returncode == 0, taken.stderr
    (tmp_path / "restored").mkdir()
    restored = run("restore", "../backup", "--data-dir", "data", cwd=tmp_path / "restored")
    assert restored.returncode == 0, restored.stderr
    check(tmp_path / "restored", ["on-a-disk"])


def test_a_full_disk_does_not_keep_the_log_of_a_killed_server_from_being_read(tmp_path, mounted, killed):
    data = tmp_path / "data"
    disk = mounted(data, 24)
    for command in (
        ["cp", "-a", f"{killed}/.", data],
        # SQLite makes the log's index anew, for which it needs room.
        ["rm", "-f", data / "reserve", data / "states/1/scribe.sqlite-shm"],
        ["fallocate", "-l", "4M", data / "reserve"],
    ):
        subprocess.run([*disk, *command], check=True)
    fill = ["dd", "if=/dev/zero", f"of={data}/filling", "bs=4k", "count=8192"]
    assert subprocess.run([*disk, *fill], capture_output=True).returncode == 1, "the disk is larger"
    with running(tmp_path, "--data-dir", data, prefix=disk) as server:
        assert KEPT in consultations(server)


@pytest.mark.parametrize("call, are_all", each("mkdir", "rename", "unlink", "fsync", few=("rename",)))
def test_a_restore_that_is_killed_at_any_step_leaves_all_of_the_data_or_none_and_can_be_done_again(
        tmp_path, killed, call, are_all):
    """The backup is of a killed server's folder, and has what is in the log alone."""
    shutil.copytree(killed, tmp_path / "data")
    taken = run("backup", "backup:10:00", "--data-dir", "data", cwd=tmp_path)
    assert taken.returncode == 0, taken.stderr
    target = tmp_path / "restored"
    for number in itertools.count(1):
        assert number < MOST_CALLS, "it is killed for ever"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        verb = ["restore", "../backup:10:00", "--data-dir", "data"]
        first = subprocess.run(
            [*killing(call, number), BINARY, *verb], cwd=target, capture_output=True, timeout=PATIENCE)
        again = run(*verb, cwd=target)
        # The first restore that is killed has made nothing that counts.
        assert again.returncode == 0 or number > 1 and "holds data already" in again.stderr, again.stderr
        check(target, [KEPT])
        if first.returncode == 0 or not are_all:
            break
    assert first.returncode != 0 or number > 1, f"there is no {call} in a restore"


def test_a_backup_into_the_data_folder_is_refused(tmp_path, killed):
    shutil.copytree(killed, tmp_path / "data")
    before = contents(tmp_path / "data")
    for name in ("current", "signing-key", "lock", "states/1/scribe.sqlite", "work/backup"):
        refused = run("backup", f"data/{name}", "--data-dir", "data", cwd=tmp_path)
        assert refused.returncode == 1
        assert refused.stderr.strip().endswith(f"data/{name} is in the data folder; name a file in another folder")
    assert contents(tmp_path / "data") == before
