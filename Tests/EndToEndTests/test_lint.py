"""`lint` as its users meet it: its report in each format, `exec --lint`, receivers of webhooks and sockets that make
mistakes, and real clients that make none."""

import dataclasses
import datetime
import json
import pathlib
import sys
import threading
from collections.abc import Callable

import faults
import junitparser
import pytest
import requests
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif
import speech
import tls
from ambient_samples import START, samples
from client import BUCKET
from emulator import NAMED, PATIENCE, PLAIN, Server, run, wait_until
from faults import Place
from http_recorder import Answer, HTTPRecorder, Request
from journal import Journal
from listen_client import environment, voice
from namespaces import (
    Access, AllianceClient, EkaClient, OmiDevice, access, ambient_client, control, created, finished, listener,
)
from recorded_sdk import RecordedSDK
from session_client import form_of, recording, send
from test_python_sdk import Ekacare
from webhooks import KEY, verified
from websocket_driver import RawSocket, binary_frame, json_frame

#: What no report may have.
SECRET = "hunter2-hunter2-hunter2"


def report(server, name: str, **scope: str) -> dict:
    answer = control(server, "GET", "lint", params={"namespace": name, **scope})
    assert answer.status_code == 200, answer.text
    return answer.json()


def found(server, name: str, **scope: str) -> list[tuple[str, str]]:
    """Severity and rule of each finding."""
    return [(each["severity"], each["rule"]) for each in report(server, name, **scope)["findings"]]


def ping(inside: Access, query=""):
    requests.get(f"{inside.base_url}/ns/{inside.name}/voice/ping{query}", timeout=PATIENCE).raise_for_status()


def settle(server, name: str):
    """Waits until nothing is left to do, so that no poll comes too early."""
    wait_until(
        lambda: control(server, "GET", "info", params={"namespace": name}).json()["counts"]["jobs"] == 0,
        "nothing is left to do")


# Reports.


@pytest.fixture(scope="module")
def mistaken(server) -> Access:
    """A namespace with a recording that was never committed and has the same audio twice, and with secrets in URLs."""
    inside = access(server, created(server), "credentials")
    client = EkaClient(inside)
    transaction = client.transaction("visit-1")
    assert transaction.init().status_code == 201
    for name in ("1.wav", '2 <&"\'>.wav'):
        client.s3().put_object(
            Bucket=BUCKET, Key=f"{transaction.folder}/{name}", Body=recording(10), ContentType="audio/wav")
        transaction.uploaded.append(name)
    assert transaction.stop().status_code == 200
    ping(inside, f"?access_token={SECRET}")
    ping(inside, f"?token={SECRET}&api_key={SECRET}")
    settle(server, inside.name)
    return inside


@pytest.fixture
def lint(server, mistaken):
    """Gives a function that runs the command for the mistaken client."""
    def lint(*arguments: str, namespace=mistaken.name):
        done = run("lint", "--url", server.base_url, "--namespace", namespace, *arguments)
        assert SECRET not in done.stdout + done.stderr
        return done

    return lint


MISTAKES = [
    ("error", "token-in-url"), ("error", "token-in-url"), ("error", "token-in-url"), ("error", "commit-missing"),
    ("warning", "chunk-duplicate"),
]


def test_a_report_counts_its_findings_and_explains_their_rules(server, mistaken):
    answer = report(server, mistaken.name)
    severities = [each["severity"] for each in answer["findings"]]
    assert severities == ["error"] * 4 + ["warning"], "the gravest first"
    assert sorted(found(server, mistaken.name)) == sorted(MISTAKES)
    assert (answer["errors"], answer["warnings"], answer["notes"], answer["recordings"], answer["dropped"]) == (
        4, 1, 0, 1, 0)
    assert answer["requests"] == len(Journal(server, mistaken.name).all())
    rules = {rule["id"]: rule for rule in answer["rules"]}
    assert len(rules) == len(answer["rules"])
    for finding in answer["findings"]:
        assert rules[finding["rule"]]["row"] == finding["row"]
        assert ("transaction" in finding) == (finding["rule"] in ("commit-missing", "chunk-duplicate"))
    [twice] = [each for each in answer["findings"] if each["rule"] == "chunk-duplicate"]
    uploads = [each["id"] for each in Journal(server, mistaken.name).all(operation="PutObject")]
    assert sorted(twice["requests"]) == sorted(uploads)
    assert twice["message"] == '1.wav, 2 <&"\'>.wav have the same bytes'


