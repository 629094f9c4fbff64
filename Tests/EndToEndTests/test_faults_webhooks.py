"""Faults of results and webhooks, events by hand, the rules that nobody may add, and the verbs of the command."""

import contextlib
import json

import faults
import pytest
import requests
from client import text
from emulator import PATIENCE, run, wait_until
from faults import PROBLEM, REFUSED, recorded
from http_recorder import HTTPRecorder
from namespaces import AllianceClient, ambient_client, control, finished
from session_client import recording
from webhooks import KEY, SUBSCRIPTIONS, WHOLE, Receiver, verified

server, place = faults.server, faults.place


@pytest.fixture
def here(server, place):
    return ("--url", server.base_url, "--namespace", place.inside.name)


def refused(answer: requests.Response, status: int, code: str, word="", note=None):
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, PROBLEM), (note, answer.text)
    assert (
        answer.json()["code"] == code
        and word in answer.json()["detail"]
        and len(answer.text) < 1000), (note, answer.text)


# Results.

def told(place, id="i-1") -> dict[str, dict]:
    """The documents of a transaction that is committed, by their templates."""
    (transaction := recorded(place.eka(), id)).commit()
    return {document["template_id"]: document for document in finished(transaction)["output"]}


def codes(document: dict) -> list[str]:
    return [error["code"] for error in document["errors"]]


@pytest.mark.parametrize("code", ["transcription_failed", "transcription_timeout", "undecodable_audio", "no_speech"])
def test_a_failed_recognition_fails_all_documents_of_one_transaction(place, code):
    place.faults.next(operation="transcription", fail=code)
    assert all((document["status"], codes(document)) == ("failure", [code]) for document in told(place).values())
    assert (
        {document["status"] for document in told(place, "i-2").values()} == {"success"}
        and place.faults.applied == [1])


def test_a_failed_note_leaves_the_transcript(place):
    place.faults.add(operation="note", fail="note_failed", transaction="i-1")
    transaction = recorded(place.eka(), "i-1", ["soap"])
    transaction.commit()
    place.faults.call("POST", "transactions/i-1/wait").raise_for_status()
    answer = transaction.poll()
    assert answer.status_code == 206
    [note], [heard] = answer.json()["data"]["output"], answer.json()["data"]["template_results"]["transcript"]
    assert codes(note) == ["note_failed"] and heard["status"] == "success" and text(heard)
    assert told(place, "i-2")["soap"]["status"] == "success"


def test_rules_can_make_a_recording_silent_and_a_note_empty(place):
    place.faults.next(operation="transcription", empty=True)
    assert all(codes(document) == ["no_speech"] for document in told(place).values())
    place.faults.next(operation="note", empty=True)
    documents = told(place, "i-2")
    assert (
        {document["status"] for document in documents.values()} == {"success"}
        and not text(documents["soap"]).strip())


@pytest.mark.parametrize("operation", ["transcription", "note"])
def test_results_wait_for_the_namespaces_clock(place, operation):
    place.faults.freeze()
    place.faults.next(operation=operation, delay="3h", clock="world")
    transaction = recorded(place.eka(), "i-1")
    assert transaction.commit().status_code == 200
    place.faults.advance("179m")
    assert not place.faults.transaction("i-1")["is_final"]
    place.faults.advance("2m")
    assert place.faults.transaction("i-1")["is_final"]
    assert {document["status"] for document in finished(transaction)["output"]} == {"success"}


def test_results_of_sessions_and_ambient_sessions_fail_as_well(place):
    ambient = ambient_client(place.inside)
    place.faults.add(operation="transcription", fail="transcription_failed")
    with Visits(place, "failed") as visits:
        assert visits.after(visits.session(), 1) == ["session.failed"]
    ambient.initialize()
    made = ambient.create_session()
    with ambient.start(made) as stream:
        stream.audio(recording(3)[44:])
        stream.finish()
    ambient.end(made)
    assert ambient.wait(made) == "failed"


# Webhooks.

