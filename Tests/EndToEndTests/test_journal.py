"""The journal: it has each exchange before the last byte of its answer is sent,
in its own namespace, without credentials."""

import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import stat
import sys
import threading

import h2.events
import pytest
import requests
from client import BUCKET
from emulator import LONG, PATIENCE, PLAIN, STRICT, run, wait_until
from http2_client import Connection
from journal import PROBLEM, Journal, leaks, secrets_of
from namespaces import Access, AllianceClient, EkaClient, access, control, created
from session_client import recording
from visits import RECORDER, Run, recorded  # noqa: F401 (a fixture)
from webhooks import Receiver

STATUS = "/voice/api/v2/transaction/nobody"


@pytest.fixture(scope="module")
def server(served):
    return served(*LONG)


@pytest.fixture
def inside(server):
    return access(server, created(server), "prefix")


def test_no_view_shows_a_credential_of_any_family(server, inside):
    with Receiver() as receiver:
        client = EkaClient(inside)
        RECORDER.exchanges, RECORDER.answers = [], []
        hook = client.session.post(f"{client.base_url}/voice/v1/webhooks", json={
            "url": receiver.url + "/good", "events": ["session.started", "session.ended", "session.completed"],
            "secret": "kéy of nobody"})
        assert hook.status_code in (200, 201), hook.text
        device = client.session.post(f"{client.base_url}/connect-auth/v1/device/code", json={}).json()
        session = requests.Session()
        session.post(
            f"{inside.base_url}/connect-auth/v1/account/refresh",
            json={"refresh_token": client.tokens["refresh_token"]})
        s3 = client.s3()
        s3.put_object(Bucket=BUCKET, Key="visit/1.wav", Body=recording(1))
        link = s3.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "visit/1.wav"})
        session.get(link)
        # Credentials where no name tells that they are some.
        keys = client.session.get(f"{client.base_url}/credentials").json()["credentials"]
        misplaced = [inside.secret, inside.key, keys["SecretKey"], keys["SessionToken"], *client.tokens.values()]
        misplaced = [value for value in map(str, misplaced) if len(value) > 30]
        for value in misplaced:
            text = f"I say\n{value}, she said"
            session.get(f"{inside.base_url}/nowhere/{value}/x", params={"q": text})
            client.session.post(f"{client.base_url}/voice/v1/sessions", json={"patient": {"name": text}, value: 1})
        visit = Run(server, inside)
        visit.first()
        exchanges = list(RECORDER.exchanges)
        visit.second()
        RECORDER.answers = None
        exchanges += [each for each in RECORDER.exchanges if each not in exchanges]
        journal = Journal(server, inside.name)
        assert journal.wait(kind="delivery", event="completed").status_code == 200
        found = secrets_of(exchanges)
        found["misplaced"] = set(misplaced)
        found["of the namespace"] = {inside.secret, inside.key, client.tokens["access_token"], device["device_code"]}
        found["of webhooks"] = {
            part.rpartition("=")[2] for request in receiver.recorder.requests
            for name, value in request.headers.items() if name.lower().endswith("signature")
            for part in value.split(",")
            if len(part) > 30}
        kinds = (
            "authorization refresh_token access_token secretkey sessiontoken suki_token x-amz-signature ticket").split()
        assert [kind for kind in [*kinds, "of webhooks"] if not found.get(kind)] == []
        texts = journal.views()
        assert leaks(texts, found) == []
        # The families that conditions may name.
        names = {each["family"] for each in journal.all() if each["kind"] != "delivery"}
        assert len(names) >= 6 and all(journal.verify(family=name).status_code == 200 for name in names), names
        assert any(view.startswith("recording") for view in texts) and "***" in texts["export"]
        # Words are there, and audio is not.
        assert "fever" in texts["details"] and "base64" not in texts["list"]
        wav = [each for each in journal.details(operation="PutObject") if each["path"].endswith("1.wav")][0]
        assert set(wav["request"]["body"]) == {"size", "md5"}


#: Requests of different shapes: how the answer ends differs.
def requests_of(base: str, token: str):
    headers = {"Authorization": f"Bearer {token}"}
    return [
        ("GET", "/voice/api/v2/config", headers), ("GET", STATUS, headers), ("GET", STATUS, {}),
        ("HEAD", "/voice/api/v2/config", headers),
        ("OPTIONS", "/voice/api/v2/config", {"Origin": "http://localhost:1"}),
        ("GET", "/voice/api/v2/transaction/history", headers), ("GET", "/nowhere/at/all", {}),
        ("GET", f"/{BUCKET}?list-type=2", {}),
    ]


