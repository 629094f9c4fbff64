"""Notes by a language model: a server with a scripted one. `Tests/EnginesTests/Notes/Model` has all of its faults."""

import json

import client as scribe_client
import pytest
import requests
from chat_service import ChatService
from crashes import CrashSite
from emulator import running, wait_until
from speech_service import result, take, transcript

API = "/voice/api/v1/template"

#: What the model says beside the transcript, and what of it nobody said.
SECRET = "morphine"


@pytest.fixture(scope="module")
def service():
    with ChatService() as service:
        yield service


@pytest.fixture(scope="module")
def server(service, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    key = folder / "key"
    key.write_text("secret-key-of-the-model\n")
    flags = (
        "--note-writer", f"openai:{service.url}", "--note-model", "tiny", "--note-key-file", str(key),
        "--note-rules-templates", "soap")
    with running(folder, *flags) as server:
        yield server


@pytest.fixture(autouse=True)
def as_it_was(service):
    service.more, service.status, service.refused = [], 200, {}
    service.asked.clear()


def note(answer) -> dict:
    (note,) = answer.json()["data"]["output"]
    return note


def said(answer) -> str:
    return scribe_client.text(transcript(answer))


def data(asked: dict) -> dict:
    return json.loads(asked["messages"][1]["content"])


def test_the_model_writes_the_note_and_gets_the_key_the_name_and_the_transcript_as_data(server, service, chunks):
    answer = take(server, chunks)
    assert answer.status_code == 200
    assert note(answer)["status"] == "success"
    assert all(line.split(": ")[-1] in scribe_client.text(note(answer)) for line in said(answer).splitlines())
    (asked,) = service.asked
    assert asked["model"] == "tiny" and data(asked)["transcript"] == said(answer)
    chats = [request for request in service.recorder.requests if request.path == "/v1/chat/completions"]
    assert chats[-1].headers["Authorization"] == "Bearer secret-key-of-the-model"
    assert requests.get(f"{server.base_url}/readyz").json()["components"]["note_writer"] == "openai"


def test_what_nobody_said_is_left_out_with_a_warning_and_is_in_no_log(server, service, chunks):
    service.more = ["Take morphine 10 mg", "Denies palpitations"]
    answer = take(server, chunks)
    assert answer.status_code == 206
    assert note(answer)["status"] == "partial_success"
    assert {warning["code"] for warning in note(answer)["warnings"]} == {"unsaid_content"}
    text = scribe_client.text(note(answer))
    assert "morphine" not in text and "palpitations" not in text
    assert len(service.asked) == 2, "the model is asked once to mend its note"
    assert "morphine" not in server.log and said(answer) not in server.log


def test_a_template_of_the_rules_is_not_sent_to_the_model(server, service, chunks):
    assert take(server, chunks, templates=["soap"]).status_code == 200
    assert not service.asked


def test_a_custom_template_steers_the_model_by_its_own_words(server, service, chunks):
    session = server.client().session
    section = {"title": "Worries", "desc": "What hurts.", "format": "P", "example": "The patient worries."}
    made = session.post(f"{server.base_url}{API}/section", json=section).json()["section_id"]
    template = {"title": "Only worries", "desc": "A short one.", "section_ids": [made]}
    made = session.post(f"{server.base_url}{API}", json=template).json()["template_id"]
    answer = take(server, chunks, templates=[made])
    assert answer.status_code == 200 and note(answer)["template_id"] == made
    assert data(service.asked[0])["template"] == {
        "name": "Only worries", "purpose": "A short one.", "sections": [{
            "property": "worries", "title": "Worries", "content": "What hurts.", "style": "sentences of a paragraph",
            "example": "The patient worries.",
        }],
    }


def test_a_model_that_fails_leaves_the_note_to_the_rules_with_a_warning(server, service, chunks):
    service.status = 503
    answer = take(server, chunks)
    assert answer.status_code == 206
    assert [warning["code"] for warning in note(answer)["warnings"]] == ["written_by_rules"]
    assert "fever" in scribe_client.text(note(answer))
    assert said(answer) not in server.log


def test_a_note_that_was_being_written_when_the_server_was_killed_is_written_after_the_next_start(
        service, tmp_path, chunks):
    site = CrashSite(tmp_path, "--data-dir", "data", "--note-writer", f"openai:{service.url}")
    service.go_on.clear()
    try:
        client = site.server.client()
        transaction = client.transaction()
        assert transaction.init().status_code == 201
        for path, start, end in chunks:
            transaction.upload(client.s3(), path, start, end)
        assert transaction.stop().status_code == 200 and transaction.commit().status_code == 200
        wait_until(lambda: service.asked, "the model is asked")
        site.crash()
        service.go_on.set()
        answer = result(site.server.client().transaction(transaction.id))
        assert answer.status_code == 200 and len(service.asked) == 2
    finally:
        service.go_on.set()
        site.close()