class Visits(contextlib.AbstractContextManager):
    """Sessions, and what a receiver heard of them."""

    def __init__(self, place, *events: str):
        self.client, self.recorder = AllianceClient(place.inside), HTTPRecorder()
        names = [f"session.{event}" for event in events or ("started", "ended", "completed")]
        body = {"url": f"{self.recorder.url}/hook", "secret": KEY, "events": names}
        assert self.client.session.post(f"{self.client.base}/webhooks", json=body).status_code == 201

    def __exit__(self, *_):
        self.recorder.stop()

    def session(self) -> str:
        session = self.client.create(templates=["soap"])["session_id"]
        self.client.upload(session, 1, recording(2))
        self.client.end(session, 1)
        self.client.results(session)
        return session

    def messages(self, session: str) -> list[str]:
        return [request.json["event"] for request in self.recorder.requests if request.json["session_id"] == session]

    def after(self, session: str, count: int) -> list[str]:
        """The messages of a session, once there are so many."""
        wait_until(lambda: len(self.messages(session)) >= count, "the messages have come")
        return self.messages(session)

    def genuine(self) -> list[bool]:
        def is_right(request) -> bool:
            with contextlib.suppress(AssertionError):
                return bool(verified(request.headers, request.body))
            return False
        return [is_right(request) for request in self.recorder.requests]


def test_a_webhook_comes_twice(place):
    with Visits(place) as visits:
        place.faults.next(operation="webhook", event="session.ended", twice=True)
        assert visits.after(visits.session(), 4) == [WHOLE[0], WHOLE[1], WHOLE[1], WHOLE[2]]
        assert len({request.body for request in visits.recorder.requests}) == 3 and visits.genuine() == [True] * 4
        assert visits.after(visits.session(), 3) == WHOLE


def test_a_webhook_has_the_signature_of_another_key(place):
    with Visits(place, "started") as visits:
        place.faults.add(operation="webhook", nth=2, wrong_signature=True)
        for _ in range(3):
            visits.after(visits.session(), 1)
        assert visits.genuine() == [True, False, True]


@pytest.mark.parametrize("event, order", [("session.ended", [0, 2, 1]), ("session.started", [1, 0, 2])])
def test_webhooks_arrive_in_another_order(place, event, order):
    with Visits(place) as visits:
        place.faults.next(operation="webhook", event=event, out_of_order=True)
        assert visits.after(visits.session(), 3) == [WHOLE[index] for index in order]
        assert visits.after(visits.session(), 3) == WHOLE and set(visits.genuine()) == {True}


def test_a_webhook_waits_for_the_namespaces_clock(place):
    with Visits(place, "started") as visits:
        place.faults.freeze()
        place.faults.next(operation="webhook", delay="2h", clock="world")
        session = visits.client.create(templates=["soap"])["session_id"]
        wait_until(lambda: "delivery" in place.faults.waiting(), "the message is held")
        place.faults.advance("119m", timeout="5s")
        assert not visits.recorder.requests
        place.faults.advance("2m", timeout="5s")
        assert visits.after(session, 1) == [WHOLE[0]]


def test_a_webhook_of_one_transaction_or_business_only(place):
    with Visits(place, "started") as visits:
        business = place.eka().get("/connect-auth/v1/account/whoami").json()["workspace_id"]
        place.faults.add(operation="webhook", transaction="t-2", wrong_signature=True)
        place.faults.add(operation="webhook", business="b-other", twice=True)
        place.faults.add(operation="webhook", business=business, transaction="t-3", twice=True)
        for number in (1, 2, 3):
            event = {"event": WHOLE[0], "transaction": f"t-{number}", "business": business}
            answer = place.faults.call("POST", "webhooks/trigger", json=event)
            assert answer.status_code == 202 and len(answer.json()["delivery_ids"]) == 1
            visits.after(f"t-{number}", 2 if number == 3 else 1)
        assert visits.genuine() == [True, False, True, True] and place.faults.applied == [1, 0, 1]