def test_an_exchange_is_in_the_journal_before_the_last_byte_of_its_answer(server, inside):
    token = EkaClient(inside).tokens["access_token"]
    journal = Journal(server, inside.name)
    shapes = requests_of(inside.base_url, token)

    def visit(worker: int):
        for number in range(30):
            method, path, headers = shapes[(number + worker) % len(shapes)]
            mark = f"w{worker}-{number}"
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
            connection.request(
                method, f"/ns/{inside.name}{path}{'&' if '?' in path else '?'}mark={mark}", headers=headers)
            status = connection.getresponse()
            status.read()
            found = journal.all(query=f"mark={mark}")
            assert [(each["status"], each["end"]) for each in found] == [(status.status, "whole")], (
                method, path, found)
            connection.close()

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(visit, range(4)))


def test_the_journal_has_downloads_and_answers_without_a_length(server, inside):
    client = EkaClient(inside)
    s3, journal = client.s3(), Journal(server, inside.name)
    for size in (0, 100, 65_536, 65_537, 3_000_000):
        s3.put_object(Bucket=BUCKET, Key=f"large/{size}", Body=os.urandom(size))
        assert len(s3.get_object(Bucket=BUCKET, Key=f"large/{size}")["Body"].read()) == size
        found = journal.details(operation="GetObject")[-1]
        assert (found["status"], found["end"], found.get("response_bytes", 0)) == (200, "whole", size)
        assert "text" not in found["response"].get("body", {})


def test_the_journal_has_all_requests_of_one_http2_connection(server):
    before = len(Journal(server).all())
    with Connection(server) as connection:
        streams = [connection.open(path=f"/voice/ping?number={number}") for number in range(20)]
        while len([each for each in connection.events if isinstance(each, h2.events.StreamEnded)]) < len(streams):
            assert connection.receive()
    found = Journal(server).all()[before:]
    assert [each["status"] for each in found] == [200] * 20
    assert {each["host"] for each in found} == {"api.eka.care"}


def test_namespaces_see_their_own_exchanges_only(server):
    one, other = (created(server) for _ in range(2))
    ways = [access(server, one, way) for way in ("prefix", "header", "credentials")]
    before = len(Journal(server).all())
    for inside in ways:
        client = EkaClient(inside)
        client.get(f"{STATUS}")
        client.s3().put_object(Bucket=BUCKET, Key="a/1.wav", Body=b"RIFF")
    journal = Journal(server, one["name"])
    assert journal.verify(operation="readTransaction", times=3).status_code == 200
    assert journal.verify(operation="PutObject", status=200, times=3).status_code == 200
    assert Journal(server, other["name"]).all() == []
    # Who lacks a valid namespace is in the journal of the server's own.
    requests.get(f"{server.base_url}/ns/nobody{STATUS}", timeout=PATIENCE)
    requests.get(server.base_url + STATUS, headers={"X-Scribe-Namespace": "nobody"}, timeout=PATIENCE)
    assert [each["status"] for each in Journal(server).all()[before:]] == [404, 404]


def test_a_form_whose_token_names_the_namespace_is_in_its_journal(server):
    inside = access(server, created(server), "credentials")
    client = AllianceClient(inside)
    session = client.create(templates=["soap"])
    before = len(Journal(server).all())
    link = client.session.get(
        f"{inside.base_url}/voice/v1/sessions/{session['session_id']}", params={"version": "v2"}, timeout=PATIENCE)
    assert link.ok, link.text
    upload = EkaClient(inside).session.post(
        f"{server.base_url}/v1/file-upload?action=ekascribe-v2", timeout=PATIENCE).json()
    form = upload["uploadData"]
    answer = requests.post(
        form["url"], data={**form["fields"], "key": upload["folderPath"] + "1.wav"}, files={"file": recording(1)},
        timeout=PATIENCE)
    assert answer.status_code == 204, answer.text
    assert Journal(server, inside.name).verify(operation="PostObject", status=204).status_code == 200
    assert all(each["path"] != f"/{BUCKET}" for each in Journal(server).all()[before:])


