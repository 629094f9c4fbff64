"""Storage of the process: backups, full disks and objects that are replaced while they are read."""

import os
import stat
import subprocess
import threading

import botocore.config
import botocore.exceptions
import pytest
import requests
from emulator import BINARY, PATIENCE, run, running, state_folder, wait_until


def test_a_backup_taken_under_load_restores_to_the_same(served, tmp_path, chunks):
    backup = tmp_path / "backup.tar"
    server = served("--data-dir", "data")
    data = server.folder / "data"
    client = server.client()
    s3 = client.s3()
    transaction = client.transaction("backed-up")
    transaction.init()
    for chunk in chunks:
        transaction.upload(s3, *chunk)
    transaction.commit()
    before = transaction.poll()
    stop = threading.Event()
    rounds = []

    def load():
        while not stop.is_set():
            s3.put_object(Bucket="b", Key="busy", Body=os.urandom(50_000))
            client.transaction().init()
            rounds.append(1)

    threads = [threading.Thread(target=load) for _ in range(3)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(rounds) > 3, "load")
    taken = run("backup", backup, "--data-dir", data)
    stop.set()
    for thread in threads:
        thread.join()
    assert taken.returncode == 0, taken.stderr
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    refused = run("restore", backup, "--data-dir", data)
    assert refused.returncode == 1 and "in use" in refused.stderr
    restored = run("restore", backup, "--data-dir", tmp_path / "restored")
    assert restored.returncode == 0, restored.stderr
    with running(tmp_path, "--data-dir", "restored") as server:
        client.base_url = server.base_url
        after = transaction.poll()
        assert after.json() == before.json(), "the token still counts, the results are the same"
        s3 = client.s3()
        assert s3.get_object(
            Bucket="m-prod-voice-record", Key=f"{transaction.folder}/1.m4a"
        )["Body"].read() == chunks[0][0].read_bytes()
        assert len(s3.get_object(Bucket="b", Key="busy")["Body"].read()) == 50_000
    assert run("restore", backup, "--data-dir", tmp_path / "restored").returncode == 1, "it holds data already"