def test_the_text_names_each_finding_and_explains_each_rule_once(server, mistaken, lint):
    done = lint()
    assert (done.returncode, done.stderr) == (1, ""), done
    answer = report(server, mistaken.name)
    for finding in answer["findings"]:
        [line] = [line for line in done.stdout.splitlines() if f" {finding['message']} (" in line]
        assert line.startswith(f"{finding['severity']}: ") and line.endswith(f" [{finding['rule']}]")
        assert all(str(number) in line for number in finding["requests"])
        assert finding.get("transaction", "") in line
    explained = {each["rule"] for each in answer["findings"]}
    for rule in answer["rules"]:
        times = 1 if rule["id"] in explained else 0
        assert done.stdout.count(f"    {rule['title']} ({rule['row']}). {rule['why']}\n    {rule['fix']}\n") == times
    assert done.stdout.splitlines()[-1] == (
        f"4 errors, 1 warning, 0 notes in 1 recording and {answer['requests']} requests")


@pytest.mark.parametrize("flags", [("--format", "json"), ("--json",)], ids=["format", "flag"])
def test_the_json_is_the_answer_of_the_api(server, mistaken, lint, flags):
    done = lint(*flags)
    assert done.returncode == 1 and json.loads(done.stdout) == report(server, mistaken.name)


def test_the_sarif_has_the_form_of_the_standard(server, mistaken, lint):
    [run] = Sarif.model_validate_json(lint("--format", "sarif").stdout).runs
    answer = report(server, mistaken.name)
    assert run.tool.driver.name == "scribe-emulator" and len(run.results) == len(answer["findings"]) == 5
    for result, finding in zip(run.results, answer["findings"], strict=True):
        assert (result.level.value, result.ruleId) == (finding["severity"], finding["rule"])
        assert result.message.text == f"{finding['message']}."
        [location] = result.locations
        # Code hosts refuse a finding without a file and a line.
        assert location.physicalLocation.artifactLocation.uri and location.physicalLocation.region.startLine == 1
        [place] = [each.fullyQualifiedName for each in location.logicalLocations]
        assert all(str(number) in place for number in finding["requests"]) and finding.get("transaction", "") in place
    for described, rule in zip(run.tool.driver.rules, answer["rules"], strict=True):
        assert (described.id, described.defaultConfiguration.level.value) == (rule["id"], rule["severity"])
        assert described.help.text == rule["fix"]


def test_another_tool_reads_the_junit(server, mistaken, lint):
    [suite] = junitparser.JUnitXml.fromstring(lint("--format", "junit").stdout.encode())
    answer = report(server, mistaken.name)
    assert (suite.tests, suite.failures, suite.errors) == (len(answer["rules"]), 2, 0)
    cases = {case.name: case for case in suite}
    assert list(cases) == [rule["id"] for rule in answer["rules"]]
    failed = {name: case.result for name, case in cases.items() if case.result}
    assert sorted(failed) == ["commit-missing", "token-in-url"]
    for name, [failure] in failed.items():
        messages = [each["message"] for each in answer["findings"] if each["rule"] == name]
        assert isinstance(failure, junitparser.Failure) and all(each in failure.text for each in messages)
    assert "have the same bytes" in cases["chunk-duplicate"].system_out, "a warning fails nothing"


def test_a_report_without_a_finding_has_each_format_too(server, lint):
    name = created(server)["name"]
    done = {form: lint("--format", form, namespace=name) for form in ("text", "sarif", "junit")}
    assert {form: each.returncode for form, each in done.items()} == {"text": 0, "sarif": 0, "junit": 0}
    assert done["text"].stdout == "0 errors, 0 warnings, 0 notes in 0 recordings and 0 requests\n"
    assert json.loads(done["sarif"].stdout)["runs"][0]["results"] == []
    [suite] = junitparser.JUnitXml.fromstring(done["junit"].stdout.encode())
    assert suite.failures == 0 and suite.tests == len(list(suite)) > 0