def test_the_journal_names_the_nearest_operation_for_an_unknown_path_or_method(server, inside):
    token = EkaClient(inside).tokens["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    for method, path, meant in [
        ("GET", "/voice/api/v2/transaktion/t-1", "readTransaction"),
        ("GET", "/voice/api/v2/transaction/init/t-1", "initTransaction"),
        ("POST", "/connect-auth/v1/akkount/login", "login"),
        ("POST", "/v1/lisden", "recogniseRecording"),
    ]:
        answer = requests.request(method, inside.base_url + path, headers=headers, timeout=PATIENCE)
        assert answer.status_code >= 400
        found = Journal(server, inside.name).call("GET", "/unmatched").json()["requests"][-1]
        assert (found["path"], found["nearest"]["operation"]) == (path, meant), found
        assert found["reason"]
    client = EkaClient(inside)
    client.session.post(f"{client.base_url}/voice/api/v2/transaction/init/t", json={"mode": 7})
    refused = Journal(server, inside.name).all(status="4xx", operation="initTransaction")[-1]
    assert "transfer" in refused["reason"] and "nearest" not in refused


def test_an_expectation_that_is_not_met_shows_the_nearest_misses(server, inside):
    client = EkaClient(inside)
    for id in ("t-1", "t-2"):
        client.transaction(id).init([])
    answer = Journal(server, inside.name).verify(
        operation="initTransaction", transaction="t-2", body={"mode": "dictation", "transfer": "*"}, times=1)
    assert answer.status_code == 422 and answer.headers["Content-Type"] == PROBLEM
    problem = answer.json()
    assert problem["misses"][0]["path"].endswith("/t-2")
    assert problem["misses"][0]["differences"] == [
        {"name": "body", "expected": '{"mode":"dictation","transfer":"*"}', "found": 'mode: "consultation"'}]
    assert problem["diff"].splitlines()[1:4] == [
        "--- expected", f"+++ {problem['misses'][0]['id']}: POST /voice/api/v2/transaction/init/t-2",
        '-body={"mode":"dictation","transfer":"*"}'], problem["diff"]


def test_a_wait_is_answered_as_soon_as_its_expectation_is_met(server, inside):
    journal, answers = Journal(server, inside.name), []
    waiting = threading.Thread(target=lambda: answers.append(journal.wait(operation="readTransaction", times=2)))
    waiting.start()
    client = EkaClient(inside)
    for _ in range(2):
        assert not answers
        client.get(STATUS)
    waiting.join(PATIENCE)
    assert answers[0].status_code == 200 and answers[0].json()["count"] == 2
    late = journal.call("GET", "/wait", params={"operation": "commitTransaction", "timeout": "50ms"})
    assert late.status_code == 422 and late.json()["code"] == "not_verified"


def test_the_journal_has_each_attempt_of_a_delivery(server, inside):
    client = EkaClient(inside)
    with Receiver() as receiver:
        client.session.post(f"{client.base_url}/voice/v1/webhooks", json={
            "url": receiver.url + "/flaky", "events": ["session.started"],
            "secret": "kéy of nobody"}).raise_for_status()
        client.transaction("t-1").init([])
        journal = Journal(server, inside.name)
        failed = journal.wait(kind="delivery", event="started", status=500)
        assert failed.status_code == 200, failed.text
        found = journal.details(kind="delivery")[0]
        assert (found["attempt"], found["transaction"], found["path"]) == (1, "t-1", "/flaky")
        assert found["reason"] == "answered 500" and "t-1" in found["request"]["body"]["text"]
        signature = [each["value"] for each in found["request"]["headers"] if "ignature" in each["name"]]
        assert signature == ["***"]


def test_the_journal_has_applied_faults_and_cut_answers(server, inside):
    client, journal = EkaClient(inside), Journal(server, inside.name)
    for rule, end in [
        ({"status": 503}, "whole"), ({"connection": "reset"}, "cut"), ({"connection": "half", "when": "after"}, "cut"),
        ({"connection": "dribble", "rate": 100_000, "when": "after"}, "whole"),
    ]:
        added = control(
            server, "POST", "faults/next", params={"namespace": inside.name}, json={"operation": "readConfig", **rule})
        assert added.status_code == 201, added.text
        try:
            client.session.get(f"{client.base_url}/voice/api/v2/config", timeout=PATIENCE)
        except requests.RequestException:
            pass
        wait_until(lambda: journal.all(operation="readConfig")[-1]["end"] != "open", "the answer has ended")
        found = journal.all(operation="readConfig")[-1]
        assert found["end"] == end, (rule, found)
        assert found["fault"] == added.json()["id"]


