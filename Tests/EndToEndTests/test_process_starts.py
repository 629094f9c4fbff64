"""Start of the process: ready file, settings, ports, logs and metrics."""

import fcntl
import json
import os
import re
import shutil
import socket
import subprocess

import pytest
import requests
from emulator import BINARY, LOGGING, PATIENCE, ROOT, SHORT, run, running, wait_until
from journal import Journal


def test_the_ready_file_has_url_and_process_id_and_is_deleted_at_the_end_with_ephemeral_data(tmp_path):
    with running(tmp_path, "--ephemeral", environment={"TMPDIR": str(tmp_path / "t")}) as server:
        content = json.loads(server.ready_file.read_text())
        assert content == {"base_url": server.base_url, "pid": server.process.pid}
        assert requests.get(f"{server.base_url}/readyz").json()["status"] == "ready"
        assert requests.get(f"{server.base_url}/livez").json() == {"status": "alive", "pid": server.process.pid}
        assert server.client().transaction().init().status_code == 201
    assert not server.ready_file.exists() and not list(tmp_path.glob("**/scribe.sqlite"))


def test_a_ready_file_stays_with_its_server(usual_server, tmp_path):
    """Another server, one that cannot start, and `exec` in its environment leave it."""
    file = usual_server.ready_file
    before = (file.read_text(), file.stat().st_ino)
    for flags in ("--ephemeral", "--log-level=loud"):
        refused = run("serve", "--port", "0", flags, "--ready-file", file, cwd=tmp_path)
        assert refused.returncode == 2
    variables = {**os.environ, "SCRIBE_READY_FILE": str(file)}
    for where in ((), ("--ns",)):
        said = run("exec", *where, "--", "env", cwd=tmp_path, env=variables)
        assert said.returncode == 0, said
        assert "SCRIBE_READY_FILE" not in said.stdout and "SCRIBE_BASE_URL" in said.stdout
    assert (file.read_text(), file.stat().st_ino) == before


def test_metrics_count_requests_jobs_and_connections_without_names_of_people(served, chunks):
    server = served(*LOGGING)
    counted = (
        'scribe_transactions_total{outcome="success"}',
        'scribe_requests_total{method="POST",route="/voice/api/v2/transaction/init/{txn_id}",status="201"}',
        'scribe_chunks_total{transcriber="fake",outcome="success"}',
        'scribe_request_seconds_bucket{method="PUT",route="S3 PutObject",le="+Inf"}')

    def counts() -> list[int]:
        text = requests.get(f"{server.base_url}/metrics").text
        found = (re.search(rf"^{re.escape(name)} (\d+)$", text, re.M) for name in counted)
        return [int(each[1]) if each else 0 for each in found]

    before = counts()
    client = server.client()
    transaction = client.transaction("unmistakable")
    transaction.init()
    transaction.upload(client.s3(), *chunks[0])
    transaction.commit()
    transaction.poll()
    # The poll is answered by the same write, which the count follows.
    wait_until(lambda: counts()[0] == before[0] + 1, "the transaction is counted")
    assert counts() == [count + 1 for count in before]
    text = requests.get(f"{server.base_url}/metrics").text
    for name in (
        "scribe_connections", "scribe_jobs", "scribe_database_bytes", "scribe_memory_held_bytes", "process_open_fds"
    ):
        assert re.search(rf"^{name} [1-9.0]+", text, re.M), name
    assert "unmistakable" not in text and "m-prod" not in text
    families = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(families) == len(set(families))


def test_the_binary_runs_from_any_directory(server, tmp_path):
    copy = shutil.copy(BINARY, tmp_path / "elsewhere")
    assert subprocess.run([copy, "version"], cwd="/", capture_output=True, text=True).stdout.strip()
    served = requests.get(f"{server.base_url}/openapi.yaml").text
    assert served == (ROOT / "openapi/scribe.yaml").read_text()


def test_the_ready_verb_waits_and_the_env_verb_prints_the_servers_address(tmp_path):
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
        # The health check of a container asks its own server, whatever its clients use.
        elsewhere = {"SCRIBE_PORT": str(server.port), "SCRIBE_BASE_URL": "http://127.0.0.1:1"}
        assert run("ready", cwd=tmp_path, env=elsewhere).stdout == f"ready: {server.base_url}\n"
        assert run("env", cwd=tmp_path, env=elsewhere).returncode == 3
    assert run("ready", "--url", server.base_url).returncode == 1


def test_no_verb_waits_longer_than_its_limit_for_a_body_that_drips():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        ready = subprocess.Popen([BINARY, "ready", "--url", url], stderr=subprocess.PIPE, text=True)
        connection, _ = listening.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            connection.settimeout(0.1)

            def is_over():
                try:
                    connection.sendall(b" ")
                    connection.recv(1000)
                except TimeoutError:
                    return False
                except OSError:
                    return True
                return ready.poll() is not None

            wait_until(is_over, "the verb gives up")
        assert ready.wait(PATIENCE) == 1
        assert "not ready" in ready.stderr.read()


def test_settings_come_from_flag_environment_and_file_in_this_order(tmp_path):
    config = tmp_path / "scribe.yaml"
    config.write_text("transcriber: command:true {file}\nauth: strict\ndemo-seed: true\nephemeral: true\n")
    with running(tmp_path, "--config", str(config), environment={"SCRIBE_AUTH": "open"}) as server:
        assert requests.get(f"{server.base_url}/readyz").json()["components"]["transcriber"] == "command"
        assert requests.get(f"{server.base_url}/credentials").status_code == 200
    with running(
        tmp_path, "--auth", "strict", environment={"SCRIBE_AUTH": "open", "SCRIBE_CONFIG": str(config)}
    ) as server:
        assert requests.get(f"{server.base_url}/credentials").status_code == 401


