"""End of the process: restart, kill, SIGTERM and power cut lose nothing that was acknowledged."""

import contextlib
import pathlib
import re
import stat
import subprocess
import threading

import botocore.exceptions
import requests
from emulator import PATIENCE, Server, running, state_folder, wait_until


def test_data_survives_a_restart_and_so_do_tokens_and_credentials(tmp_path, chunks):
    with running(tmp_path, "--data-dir", "data") as server:
        client = server.client()
        s3_keys = client.session.get(f"{server.base_url}/credentials").json()["credentials"]
        transaction = client.transaction("kept")
        transaction.init()
        transaction.upload(client.s3(), *chunks[0])
    data = tmp_path / "data"
    state = state_folder(data)
    for path, mode in [(data, 0o700), (data / "signing-key", 0o600), (state, 0o700), (state / "scribe.sqlite", 0o600)]:
        assert stat.S_IMODE(path.stat().st_mode) == mode, path
    with running(tmp_path, "--data-dir", "data") as server:
        client.base_url = server.base_url
        import boto3

        s3 = boto3.client(
            "s3", endpoint_url=server.base_url, region_name="ap-south-1", aws_access_key_id=s3_keys["AccessKeyId"],
            aws_secret_access_key=s3_keys["SecretKey"], aws_session_token=s3_keys["SessionToken"],
        )
        transaction.upload(s3, *chunks[1])
        assert transaction.commit().status_code == 200
        assert transaction.poll().status_code == 200


def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path, chunks):
    """Killed after every step in turn; each time the next step goes on from there."""
    (tmp_path / "fixtures.yaml").write_text("fixtures: [{name: late, delay: 2}]\n")
    flags = ["--data-dir", "data", "--fixtures", "fixtures.yaml"]
    server = Server(tmp_path, *flags)
    client = server.client()
    transaction = client.transaction("killed")

    def restart():
        nonlocal server
        server.kill()
        server = Server(tmp_path, *flags)
        client.base_url = server.base_url

    try:
        assert transaction.init(additional_data={"fixture": "fixture:late"}).status_code == 201
        restart()
        for chunk in chunks:
            transaction.upload(client.s3(), *chunk)
            restart()
        assert transaction.stop().status_code == 200
        restart()
        assert transaction.commit().status_code == 200
        restart()
        rows = client.session.get(f"{server.base_url}/voice/api/v2/transaction/history").json()["data"]
        assert [(row["txn_id"], row["user_status"]) for row in rows] == [("killed", "commit")]
        # The fixture holds its result back, so that the job was resumed.
        answers = []
        wait_until(lambda: answers.append(transaction.poll()) or answers[-1].status_code != 202, "the results")
        assert answers[-1].status_code == 200
    finally:
        server.stop()


def test_a_chunk_that_kills_the_server_each_time_is_given_up(tmp_path, chunks):
    """The transcriber kills its parent. After three starts the fourth one leaves the chunk alone."""
    script = tmp_path / "poison"
    script.write_text("#!/bin/sh\nkill -9 $PPID\n")
    script.chmod(0o755)
    flags = ["--data-dir", "data", "--transcriber", f"command:{script} {{file}}"]
    server = Server(tmp_path, *flags)
    client = server.client()
    transaction = client.transaction()
    transaction.init()
    # Kept, and listened to at once: the server may be dead before it answers.
    with contextlib.suppress(botocore.exceptions.BotoCoreError):
        transaction.upload(client.s3(), *chunks[0])
    starts = 1
    is_committed = False
    while True:
        try:
            client.base_url = server.base_url
            # Once only: after a failure of the system a commit tries everything again.
            is_committed = is_committed or transaction.commit().status_code == 200
            answer = transaction.poll()
            break
        except (AssertionError, requests.exceptions.ConnectionError):
            server.process.wait(timeout=PATIENCE)
            starts += 1
            # Three for each commit that is made, also of those whose answer was lost with the server.
            assert starts < 20, "it kills the server for ever"
            with contextlib.suppress(AssertionError):  # killed before it was ready
                server = Server(tmp_path, *flags)
    assert starts > 1
    # On a busy machine the results were being put together at each kill too, and are given up with the chunk.
    assert answer.json()["data"]["output"][0]["errors"][0]["code"] in ("transcription_failed", "processing_failed")
    server.stop()


def test_sigterm_during_an_upload_ends_well(tmp_path):
    import socket

    server = Server(tmp_path, "--data-dir", "data")
    url = server.client().s3().generate_presigned_url("put_object", {"Bucket": "b", "Key": "k"})
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(
            f"PUT {url.removeprefix(server.base_url)} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            "Content-Length: 1000000\r\n\r\n".encode() + bytes(600_000)
        )
        wait_until(lambda: list(state_folder(tmp_path / "data").glob("objects/*/*")), "the upload has begun")
        server.stop()


def test_sigterm_answers_held_polls_and_exits(tmp_path):
    server = Server(tmp_path, "--ephemeral", "--long-poll", "1h")
    transaction = server.client().transaction()
    transaction.init()
    answers = []
    poll = threading.Thread(target=lambda: answers.append(transaction.poll()))
    poll.start()
    wait_until(lambda: server.metric("scribe_held_polls"), "the poll is held")
    server.stop()
    poll.join()
    assert [answer.status_code for answer in answers] == [202]


def test_sigterm_parks_work_that_takes_long(tmp_path, chunks):
    slow = ["--data-dir", "data", "--transcriber", "command:sh -c 'sleep 100000' {file}"]
    server = Server(tmp_path, *slow)
    client = server.client()
    transaction = client.transaction()
    transaction.init()
    transaction.upload(client.s3(), *chunks[0])
    transaction.commit()

    def children():
        return subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True).stdout.split()

    started = wait_until(children, "the program runs")
    server.stop()
    assert [child for child in started if pathlib.Path(f"/proc/{child}").exists()] == []
    with running(tmp_path, "--data-dir", "data", "--transcriber", "command:sh -c \"echo I have a fever\" {file}") as server:
        client.base_url = server.base_url
        assert transaction.poll().status_code == 200


def test_a_power_cut_finds_everything_synced_under_full_durability(tmp_path, chunks):
    """Traced: before the answer to an upload its file, its folder and the database's log are synced."""
    trace = tmp_path / "trace"
    with running(
        tmp_path, "--data-dir", "data", "--durability", "full",
        prefix=["strace", "-D", "-f", "-y", "-qq", "-e", "trace=fsync,fdatasync", "-o", str(trace)],
    ) as server:
        client = server.client()
        transaction = client.transaction()
        transaction.init()
        s3 = client.s3()
        before = len(trace.read_text().splitlines())
        transaction.upload(s3, *chunks[0])
        synced = "\n".join(trace.read_text().splitlines()[before:])
    assert re.search(r"/objects/[0-9a-f]{2}/[0-9a-f-]{36}\.[0-9a-f]{8}>", synced)
    assert re.search(r"/objects/[0-9a-f]{2}>", synced)
    assert re.search(r"scribe\.sqlite-wal>", synced)
