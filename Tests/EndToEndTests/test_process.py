"""The process: start, stop, restart, kill, configuration, logs."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import threading

import botocore.config
import botocore.exceptions
import pytest
import requests
from conftest import BINARY, PATIENCE, ROOT, Server, running, wait_until


def run(*arguments, **options):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=PATIENCE, **options)


def test_the_ready_file_names_url_and_process_and_is_gone_at_the_end(tmp_path):
    with running(tmp_path, "--ephemeral") as server:
        content = json.loads(server.ready_file.read_text())
        assert content == {"base_url": server.base_url, "pid": server.process.pid}
        assert requests.get(f"{server.base_url}/readyz").json()["status"] == "ready"
    assert not server.ready_file.exists()


def test_ephemeral_data_is_gone_at_the_end(tmp_path):
    with running(tmp_path, "--ephemeral", environment={"TMPDIR": str(tmp_path / "t")}) as server:
        assert server.client().transaction().init().status_code == 201
    assert not list(tmp_path.glob("**/scribe.sqlite"))


def test_data_survives_a_restart_and_so_do_tokens_and_credentials(tmp_path, chunks):
    with running(tmp_path, "--data-dir", "data") as server:
        client = server.client()
        s3_keys = client.session.get(f"{server.base_url}/credentials").json()["credentials"]
        transaction = client.transaction("kept")
        transaction.init()
        transaction.upload(client.s3(), *chunks[0])
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "data").iterdir()}
    assert modes["signing-key"] == 0o600
    assert modes["scribe.sqlite"] == 0o600
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
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


def test_a_backup_taken_under_load_restores_to_the_same(tmp_path, chunks):
    backup = tmp_path / "backup.tar"
    with running(tmp_path, "--data-dir", "data") as server:
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
        taken = run("backup", backup, "--data-dir", tmp_path / "data")
        stop.set()
        for thread in threads:
            thread.join()
        assert taken.returncode == 0, taken.stderr
        assert stat.S_IMODE(backup.stat().st_mode) == 0o600
        refused = run("restore", backup, "--data-dir", tmp_path / "data")
        assert refused.returncode == 1 and "in use" in refused.stderr
    assert run("restore", backup, "--data-dir", tmp_path / "data").returncode == 1, "it holds data already"
    restored = run("restore", backup, "--data-dir", tmp_path / "restored")
    assert restored.returncode == 0, restored.stderr
    with running(tmp_path, "--data-dir", "restored") as server:
        client.base_url = server.base_url
        after = transaction.poll()
        assert after.json() == before.json(), "the token still counts, the results are the same"
        s3 = client.s3()
        assert s3.get_object(Bucket="m-prod-voice-record", Key=f"{transaction.folder}/1.m4a")["Body"].read() == chunks[0][0].read_bytes()
        assert len(s3.get_object(Bucket="b", Key="busy")["Body"].read()) == 50_000


def test_what_is_no_backup_is_not_restored(tmp_path):
    (tmp_path / "junk").write_bytes(b"junk")
    for arguments, message in [
        (["restore", "junk", "--data-dir", "new"], "is no backup"),
        (["restore", "nowhere", "--data-dir", "new"], "nowhere does not exist"),
        (["backup", "file", "--data-dir", "nothing"], "there is no scribe-emulator data"),
    ]:
        result = run(*arguments, cwd=tmp_path)
        assert result.returncode == 1 and message in result.stderr


def test_a_backup_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    with running(tmp_path, "--data-dir", "data"):
        pass
    (tmp_path / "folder").mkdir()
    for target, message in [("folder", "is a folder"), ("nowhere/file", "nowhere does not exist")]:
        result = run("backup", target, "--data-dir", "data", cwd=tmp_path)
        assert result.returncode == 1 and message in result.stderr
    failing = tmp_path / "bin" / "tar"
    failing.parent.mkdir()
    failing.write_text("#!/bin/sh\nexit 1\n")
    failing.chmod(0o755)
    path = f"{failing.parent}:{os.environ['PATH']}"
    result = run("backup", "file", "--data-dir", "data", cwd=tmp_path, env={"PATH": path})
    assert result.returncode == 1 and "tar could not do it" in result.stderr
    assert not [each for each in tmp_path.rglob("*") if "backup" in each.name or each.suffix == ".partial"]
    refused = run("backup", "file", "--url", "http://127.0.0.1:1", cwd=tmp_path)
    assert refused.returncode == 64 and "--url" in refused.stderr, "a backup is of a folder, not of an address"


def test_a_folder_is_no_ready_file(tmp_path):
    kept = tmp_path / "folder" / "kept"
    kept.parent.mkdir()
    kept.write_text("kept")
    result = run("serve", "--port", "0", "--ephemeral", "--ready-file", kept.parent, cwd=tmp_path)
    assert result.returncode == 64 and "is a folder" in result.stderr
    assert kept.read_text() == "kept"


def test_metrics_count_requests_jobs_and_connections_and_name_nobody(tmp_path, chunks):
    with running(tmp_path, "--ephemeral") as server:
        client = server.client()
        transaction = client.transaction("unmistakable")
        transaction.init()
        transaction.upload(client.s3(), *chunks[0])
        transaction.commit()
        transaction.poll()
        text = requests.get(f"{server.base_url}/metrics").text
    assert 'scribe_requests_total{method="POST",route="/voice/api/v2/transaction/init/{txn_id}",status="201"} 1' in text
    assert 'scribe_chunks_total{transcriber="fake",outcome="success"} 1' in text
    assert 'scribe_transactions_total{outcome="success"} 1' in text
    assert 'scribe_request_seconds_bucket{method="PUT",route="S3 PutObject",le="+Inf"} 1' in text
    for name in ("scribe_connections", "scribe_jobs", "scribe_database_bytes", "scribe_memory_held_bytes", "process_open_fds"):
        assert re.search(rf"^{name} [1-9.0]+", text, re.M), name
    assert "unmistakable" not in text and "m-prod" not in text
    families = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(families) == len(set(families))


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


@pytest.mark.covers("C-74")
def test_a_full_disk_is_503_and_loses_nothing(tmp_path, chunks):
    """A file size limit stands in for the disk; once it is lifted, everything goes on."""
    with running(tmp_path, "--data-dir", "data") as server:
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
        assert requests.get(f"{server.base_url}/livez").status_code == 200
        subprocess.run(["prlimit", "--fsize=unlimited:", "--pid", str(server.process.pid)], check=True)
        s3.put_object(Bucket="b", Key="k", Body=b"x")
        assert transaction.commit().status_code == 200
        assert transaction.poll().status_code == 200
        files = [p for p in (tmp_path / "data/objects").rglob("*") if p.is_file()]
        assert len(files) == 2, "what was not stored has left no file"


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


def test_a_full_disk_is_cured_by_deletions_and_a_server_starts_on_it(tmp_path, small_disk):
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

    def storage(server):
        return requests.get(f"{server.base_url}/readyz").json()["components"]["storage"]

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
        assert storage(server) == "ready"
        count = fill(s3, 0)
        exhaust("rest")
        s3.delete_object(Bucket="b", Key="0")
        count = fill(s3, count)
    with running(tmp_path, *flags, prefix=small_disk) as server:
        assert storage(server) == "full"
        s3 = s3_client(server)
        for number in range(1, count):
            s3.delete_object(Bucket="b", Key=f"{number}")
        assert storage(server) == "ready"
        s3.put_object(Bucket="b", Key="again", Body=b"x")
        assert s3.list_objects_v2(Bucket="b")["KeyCount"] == 1


def test_reading_an_object_while_it_is_replaced_never_breaks(tmp_path):
    with running(tmp_path, "--ephemeral") as server:
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


def test_sigterm_during_an_upload_ends_well(tmp_path):
    import socket

    server = Server(tmp_path, "--data-dir", "data")
    url = server.client().s3().generate_presigned_url("put_object", {"Bucket": "b", "Key": "k"})
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(
            f"PUT {url.removeprefix(server.base_url)} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            "Content-Length: 1000000\r\n\r\n".encode() + bytes(600_000)
        )
        wait_until(lambda: list(tmp_path.glob("data/objects/*/*")), "the upload has begun")
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


def test_the_binary_runs_from_any_directory(tmp_path):
    copy = shutil.copy(BINARY, tmp_path / "elsewhere")
    assert subprocess.run([copy, "version"], cwd="/", capture_output=True, text=True).stdout.strip()
    with running(tmp_path, "--ephemeral") as server:
        served = requests.get(f"{server.base_url}/openapi.yaml").text
    assert served == (ROOT / "openapi/scribe.yaml").read_text()


def test_ready_waits_and_env_tells_where_the_server_is(tmp_path):
    ready_file = tmp_path / "ready.json"
    assert run("ready", "--ready-file", ready_file).returncode == 1
    waiting = subprocess.Popen([BINARY, "ready", "--wait", "--timeout", f"{PATIENCE}s", "--ready-file", ready_file])
    with running(tmp_path, "--ephemeral") as server:
        assert waiting.wait(timeout=PATIENCE) == 0
        assert run("ready", "--url", server.base_url).returncode == 0
        dotenv = run("env", "--format", "dotenv", "--ready-file", ready_file).stdout
        values = dict(line.split("=", 1) for line in dotenv.splitlines())
        assert values["SCRIBE_BASE_URL"] == server.base_url
        assert server.client(values["SCRIBE_CLIENT_ID"], values["SCRIBE_CLIENT_SECRET"]).tokens["access_token"]
        parsed = json.loads(run("env", "--format", "json", "--url", server.base_url).stdout)
        assert parsed["base_url"] == server.base_url
        assert server.base_url in run("env", "--ready-file", ready_file).stdout
        (tmp_path / "scribe.yaml").write_text(f"ready-file: {ready_file}\n")
        for verb in ("env", "ready"):
            assert server.base_url in run(verb, "--config", tmp_path / "scribe.yaml").stdout
        strict = run("env", "--url", server.base_url, env={"SCRIBE_AUTH": "strict"})
        assert strict.returncode != 0 and "no demo client" in strict.stderr
    assert run("ready", "--url", server.base_url).returncode == 1


def test_settings_come_from_flag_environment_and_file_in_this_order(tmp_path):
    config = tmp_path / "scribe.yaml"
    config.write_text("transcriber: command:true {file}\nauth: strict\ndemo-seed: true\nephemeral: true\n")
    with running(tmp_path, "--config", str(config), environment={"SCRIBE_AUTH": "open"}) as server:
        assert requests.get(f"{server.base_url}/readyz").json()["components"]["transcriber"] == "command"
        assert requests.get(f"{server.base_url}/credentials").status_code == 200
    with running(tmp_path, "--auth", "strict", environment={"SCRIBE_AUTH": "open", "SCRIBE_CONFIG": str(config)}) as server:
        assert requests.get(f"{server.base_url}/credentials").status_code == 401


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["--port", "70000"], "--port: '70000' is not a number from 0 to 65535"),
        (["--auth", "maybe"], "is none of lenient, open, strict"),
        (["--transcriber", "whisper"], "use fake, openai:URL, deepgram:URL or command:PROGRAM"),
        (["--transcriber", "command:/nowhere/stt {wav}"], "there is no program '/nowhere/stt' that can be run"),
        (["--transcriber", "command:'open"], "a quote in the command is not closed"),
        (["--transcriber", "command:true"], "the command names neither {wav} nor {file}"),
        (["--transcriber", "command:"], "the command names no program"),
        (["--transcriber", "command:cat {wave}"], "{wave} is no placeholder"),
        (["--ready-file", "/nowhere/ready.json"], "--ready-file: nothing can be written in /nowhere"),
        (["--ephemeral", "--data-dir", "d"], "--ephemeral and --data-dir exclude each other"),
        (["--fixtures", "fixtures.yaml"], "'pasages' is not known; did you mean 'passages'?"),
        (["--clients", "clients.yaml"], "'transaktion_limit' is not known; did you mean 'transaction_limit'?"),
        (["--host", "0.0.0.0"], "--allow-unverified-tokens-from-network"),
        (["--clients", "/nowhere.yaml"], "/nowhere.yaml: cannot be read"),
        (["--data-dir", "/proc/nothing"], "cannot be used"),
        (["--config", "wrong.yaml"], "'transcribr' is not a setting; did you mean 'transcriber'?"),
        (["--prot", "1"], "--port"),
    ],
)
def test_a_setting_that_cannot_be_ends_the_start_with_a_reason(tmp_path, arguments, expected):
    (tmp_path / "wrong.yaml").write_text("transcribr: fake\n")
    (tmp_path / "fixtures.yaml").write_text("fixtures: [{name: x, pasages: [y]}]\n")
    (tmp_path / "clients.yaml").write_text("clients: [{client_id: c, transaktion_limit: 1}]\n")
    result = run("serve", "--port", "0", *arguments, cwd=tmp_path)
    assert result.returncode != 0
    assert expected in result.stderr


@pytest.mark.parametrize(
    "flag, content, expected",
    [
        ("--fixtures", "fixtures: [{name: x, failure: foo}]", "'foo' is not known; there are no_audio, "),
        ("--fixtures", "fixtures: [{name: x, refuses: [poll]}]", "'poll' is not known; there are init, upload, "),
        ("--fixtures", "fixtures: [{sha256: 9f86d081…}]", "a sha256 has 64 hex digits"),
        ("--fixtures", "fixtures: [{name: x, delay: .inf}]", "a delay is 0 to 86400 seconds"),
        ("--fixtures", "fixtures: [{name: x, delay: .nan}]", "a delay is 0 to 86400 seconds"),
        ("--fixtures", "fixtures: [{name: x, delay: -1}]", "a delay is 0 to 86400 seconds"),
        ("--fixtures", "fixtures: [{name: 'fixture:x'}]", "a name goes without 'fixture:'"),
        ("--fixtures", "fixtures: [{name: x}, {name: x}]", "the fixture 'x' is there twice"),
        ("--clients", "clients: [{client_id: '', client_secret: s, business_id: b, user_id: u, doctor_id: d}]",
         "must not be empty"),
        ("--clients",
         "clients: [{client_id: c, client_secret: s, business_id: b, user_id: u, doctor_id: d, transaction_limit: -1}]",
         "a transaction_limit cannot be negative"),
        ("--clients", "", "the file: "),
    ],
)
def test_an_entry_that_cannot_be_ends_the_start_with_a_reason(tmp_path, flag, content, expected):
    (tmp_path / "entries.yaml").write_text(content)
    result = run("serve", "--port", "0", "--ephemeral", flag, "entries.yaml", cwd=tmp_path)
    assert result.returncode == 1
    assert expected in result.stderr


def test_a_port_or_a_folder_in_use_is_explained(tmp_path):
    with running(tmp_path, "--data-dir", "data") as server:
        taken = run("serve", "--ephemeral", "--port", str(server.port), cwd=tmp_path)
        assert taken.returncode == 1
        assert "is in use; choose another with --port" in taken.stderr
        shared = run("serve", "--port", "0", "--data-dir", "data", cwd=tmp_path)
        assert shared.returncode == 1
        assert "in use by another scribe-emulator" in shared.stderr


def test_logs_hold_no_transcript_token_secret_or_name(tmp_path, chunks):
    with running(tmp_path, "--ephemeral", "--log-level", "trace") as server:
        client = server.client()
        s3 = client.s3()
        keys = client.session.get(f"{server.base_url}/credentials").json()["credentials"]
        transaction = client.transaction("logged")
        transaction.init(patient_details={"username": "Asha Unmistakable", "age": 45})
        for chunk in chunks:
            transaction.upload(s3, *chunk)
        transaction.upload(s3, chunks[0][0], name="Asha Unmistakable.m4a")
        requests.put(s3.generate_presigned_url("put_object", {"Bucket": "b", "Key": "k"}), data=b"x")
        transaction.commit()
        assert transaction.poll().status_code == 200
        requests.get(f"{server.base_url}/voice/api/v2/transaction/history?oid=Unmistakable")
        client.session.post(f"{server.base_url}/connect-auth/v1/account/refresh", json=client.tokens)
    log = server.log
    secrets = [
        "Unmistakable", "fever", client.tokens["access_token"], client.tokens["refresh_token"], "dev-secret",
        keys["SecretKey"], keys["SessionToken"], "X-Amz-Signature",
    ]
    assert [secret for secret in secrets if secret in log] == []
    lines = [json.loads(line) for line in log.splitlines()]
    assert all({"time", "level", "message"} <= line.keys() for line in lines)
    assert any(line.get("route") == "/voice/api/v2/transaction/commit/{txn_id}" for line in lines)
    assert all(line["request_id"] for line in lines if "route" in line)


def test_what_the_configuration_does_not_offer_is_logged_once_and_only_names_are_named(tmp_path):
    with running(tmp_path, "--ephemeral") as server:
        mine, other = server.client(), server.client("dev-client-2", "dev-secret-2")
        for client, number in ((mine, 1), (mine, 2), (other, 3)):
            assert client.transaction(f"odd-{number}").init(
                mode="ward-round", model_type="Asha Unmistakable", input_language=["en-IN", "hi", "tlh"],
            ).status_code == 201
        assert mine.transaction("known").init().status_code == 201
    lines = [json.loads(line) for line in server.log.splitlines()]
    told = [line for line in lines if line["message"] == "init asks for what the configuration does not offer"]
    assert {line["level"] for line in told} == {"notice"}
    once = [("input_language", "3_languages"), ("input_language", "tlh"), ("mode", "ward-round"), ("model_type", "-")]
    assert sorted((line["field"], line["value"]) for line in told) == sorted(2 * once), "once for each client"
    assert "Unmistakable" not in server.log


def test_the_banner_is_for_terminals_and_its_line_to_paste_works(tmp_path):
    import pty

    master, slave = pty.openpty()
    process = subprocess.Popen(
        [BINARY, "serve", "--port", "0", "--ephemeral"], stdout=slave, stderr=subprocess.DEVNULL, cwd=tmp_path
    )
    os.close(slave)
    text = ""
    while "Ctrl-C" not in text:
        text += os.read(master, 4096).decode()
    try:
        assert "dev-client / dev-secret" in text
        assert "Transcriber   fake" in text
        line = re.search(r"curl .*", text).group().strip()
        answer = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
        assert json.loads(answer.stdout)["access_token"]
    finally:
        process.terminate()
        assert process.wait(timeout=PATIENCE) == 0
        os.close(master)


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