def test_a_triggered_event_is_sent_to_its_subscribers(place, here):
    with Receiver() as receiver, Visits(place, "completed", "failed") as visits:
        subscription = {"endpoint": f"{receiver.url}/connect", "event_names": ["v2rx.completed"], "signing_key": KEY}
        place.eka().session.post(place.inside.base_url + SUBSCRIPTIONS, json=subscription).raise_for_status()
        place.faults.call("POST", "webhooks/trigger", json={"event": "session.completed", "transaction": "t-1"})
        assert visits.after("t-1", 1) == ["session.completed"]
        shown = run("trigger", "v2rx.completed", "--transaction", "t-2", *here)
        assert shown.returncode == 0 and shown.stdout.startswith("deliveries: "), shown
        wait_until(lambda: receiver.heard["/connect"] == [("t-2", "v2rx.completed")], "it is told")
        assert len(json.loads(run("trigger", "session.failed", "--json", *here).stdout)["delivery_ids"]) == 1
        wait_until(lambda: visits.genuine() == [True, True], "it is told, of an invented session")
        for unheard in (["session.started"], ["session.completed", "--business", "b-other"]):
            shown = run("trigger", *unheard, *here)
            assert (shown.returncode, shown.stdout) == (0, "no webhook subscribes to it\n")


@pytest.mark.parametrize("body, word", [
    ({}, "event"), ({"event": ""}, "event"), ({"event": 7}, "event"),
    ({"event": "session.complete"}, "session.completed"), ({"event": "v2rx.complete"}, "v2rx.completed"),
    ({"event": WHOLE[1], "transaction": 1}, "transaction"), ([], "object"),
    ({"event": WHOLE[1], "transaction": "t" * 256}, "transaction"), ({"event": WHOLE[1], "events": []}, "events")],
    ids=range(9))
def test_an_unknown_triggered_event_is_refused_and_not_sent(place, body, word):
    with Visits(place) as visits:
        refused(place.faults.call("POST", "webhooks/trigger", json=body), 400, "invalid_request", word)
        assert not visits.recorder.requests and place.faults.call("GET", "deliveries").json()["deliveries"] == []


# Rules that nobody may add.

def test_a_bad_rule_is_a_problem_and_changes_nothing(place):
    place.faults.add(id="kept", path="/nowhere", status=500)
    kept = place.faults.rules
    for rule, word in REFUSED:
        for kind in ("faults", "faults/next"):
            refused(place.faults.call("POST", kind, json=rule), 400, "invalid_request", word, rule)
    assert place.faults.rules == kept


@pytest.mark.parametrize("body", [
    b"", b"[]", b"7", b"null", b'"status=500"', b'{"status": 500', b"{\"status\": 500}}", b'{"status": 1e400}',
    b"\xff\xfe", b"[" * 100_000,
    b'{"status": 500, "body": ' + b"[" * 5000 + b"]" * 5000 + b"}", b'{"x": "' + b"x" * 20_000_000 + b'"}'],
    ids=range(12))
def test_a_rule_that_is_no_object_or_too_large_is_refused(place, body):
    answer = place.faults.call("POST", data=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 413) and answer.headers["Content-Type"] == PROBLEM, answer.text
    assert place.faults.rules == []


def test_duplicate_hidden_and_too_many_rules_are_refused(place):
    rules = place.faults
    rules.add(id="first", operation="readConfig", status=503)
    refused(rules.call("POST", json={"id": "first", "operation": "ping", "status": 500}), 409, "fault_exists", "first")
    for other in ({"status": 500}, {"nth": 2, "delay": "1s"}, {"times": 1, "connection": "reset"}):
        refused(rules.call("POST", json={"operation": "readConfig", **other}), 409, "fault_hidden", "first")
    rules.change("first", is_on=False)
    rules.add(id="second", operation="readConfig", status=500)
    refused(rules.call("DELETE", "faults/first1"), 404, "not_found", "first")
    refused(rules.call("PATCH", "faults/second1", json={"is_on": True}), 404, "not_found", "second")
    for change in (
        {"is_on": 1}, {"times": 0}, {"times": "2"}, {"times": 2**70}, {"status": 500}, {"is_on": None}, {"times": 1.5}
    ):
        refused(rules.call("PATCH", "faults/second", json=change), 400, "invalid_request", next(iter(change)))
    assert [(rule["id"], rule["is_on"]) for rule in rules.rules] == [("first", False), ("second", True)]
    most = rules.call("GET").json()["max"]
    for number in range(most - 2):
        rules.add(path=f"/{number}", status=500)
    refused(rules.call("POST", json={"path": "/more", "status": 500}), 409, "too_many_faults", str(most))
    assert len(rules.rules) == most and place.eka().history() == []
    rules.clear()
    refused(control(place.server, "GET", "faults", params={"namespace": "nowhere"}), 404, "not_found")