def test_a_port_or_a_folder_in_use_is_explained(served, tmp_path):
    server = served("--data-dir", "data")
    taken = run("serve", "--ephemeral", "--port", str(server.port), cwd=tmp_path)
    assert taken.returncode == 1
    assert "is in use; choose another with --port" in taken.stderr
    shared = run("serve", "--port", "0", "--data-dir", server.folder / "data", cwd=tmp_path)
    assert shared.returncode == 1
    assert "in use by another scribe-emulator" in shared.stderr


def test_logs_hold_no_transcript_token_secret_or_name(served, chunks):
    server = served(*SHORT)
    position = len(server.log)
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
    wait_until(lambda: transaction.poll().status_code == 200, "the results are there")
    requests.get(f"{server.base_url}/voice/api/v2/transaction/history?oid=Unmistakable")
    client.session.post(f"{server.base_url}/connect-auth/v1/account/refresh", json=client.tokens)
    server.logged("/account/refresh ", position=position)
    log = server.log[position:]
    secrets = [
        "Unmistakable", "fever", client.tokens["access_token"], client.tokens["refresh_token"], "dev-secret",
        keys["SecretKey"], keys["SessionToken"], "X-Amz-Signature",
    ]
    assert [secret for secret in secrets if secret in log] == []
    lines = [json.loads(line) for line in log.splitlines()]
    assert all({"time", "level", "message"} <= line.keys() for line in lines)
    assert any(line.get("route") == "/voice/api/v2/transaction/commit/{txn_id}" for line in lines)
    assert all(line["request_id"] for line in lines if "route" in line)


@pytest.mark.covers("C-120")
def test_an_unknown_mode_model_or_language_is_logged_once_for_each_client_and_value(served):
    server = served(*LOGGING)
    position = len(server.log)
    mine, other = server.client(), server.client("dev-client-2", "dev-secret-2")
    for client, number in ((mine, 1), (mine, 2), (other, 3)):
        assert client.transaction(f"odd-{number}").init(
            mode="ward-round", model_type="Asha Unmistakable", input_language=["en-IN", "hi", "tlh"],
        ).status_code == 201
    assert mine.transaction("known").init().status_code == 201
    server.logged('"status":201', times=4, position=position)
    lines = [json.loads(line) for line in server.log[position:].splitlines()]
    told = [line for line in lines if line["message"] == "init asks for what the configuration does not offer"]
    assert {line["level"] for line in told} == {"notice"}
    once = [("input_language", "3_languages"), ("input_language", "tlh"), ("mode", "ward-round"), ("model_type", "-")]
    assert sorted((line["field"], line["value"]) for line in told) == sorted(2 * once), "once for each client"
    assert "Unmistakable" not in server.log


def test_a_mistyped_template_gives_a_note_and_its_nearest_id_in_log_and_journal(served):
    server = served("--object-wait", "300ms")
    position, last = len(server.log), max([0, *(row["id"] for row in Journal(server).all())])
    client = server.client()
    own = client.session.post(f"{server.base_url}/voice/api/v1/template", json={
        "title": "Ward round", "desc": "Of the ward.", "section_ids": ["plan"]}).json()["template_id"]
    for number in (1, 2):
        assert client.transaction(f"mistyped-{number}").init(["soap", "clinical_note_template"]).status_code == 201
    for number, template in enumerate(["sop", "eka_emr_template", own, f"{own}x", "Asha Unmistakable"]):
        assert client.transaction(f"right-{number}").init(["soap", own]).status_code == 201
        answer = client.session.post(
            f"{server.base_url}/voice/api/v1/transaction/right-{number}/convert-to-template",
            json={"template_id": template, "transcript": "I have a fever."})
        assert answer.status_code == 202 and answer.json()["template_id"] == template, answer.text
    reasons = [
        row["reason"] for row in Journal(server).all(after=last)
        if "reason" in row and row["operation"] in ("initTransaction", "convertToFirstTemplate")]
    nearest = ["clinical_notes_template", "clinical_notes_template", "soap", own]
    assert sorted(reasons[:-1]) == sorted(f"There is no such template; the nearest is {each}" for each in nearest)
    assert len(reasons) == 5
    told = list(map(json.loads, server.logged("template does not exist", times=4, position=position)))
    assert [(line["field"], line["nearest"]) for line in told[:-1]] == [
        ("template_id", each) for each in nearest[1:]]
    # What was sent may be anybody's words.
    assert all("value" not in line for line in told)
    assert "Unmistakable" not in server.log and "clinical_note_template" not in server.log[position:]


def test_a_log_that_nobody_reads_holds_up_no_request(tmp_path):
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    into = ("sh", "-c", f'exec "$@" 2>/proc/{os.getpid()}/fd/{writing}', "sh")
    with running(tmp_path, "--ephemeral", "--log-format", "json", prefix=into) as server:
        os.close(writing)
        with requests.Session() as session:
            for _ in range(200):
                assert session.get(f"{server.base_url}/voice/ping", timeout=PATIENCE).ok
        with open(reading) as log:
            lines = [json.loads(log.readline()) for _ in range(200)]
    assert sum(line.get("route") == "/voice/ping" for line in lines) > 100


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