def test_a_report_is_about_one_recording_or_about_what_came_later(server, lint):
    inside = access(server, created(server), "credentials")
    ping(inside, f"?access_token={SECRET}")
    client = EkaClient(inside)
    for id in ("visit-1", "visit-2"):
        assert client.transaction(id).init().status_code == 201
    for _ in range(2):
        assert client.get("/voice/api/v2/transaction/visit-2", params={"token": SECRET}).status_code == 200
    later = datetime.datetime.now(datetime.timezone.utc).isoformat()
    ping(inside, f"?token={SECRET}")

    def told(*arguments: str) -> tuple[int, list]:
        done = lint(*arguments, "--json", namespace=inside.name)
        findings = json.loads(done.stdout)["findings"]
        return done.returncode, [(each["message"], each.get("transaction")) for each in findings]

    of_the_recording = ("The parameter token of 2 requests", "visit-2")
    of_a_ping = ("The parameter token of 1 request", None)
    assert told() == (1, [of_the_recording, ("The parameter access_token of 1 request", None), of_a_ping])
    assert told("--transaction", "visit-2") == (1, [of_the_recording])
    assert told("--transaction", "visit-1") == (0, [])
    assert told("--since", later) == (1, [of_a_ping])
    assert told("--since", "2100-01-01T00:00:00Z") == (0, [])


@pytest.mark.parametrize(("arguments", "code", "said"), [
    (("--format", "xml"), 2, "'text', 'json', 'sarif' or 'junit'"),
    (("--transactions", "visit-1"), 2, "Unknown option '--transactions'"),
    (("--url", "http://127.0.0.1:1"), 3, "no server answers at http://127.0.0.1:1"),
    (("--since", "yesterday"), 2, "give a time, such as 2030-01-01T00:00:00Z"),
    (("--transaction", "nobody's"), 1, "There is no such transaction"),
    (("--namespace", "nobody-s"), 1, "There is no such namespace"),
], ids=["format", "option", "no server", "time", "transaction", "namespace"])
def test_a_question_without_an_answer_has_its_reason_and_code(server, arguments, code, said):
    done = run("lint", *(() if "--url" in arguments else ("--url", server.base_url)), *arguments)
    assert (done.returncode, done.stdout) == (code, "") and said in done.stderr, done


@pytest.mark.parametrize("flags", [PLAIN, NAMED], ids=["off", "metadata"])
def test_lint_needs_what_clients_sent_in_the_journal(served, flags):
    done = run("lint", "--url", served(*flags).base_url)
    assert (done.returncode, done.stdout) == (1, "") and "--journal full" in done.stderr, done


# Commands.

#: Asks for the path of its first argument, and exits with the code of its second.
COMMAND = """
import os, sys, urllib.request
urllib.request.urlopen(os.environ["SCRIBE_BASE_URL"] + sys.argv[1]).read()
print("asked")
sys.exit(int(sys.argv[2]))
"""


@pytest.mark.parametrize(("ns", "query", "code", "expected"), [
    (False, "", 0, 0), (False, f"?access_token={SECRET}", 0, 1), (False, f"?access_token={SECRET}", 7, 7),
    (True, "", 7, 7), (True, f"?access_token={SECRET}", 0, 1),
], ids=["right", "wrong", "wrong and failed", "right but failed in a namespace", "wrong in a namespace"])
def test_a_command_fails_for_what_its_clients_did_wrong(server, tmp_path, ns, query, code, expected):
    where = ("--ns", "--url", server.base_url) if ns else ()
    done = run("exec", "--lint", *where, "--", sys.executable, "-c", COMMAND, f"/voice/ping{query}", str(code),
               cwd=tmp_path)
    assert (done.returncode, done.stdout) == (expected, "asked\n"), done
    *findings, counts = done.stderr.splitlines()
    if query:
        assert counts == "1 error, 0 warnings, 0 notes in 0 recordings and 1 request"
        assert findings[0] == "error: The parameter access_token of 1 request (request 1) [token-in-url]"
        assert len(findings) == 3 and SECRET not in done.stderr
    else:
        assert (findings, counts) == ([], "0 errors, 0 warnings, 0 notes in 0 recordings and 1 request")


def test_without_the_flag_a_command_is_not_judged(server):
    done = run("exec", "--ns", "--url", server.base_url, "--", sys.executable, "-c", COMMAND,
               f"/voice/ping?access_token={SECRET}", "0")
    assert (done.returncode, done.stdout, done.stderr) == (0, "asked\n", "")


# Receivers of webhooks.


def accepting(request: Request) -> Answer:
    return Answer(204)


def checking(request: Request) -> Answer:
    try:
        verified(request.headers, request.body)
    except AssertionError:
        return Answer(401)
    return Answer(204)