def test_hostile_texts_make_no_view_slow_or_wrong(server, inside):
    token = EkaClient(inside).tokens["access_token"]
    journal = Journal(server, inside.name)
    bodies = [
        b'{"token":' * 50_000, b"\\" * 500_000, b'"' * 500_000, b'{"a":"' + b"\\" * 400_000, b"\xff\xfe{}" * 9,
        b"eyJ." * 100_000,
        ("{" + '"token":["' * 40_000).encode(), ("é" * 200_000).encode(), b"\0" * 1000, b"token=" * 80_000,
    ]
    for body in bodies:
        answer = requests.post(
            f"{inside.base_url}/voice/api/v2/transaction/init/t", body, timeout=PATIENCE,
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        assert 400 <= answer.status_code < 500
    assert len(journal.details(operation="initTransaction")) == len(bodies)
    archive = journal.archive()
    assert len([each for each in archive["entries"] if each.get("_operation") == "initTransaction"]) == len(bodies)
    assert journal.verify(body={"mode": "consultation"}).status_code == 422


@pytest.mark.parametrize("call", ["", "/unmatched", "/export", "/stream", "/wait"])
@pytest.mark.parametrize(
    "query", [{"operation": "\0"}, {"status": "1e3"}, {"limit": "0"}, {"since": "1"}, {"after": "-1"}, {"kind": ""},
              {"header": ":"}, {"unknown": "1"}, {"body": "{"}, {"path": ""}, {"times": "x"},
              {"transaction": "x" * 300}])
def test_invalid_journal_conditions_are_refused(server, call, query):
    answer = Journal(server).call("GET", call, params=query)
    assert answer.status_code == 400 and answer.headers["Content-Type"] == PROBLEM, answer.text


def test_a_har_parser_reads_the_exported_archive(server, inside, tmp_path):
    from haralyzer import HarParser

    client = EkaClient(inside)
    client.transaction("t-1").init([])
    client.get(STATUS + "?a=b&c")
    parser = HarParser(Journal(server, inside.name).call("GET", "/export").json())
    urls = [entry["request"]["url"] for page in parser.pages or [] for entry in page.entries] or [
        entry["request"]["url"] for entry in parser.har_data["entries"]]
    assert f"{inside.base_url}/voice/api/v2/transaction/init/t-1" in urls
    last = parser.har_data["entries"][-1]
    assert last["request"]["queryString"] == [{"name": "a", "value": "b"}, {"name": "c", "value": ""}]
    assert last["startedDateTime"].endswith("Z") and last["time"] >= 0


def test_verbs_list_show_verify_and_export(server, inside, tmp_path):
    client = EkaClient(inside)
    client.transaction("t-1").init([])
    client.get("/voice/api/v2/transaktion/t-1")
    of = ("--url", server.base_url, "--namespace", inside.name)

    def verb(*arguments, code=0):
        result = run("requests", *arguments, *of)
        assert result.returncode == code, result
        return result.stdout

    listed = verb("list")
    assert re.search(r"POST  /voice/api/v2/transaction/init/t-1  201  [0-9.]+ ms  initTransaction", listed), listed
    assert "meant: GET /voice/api/v2/transaction/{txn_id}?" in verb("list", "--unmatched")
    number = re.search(r"(?m)^(\d+)  POST  \S+init/t-1", listed)[1]
    assert '"mode"' in verb("show", number).replace("\\", "")
    assert "verified: 1" in verb("verify", "operation=initTransaction", "times=1")
    missed = verb("verify", "operation=initTransaction", "status=500", code=1)
    assert "-status=500\n+status=201" in missed
    assert "-status=500" in verb("verify", "operation=initTransaction", "status=500", "--timeout", "50ms", code=1)
    file = tmp_path / "visit.har"
    verb("export", str(file))
    assert json.loads(file.read_text())["log"]["entries"] and stat.S_IMODE(file.stat().st_mode) == 0o600
    verb("export", str(file), code=1)
    verb("clear")
    assert "no requests" in verb("list")
    assert run("requests", "verify", "status", *of).returncode == 2


SCRIPT = """
import os, sys, urllib.request
try: urllib.request.urlopen(os.environ["SCRIBE_BASE_URL"] + "/voice/api/v2/transaction/of-the-command")
except Exception: pass
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("way", ["own server", "namespace"])
def test_a_failed_command_leaves_its_requests_beside_the_snapshot(server, tmp_path, way):
    flags = ("--ns", "--url", server.base_url) if way == "namespace" else ()
    file = tmp_path / "state.tar"
    failed = run(
        "exec", *flags, "--export-on-failure", str(file), "--", sys.executable, "-c", SCRIPT, "7", cwd=tmp_path)
    assert failed.returncode == 7, failed.stderr
    archive = tmp_path / "state.tar.har"
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600 and str(archive) in failed.stderr
    assert "of-the-command" in archive.read_text()
    assert b"of-the-command" not in file.read_bytes()
    passed = run(
        "exec", *flags, "--export-on-failure", str(tmp_path / "b"), "--", sys.executable, "-c", SCRIPT, "0",
        cwd=tmp_path)
    assert passed.returncode == 0 and not (tmp_path / "b.har").exists()
    again = run("exec", *flags, "--export-on-failure", str(file), "--", "true", cwd=tmp_path)
    assert again.returncode == 2 and "exists" in again.stderr


def test_logs_snapshots_and_backups_contain_no_journal_data(served, tmp_path):
    server = served("--data-dir", "data")
    folder = server.folder / "data"
    client = EkaClient(Access(server.base_url))
    client.get("/voice/api/v2/transaction/history?patient=word-of-a-patient")
    assert Journal(server).verify(query="patient=word-of-*").status_code == 200
    control(server, "PUT", "snapshots/one").raise_for_status()
    exported = control(server, "GET", "snapshots/one/content").content
    backup = tmp_path / "backup"
    saved = run("backup", "--data-dir", str(folder), str(backup))
    assert saved.returncode == 0, saved.stderr
    assert "word-of-a-patient" not in server.log and b"word-of-a-patient" not in exported
    for root in (folder, backup):
        for file in (each for each in root.rglob("*") if each.is_file()):
            assert b"word-of-a-patient" not in file.read_bytes(), file


@pytest.mark.parametrize(
    "flags, mode", [
        (LONG, "full"), pytest.param(("--auth", "open"), "full", marks=pytest.mark.full),
        (STRICT, None),
        (("--host", "0.0.0.0", "--allow-unverified-tokens-from-network", "--admin-token", "operator"), None),
        pytest.param(
            (*STRICT, "--journal", "metadata"), "metadata", marks=pytest.mark.full),
        (PLAIN, None)])
def test_the_journal_stores_bodies_only_on_loopback_without_strict_mode(served, flags, mode):
    server = served(*flags)
    operator = {"Authorization": "Bearer operator"} if "--admin-token" in flags else {}
    # Other users of the machine see the arguments of a process.
    assert b"operator" not in pathlib.Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
    # What other tests have sent.
    control(server, "DELETE", "requests", headers=operator)
    requests.get(
        f"{server.base_url}{STATUS}?patient=ada", headers={"Authorization": "Bearer hush"}, timeout=PATIENCE)
    answer = control(server, "POST", "requests/find", json={}, headers=operator)
    assert control(server, "GET", "requests").status_code == (401 if operator else 200 if mode else 409)
    if mode is None:
        assert answer.status_code == 409 and answer.json()["code"] == "journal_off"
        return
    assert answer.json()["mode"] == mode
    assert ("patient=ada" in answer.text) == (mode == "full")
    assert answer.json()["requests"][0]["route"] == "/voice/api/v2/transaction/{txn_id}"


def test_the_published_compose_file_keeps_a_full_journal_for_this_machine_only():
    import yaml
    from emulator import ROOT

    (service,) = yaml.safe_load((ROOT / "docker/compose.yaml").read_text())["services"].values()
    (secure,) = yaml.safe_load((ROOT / "docker/compose.tls.yaml").read_text())["services"].values()
    assert all(str(port).startswith("${SCRIBE_PUBLISH:-127.0.0.1}:") for port in service["ports"] + secure["ports"])
    environment = service["environment"]
    given = environment if isinstance(environment, dict) else dict(each.split("=", 1) for each in environment)
    assert given["SCRIBE_JOURNAL"] == "full"