def test_a_backup_that_cannot_be_written_leaves_nothing_behind(served, tmp_path):
    server = served("--data-dir", "data")
    data = server.folder / "data"
    server.client().s3().put_object(Bucket="b", Key="large", Body=bytes(2 << 20))
    (tmp_path / "folder").mkdir()
    for target, message in [("folder", "is a folder"), ("nowhere/file", "nowhere does not exist")]:
        result = run("backup", target, "--data-dir", data, cwd=tmp_path)
        assert result.returncode == 1 and message in result.stderr
    # A file may have 1 MB.
    limited = 'trap "" XFSZ; ulimit -f 2048; exec "$0" backup file --data-dir "$1"'
    result = subprocess.run(
        ["sh", "-c", limited, BINARY, data], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert result.returncode == 1 and "File too large" in result.stderr, result.stderr
    assert not [each for each in tmp_path.rglob("*") if "backup" in each.name or each.suffix == ".partial"]
    refused = run("backup", "file", "--url", "http://127.0.0.1:1", cwd=tmp_path)
    assert refused.returncode == 2 and "--url" in refused.stderr, "a backup is of a folder, not of an address"


def room(server) -> tuple[str, float]:
    """Whether there is room for uploads, as the readiness and the metrics say."""
    answer = requests.get(f"{server.base_url}/readyz")
    assert answer.status_code == 200, answer.text
    return answer.json()["components"]["storage"], server.metric("scribe_storage_has_room")


@pytest.mark.covers("C-74")
def test_a_full_disk_is_503_and_loses_nothing(served, chunks):
    """A file size limit stands in for the disk; once it is lifted, everything goes on."""
    server = served("--data-dir", "data")
    folder = state_folder(server.folder / "data") / "objects"
    before = {path for path in folder.rglob("*") if path.is_file()}
    client = server.client()
    s3 = client.s3()
    transaction = client.transaction("before")
    transaction.init()
    transaction.upload(s3, *chunks[0])

    subprocess.run(["prlimit", "--fsize=100000:", "--pid", str(server.process.pid)], check=True)
    with pytest.raises(botocore.exceptions.ClientError) as failure:
        s3.put_object(Bucket="b", Key="k", Body=bytes(3_000_000))
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 503
    codes = [client.transaction().init().status_code for _ in range(30)]
    assert set(codes) <= {201, 503} and 503 in codes
    whole = client.session.post(f"{server.base_url}/voice/upload", files={"file": ("a.wav", bytes(3_000_000))})
    assert whole.status_code == 503
    assert room(server) == ("full", 0.0)
    strict = run("ready", "--strict", "--url", server.base_url)
    assert strict.returncode == 1 and "room for uploads" in strict.stderr
    assert run("ready", "--url", server.base_url).returncode == 0
    assert requests.get(f"{server.base_url}/livez").status_code == 200
    subprocess.run(["prlimit", "--fsize=unlimited:", "--pid", str(server.process.pid)], check=True)
    assert room(server) == ("ready", 1.0)
    s3.put_object(Bucket="b", Key="k", Body=b"x")
    assert transaction.commit().status_code == 200
    assert transaction.poll().status_code == 200
    stored = {path for path in folder.rglob("*") if path.is_file()} - before
    assert len(stored) == 2, "what was not stored has left no file"


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 24 MB at `data`, and what starts programs that see it."""
    (tmp_path / "data").mkdir()
    holder = subprocess.Popen(
        ["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=24m disk data && echo mounted && exec sleep 100000"],
        cwd=tmp_path, stdout=subprocess.PIPE, text=True,
    )
    assert holder.stdout.readline() == "mounted\n"
    yield ["nsenter", "-t", str(holder.pid), "-U", "-m", "--preserve-credentials"]
    holder.kill()
    holder.wait()


def test_a_server_starts_on_a_full_disk_and_deletions_free_space(tmp_path, small_disk):
    import boto3

    def fill(s3, begin):
        for number in range(begin, begin + 1000):
            try:
                s3.put_object(Bucket="b", Key=f"{number}", Body=os.urandom(500_000))
            except botocore.exceptions.ClientError as failure:
                assert failure.response["ResponseMetadata"]["HTTPStatusCode"] == 503
                return number
        raise AssertionError("the disk is never full")

    def exhaust(name):
        # By its whole path: the folder that this process is in is the one under the disk.
        command = ["dd", "if=/dev/zero", f"of={tmp_path}/data/{name}", "bs=4k", "count=8192"]
        assert subprocess.run([*small_disk, *command], capture_output=True).returncode == 1, "the disk is larger"

    def s3_client(server):
        return boto3.client(
            "s3", endpoint_url=server.base_url, region_name="ap-south-1", aws_access_key_id=keys["AccessKeyId"],
            aws_secret_access_key=keys["SecretKey"], aws_session_token=keys["SessionToken"],
            config=botocore.config.Config(retries={"max_attempts": 0}),
        )

    flags = ["--data-dir", str(tmp_path / "data")]
    with running(tmp_path, *flags, prefix=small_disk) as server:
        keys = server.client().session.get(f"{server.base_url}/credentials").json()["credentials"]
        s3 = s3_client(server)
        assert room(server) == ("ready", 1.0)
        count = fill(s3, 0)
        assert room(server) == ("full", 0.0)
        exhaust("rest")
        s3.delete_object(Bucket="b", Key="0")
        count = fill(s3, count)
    with running(tmp_path, *flags, prefix=small_disk) as server:
        assert room(server) == ("full", 0.0)
        s3 = s3_client(server)
        for number in range(1, count):
            s3.delete_object(Bucket="b", Key=f"{number}")
        assert room(server) == ("ready", 1.0)
        s3.put_object(Bucket="b", Key="again", Body=b"x")
        assert s3.list_objects_v2(Bucket="b")["KeyCount"] == 1


def test_reading_an_object_while_it_is_replaced_never_breaks(server):
    s3 = server.client().s3()
    bodies = [bytes([n]) * 300_000 for n in range(3)]
    s3.put_object(Bucket="b", Key="k", Body=bodies[0])
    is_over = threading.Event()

    def write(body):
        while not is_over.is_set():
            s3.put_object(Bucket="b", Key="k", Body=body)

    writers = [threading.Thread(target=write, args=(body,)) for body in bodies]
    for writer in writers:
        writer.start()
    for _ in range(100):
        assert s3.get_object(Bucket="b", Key="k")["Body"].read() in bodies
    is_over.set()
    for writer in writers:
        writer.join()


def test_a_start_removes_what_a_killed_ephemeral_server_left_and_nothing_else(tmp_path):
    temporary = tmp_path / "temporary"
    (temporary / "scribe-emulator-mine").mkdir(parents=True)
    environment = {"TMPDIR": str(temporary)}
    with running(tmp_path, "--ephemeral", environment=environment) as killed:
        [left] = set(temporary.iterdir()) - {temporary / "scribe-emulator-mine"}
        assert not (left / "reserve").exists()
        killed.kill()
    with running(tmp_path, "--ephemeral", environment=environment):
        wait_until(lambda: not left.exists(), "the folder of the killed server is removed")
        assert len(list(temporary.iterdir())) == 2
    assert os.listdir(temporary) == ["scribe-emulator-mine"]