@pytest.mark.parametrize(("answer", "statuses", "expected"), [
    (accepting, [204], [("error", "webhook-unverified")]), (checking, [401, 204], []),
], ids=["accepts everything", "checks signatures"])
def test_a_receiver_must_refuse_a_wrong_signature(served, answer, statuses, expected):
    place = Place(served(*faults.FLAGS))
    client, journal = AllianceClient(place.inside), Journal(place.server, place.inside.name)
    with HTTPRecorder(answer) as recorder:
        client.call("POST", "/webhooks", (201,), json={
            "url": f"{recorder.url}/hook", "secret": KEY, "events": ["session.started"]})
        place.faults.next(operation="webhook", wrong_signature=True)
        event = {"event": "session.started", "transaction": "t-1"}
        assert place.faults.call("POST", "webhooks/trigger", json=event).status_code == 202
        # The refused one comes again, signed rightly.
        assert journal.wait(kind="delivery", status=204).status_code == 200
    deliveries = journal.all(kind="delivery")
    assert [each["status"] for each in deliveries] == statuses
    assert found(place.server, place.inside.name) == expected
    assert [each["requests"] for each in report(place.server, place.inside.name)["findings"]] == [
        [deliveries[0]["id"]] for _ in expected]


# Sockets.


def test_an_empty_message_of_a_live_stream_is_told(server):
    inside = access(server, created(server), "credentials")
    with listener(inside) as socket:
        socket.send(voice(0.2), b"")
        socket.end()
    assert found(server, inside.name) == [("warning", "empty-frame")]


@pytest.mark.parametrize("seconds", [0.005, 1.5], ids=["small", "large"])
def test_messages_of_a_live_stream_that_are_too_small_or_too_large_are_told(server, seconds):
    inside = access(server, created(server), "credentials")
    with listener(inside) as socket:
        socket.send(*[voice(seconds)] * 3, "CloseStream")
        socket.end()
    assert found(server, inside.name) == [("warning", "frame-size")]


def test_audio_after_the_end_of_a_live_stream_is_told(server):
    inside = access(server, created(server), "credentials")
    path = f"/ns/{inside.name}/v1/listen?encoding=linear16&sample_rate=16000"
    with RawSocket.opened(server, path, f"Authorization: Token {inside.key}") as socket:
        # In one packet: all of it is there before the answer.
        socket.send(binary_frame(voice(0.2)) + json_frame(type="CloseStream") + binary_frame(voice(0.2)))
        socket.end()
    assert found(server, inside.name) == [("error", "audio-after-close")]


# Real clients.


@dataclasses.dataclass
class Visit:
    """A namespace for one client, and what clients record."""

    server: Server
    inside: Access
    folder: pathlib.Path
    #: Path, start and end of each chunk, as iOS and as Android encode them.
    m4a: list[tuple[pathlib.Path, float, float]]
    mp3: list[tuple[pathlib.Path, float, float]]

    def settle(self):
        settle(self.server, self.inside.name)


def ekacare(visit: Visit):
    """ekacare 0.1.3 with two files."""
    options = {
        "client_id": visit.inside.client, "client_secret": visit.inside.secret, "base_url": visit.server.base_url}
    client = Ekacare(tls.environment(visit.server), **options)
    try:
        client.call(
            "v2rx.upload", file_paths=[str(path) for path, _, _ in visit.m4a[:2]], txn_id="visit-1",
            action="ekascribe-v2", extra_data={"mode": "consultation"}, output_format={
                "input_language": ["en-IN"], "output_template": [{"template_id": "transcript_template"}]})
        visit.settle()
        assert client.result("visit-1")["output"]
    finally:
        client.process.stdin.close()
        client.process.wait(timeout=PATIENCE)
        client.process.stdout.close()


def recorded(name: str) -> Callable[[Visit], None]:
    def replay(visit: Visit):
        audio = [path.read_bytes() for path, _, _ in (visit.mp3 if name == "android" else visit.m4a)]
        RecordedSDK(visit.server, visit.inside, name, audio).replay()

    return replay


def boto3(visit: Visit):
    """A consultation in chunks, which boto3 uploads."""
    client = EkaClient(visit.inside)
    transaction, s3 = client.transaction("visit-1"), client.s3()
    assert transaction.init().status_code == 201
    for path, start, end in visit.m4a[:3]:
        transaction.upload(s3, path, start, end)
    assert transaction.stop().status_code == transaction.commit().status_code == 200
    visit.settle()
    assert finished(transaction)["output"]