def test_the_limits_of_numbers_and_texts_are_allowed(place):
    rules = [
        *({"status": 500, **more} for more in (
            {"nth": 10**9}, {"times": 10**9}, {"probability": 1}, {"probability": 5e-324}, {"id": "i" * 64},
            {"retry_after": 0},
            {"code": "c" * 100, "message": "m" * 1000}, {"times": "3"}, {"status": 200, "body": "b"},
            {"status": "599"})),
        {"delay": "24h"}, {"delay": "0s"}, {"limit": "1000000/1ms"}, {"after_sent": 0, "close": 1000},
        {"connection": "dribble", "rate": 1}, {"after_sent": 10**9, "close": 4999, "reason": "r" * 123}]
    for number, rule in enumerate(rules):
        place.faults.add(**{"path": f"/{number}" + "p" * (1024 - len(f"/{number}")), **rule})
    assert len(place.faults.rules) == len(rules)


def test_the_largest_body_is_added_changed_listed_and_answered(server, place):
    place.faults.add(id="large", operation="ping", status=502, body="x" * 65_536)
    assert place.faults.change("large", times=2)["body"] == place.faults.rules[0]["body"] == "x" * 65_536
    assert requests.get(
        f"{server.base_url}/ns/{place.inside.name}/voice/ping", timeout=PATIENCE).text == "x" * 65_536


# Verbs.

def test_the_verbs_add_list_and_clear_rules(place, here):
    added = run("fault", "add", "operation=readConfig", "status=503", "retry-after=3", "times=2", *here)
    assert (added.returncode, added.stdout) == (0, "added: fault-1\n"), added
    made = json.loads(run("fault", "next", "--json", "path=/voice/*", "delay=1s..2s", "id=a b/ü%", *here).stdout)
    assert (made["id"], made["times"], made["delay"]) == ("a b/ü%", 1, "1s..2s")
    assert place.eka().get("/voice/api/v2/config").status_code == 503
    lines = run("fault", "list", *here).stdout.splitlines()
    assert len(lines) == 2 and lines[0].startswith("fault-1  ") and lines[0].endswith("matched 1  applied 1")
    assert "operation=readConfig" in lines[0] and "retry_after=3" in lines[0] and "delay=1s..2s" in lines[1]
    assert json.loads(run("fault", "list", "--json", *here).stdout)["faults"] == place.faults.rules
    for id in ("a b/ü%", "fault-1"):
        assert run("fault", "clear", id, *here).stdout == f"removed: {id}\n"
    run("fault", "add", "status=500", *here)
    assert json.loads(run("fault", "clear", "--json", *here).stdout) == {}
    assert run("fault", "list", *here).stdout == "no fault rules\n"


def test_the_fault_verbs_report_errors_by_their_exit_codes(place, here):
    for arguments, code, word in [
        (("add", "operation=readConfg", "status=500"), 1, "readConfig"), (("next", "status=600"), 1, "status"),
        (("clear", "nothing"), 1, "no such fault rule"), (("add", "status"), 2, "NAME=VALUE"), (("add",), 2, ""),
        (("add", "status=1", "status=2"), 1, "only once"), (("next", "=5"), 2, "NAME=VALUE"), (("put",), 2, "")]:
        answer = run("fault", *arguments, *here)
        assert answer.returncode == code and word in answer.stderr and not answer.stdout, answer
    assert run("fault", "list", *here[:2], "--namespace", "nowhere").returncode == 1
    assert run("fault", "list", "--url", "http://127.0.0.1:9").returncode == 3
    unknown = run("trigger", "session.complete", *here)
    assert unknown.returncode == 1 and "session.completed" in unknown.stderr and place.faults.rules == []