def demo(visit: Visit):
    done = run("demo", "--url", f"{visit.server.base_url}/ns/{visit.inside.name}")
    assert done.returncode == 0 and "# Clinical Notes" in done.stdout, done


def sessions(visit: Visit):
    """The official SDK's three ways to send audio: chunks, forms and a socket."""
    client = AllianceClient(visit.inside)
    chunked = client.create(templates=["soap"])["session_id"]
    for index in range(3):
        client.upload(chunked, index, recording(10, index))
    client.end(chunked, 3)
    formed, form = form_of(client)
    for number in (1, 2):
        assert send(form, f"{number}.wav", recording(10, number)).status_code == 204
    client.end(formed, 2)
    streamed = client.stream(recording(10)[44:], templates=["soap"])
    visit.settle()
    for session in (chunked, formed, streamed):
        assert client.results(session)["status"] == "completed"


def deepgram(visit: Visit):
    """Deepgram's SDK: a live stream as fast as it is spoken, and a recording."""
    from deepgram import DeepgramClient
    from deepgram.core.events import EventType

    client = DeepgramClient(api_key=visit.inside.key, environment=environment(visit.server))
    ended, pause = threading.Event(), threading.Event()
    with client.listen.v1.connect(model="nova-3", encoding="linear16", sample_rate="16000") as connection:
        connection.on(EventType.CLOSE, lambda _: ended.set())
        threading.Thread(target=connection.start_listening, daemon=True).start()
        connection.send_keep_alive()
        for _ in range(12):
            connection.send_media(voice(0.1))
            pause.wait(0.1)
        connection.send_finalize()
        connection.send_close_stream()
        assert ended.wait(PATIENCE)
    answer = client.listen.v1.media.transcribe_file(
        request=recording(6), model="nova-3", smart_format=True, language="en-IN")
    assert answer.results.channels[0].alternatives[0].transcript


def suki(visit: Visit):
    client = ambient_client(visit.inside)
    client.initialize()
    session = client.create_session()
    client.set_session_context(session, {"patient": {"dob": "1979-02-28", "sex": "FEMALE"}})
    with client.start(session, START) as stream:
        stream.audio(samples(30))
        stream.finish()
    client.end(session)
    visit.settle()
    assert client.wait(session) == "completed"
    assert client.content(session) and client.transcript(session)
    client.submit_feedback(session, 4)


def omi(visit: Visit):
    """A device that recognises speech itself, and one that sends audio."""
    with OmiDevice(visit.inside) as device:
        device.ready()
        device.say("I have had a fever for three days", start=0, end=2)
        device.until(1)
        assert device.call("POST", "/v1/conversations").status_code == 200
        visit.settle()
        assert device.conversations()
    with OmiDevice(visit.inside, query="codec=pcm16&sample_rate=16000") as device:
        device.ready()
        device.send(voice(1))
    visit.settle()


#: Clients with the rules of which each has a note.
CLIENTS = [
    (ekacare, []), (boto3, []), (demo, []), (sessions, []), (deepgram, []), (suki, []), (omi, []),
    (recorded("ios"), ["refresh-late", "upload-after-result", "upload-unchecked"]),
    (recorded("android"), ["refresh-late", "signature-thin"]),
    (recorded("older-ios"), ["chunk-content-type", "refresh-late", "upload-unchecked"]),
]
NAMES = ["ekacare", "boto3", "demo", "sessions", "deepgram", "suki", "omi", "ios", "android", "older-ios"]


@pytest.fixture(scope="module")
def mp3(spoken, tmp_path_factory):
    """The first chunks of the consultation as the Android SDK encodes them."""
    return speech.chunks(spoken[: 20 * speech.RATE], tmp_path_factory.mktemp("mp3"), "mp3")


@pytest.mark.parametrize(("client", "notes"), CLIENTS, ids=NAMES)
def test_an_unmodified_client_has_notes_at_most(request, tmp_path, chunks, mp3, client, notes):
    # Ambient sessions of less than a minute are skipped, unless a server allows them.
    server = request.getfixturevalue("ambient" if client is suki else "server")
    visit = Visit(server, access(server, created(server), "credentials"), tmp_path, chunks, mp3)
    client(visit)
    visit.settle()
    assert report(server, visit.inside.name)["requests"] > 0
    assert sorted(found(server, visit.inside.name)) == [("note", rule) for rule in notes]
