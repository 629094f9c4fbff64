"""Conversations of devices: the statuses, the segments, the end, and the calls that read them."""

import base64
import json

import pytest
import requests
from device_client import Device, check
from emulator import PATIENCE, ROOT, wait_until
from listen_client import voice
from schemas import document
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect


@pytest.mark.covers("E-01")
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer"}, {"Authorization": "Bearer nonsense"}])
def test_an_upgrade_without_a_token_is_refused(omi, headers):
    with pytest.raises(InvalidStatus) as refusal:
        connect(f"ws://127.0.0.1:{omi.port}/v4/listen", additional_headers=headers)
    assert refusal.value.response.status_code == 401 and "detail" in json.loads(refusal.value.response.body)


@pytest.mark.covers("E-02")
def test_at_open_a_ping_and_the_statuses_come_in_their_order(omi):
    with Device(omi) as device:
        device.ready()
        assert device.texts[0] == "ping"
        assert [event["status"] for event in device.events] == [
            "initiating", "in_progress_conversations_processing", "stt_initiating", "ready"]


@pytest.mark.covers("E-03", "E-07", "E-10")
def test_a_single_segment_without_any_audio(omi):
    # The seed's phase 1.
    with Device(omi) as device:
        device.say("This is a test from edge ASR", speaker="SPEAKER_00")
        assert device.until(1) == ["This is a test from edge ASR"]
        [segment] = device.segments
        assert (
            segment["speaker"] == "SPEAKER_00"
            and segment["speaker_id"] == 0
            and segment["stt_provider"] == "edge_asr")
        assert segment["is_user"] is False and segment["person_id"] is None and segment["translations"] == []
        [conversation] = device.conversations()
        assert conversation["status"] == "in_progress" and conversation["transcript_segments"] == device.segments
        assert device.conversations("") == []


@pytest.mark.covers("E-04", "E-05", "E-06", "E-08")
def test_empty_messages_are_ignored_and_missing_members_get_defaults(omi):
    with Device(omi) as device:
        device.say("", "  \n ", is_final=True)
        device.say("not yet", is_final=False)
        device.send(
            {"type": "transcript_segment"}, {"type": "transcript_segment", "text": 7}, "no JSON", "[1, 2]", "{}",
            {"type": "something"}, {"type": "image_chunk", "id": "x"}, b"\x8a\x00", b"", "null", "ping")
        device.say("one", speaker="SPEAKER_03", start=1.5, end=2.5, confidence=0.5)
        device.say("two", speaker="nobody", start=-1e300, end=1e300, confidence=7)
        device.say("three", speaker="SPEAKER_99999999999999999999", start="x")
        assert device.until(3) == ["one", "two", "three"]
        assert [segment["speaker_id"] for segment in device.segments] == [3, 0, 0]
        assert device.segments[0]["start"] == 1.5 and device.segments[0]["confidence"] == 0.5
        assert device.segments[1]["confidence"] is None and device.segments[2]["start"] == 0


@pytest.mark.covers("E-07")
def test_a_segment_each_600_ms_is_a_conversation_in_their_order(omi):
    # The seed's phase 2, faster.
    words = [f"sentence number {number}" for number in range(40)]
    with Device(omi) as device:
        for number, text in enumerate(words):
            device.say(text, start=number * 0.6, end=number * 0.6 + 0.5, speaker=f"SPEAKER_0{number % 2}")
        assert device.until(40) == words
        assert device.stored() == words


@pytest.mark.covers("E-11", "E-13")
def test_a_conversation_goes_on_after_a_drop_and_resends_are_not_doubled(omi):
    with Device(omi) as first:
        first.say("timed", start=1.0, end=2.0)
        first.say("yes", "yes", "no")
        first.until(4)
        first.drop()
    with Device(omi, user=first.user).ready() as second:
        second.say("timed", start=1.0, end=2.0)
        second.say("yes", "no", "yes")
        assert second.until(1) == ["yes"]
        second.say("no", "no")
        assert second.until(3) == ["yes", "no", "no"]
        assert second.stored() == ["timed", "yes", "yes", "no", "yes", "no", "no"]
        assert len(second.conversations()) == 1
    with Device(omi, user=first.user).ready() as third:
        # Not the end of what was stored, so not sent again.
        third.say("yes")
        assert third.until(1) == ["yes"]


@pytest.mark.covers("E-11", "E-15")
def test_silence_ends_a_conversation_and_the_socket_gets_its_summary(omi):
    with Device(omi) as device:
        device.say("I have had a fever for three days.", "I am allergic to penicillin.")
        device.say("Drink plenty of water and come back in one week.", speaker="SPEAKER_01")
        device.until(3)
        started = device.event("memory_processing_started")["memory"]
        created = device.event("memory_created")["memory"]
        assert started["status"] == "processing" and created["status"] == "completed" and started["id"] == created["id"]
        structured = created["structured"]
        assert structured["category"] == "health" and "fever for three days" in structured["overview"].lower()
        assert any("week" in item["description"].lower() for item in structured["action_items"])
        assert structured["events"][0]["duration"] == 30
        [memory] = device.call("GET", "/v3/memories").json()
        assert memory["content"] == "Allergic to penicillin" and memory["conversation_id"] == created["id"]
        # The next words are another conversation.
        device.say("Hello again")
        device.until(4)
        assert len(device.conversations()) == 2
    with Device(omi, user=device.user).ready() as again:
        assert again.event("last_memory")["memory_id"] == created["id"]


@pytest.mark.covers("E-12")
def test_a_conversation_is_ended_by_a_call_and_read_by_its_id(omi):
    with Device(omi) as device:
        assert device.call("POST", "/v1/conversations").status_code == 404
        device.say("My knee hurts.", "I take aspirin daily.")
        device.until(2)
        answer = device.call("POST", "/v1/conversations")
        assert answer.status_code == 200 and answer.json()["messages"] == []
        conversation = answer.json()["conversation"]
        assert conversation["status"] == "completed"
        assert device.call("GET", f"/v1/conversations/{conversation['id']}").json() == conversation
        # What is forgotten stays so when it is told on the socket as well.
        for memory in device.call("GET", "/v3/memories").json():
            assert device.call("DELETE", f"/v3/memories/{memory['id']}").status_code == 200
        assert device.event("memory_created")["memory"]["id"] == conversation["id"]
        assert device.call("GET", "/v3/memories").json() == []
        assert device.conversations("") == [conversation]
        path = f"/v1/conversations/{conversation['id']}"
        titled = device.call("PATCH", f"{path}/title", params={"title": "Knee"}).json()
        assert titled == {"status": "Ok", "conversation": device.call("GET", path).json()}
        assert titled["conversation"]["structured"]["title"] == "Knee"
        lacking = device.call("PATCH", f"{path}/title", json={"title": "My knee"})
        assert lacking.status_code == 422 and lacking.json() == {
            "detail": [{"type": "missing", "loc": ["query", "title"], "msg": "Field required", "input": None}]}
        assigned = device.call("PATCH", f"{path}/segments/1/assign", params={"assign_type": "is_user", "value": "true"})
        assert [segment["is_user"] for segment in assigned.json()["transcript_segments"]] == [False, True]
        ids = [segment["id"] for segment in conversation["transcript_segments"]]
        bulk = {"segment_ids": ids, "assign_type": "person_id", "value": "asha"}
        assigned = device.call("PATCH", f"{path}/segments/assign-bulk", json=bulk).json()
        assert [segment["person_id"] for segment in assigned["transcript_segments"]] == ["asha", "asha"]
        assert device.call("PATCH", f"{path}/segments/9/assign", params={"assign_type": "is_user"}).status_code == 404
        # The app reads four of them without asking whether they are there.
        assert {name: len(segments) for name, segments in device.call("GET", f"{path}/transcripts").json().items()} == {
            "deepgram": 0, "edge_asr": 2, "soniox": 0, "speechmatics": 0, "whisperx": 0}
        assert device.call("GET", f"{path}/photos").json() == []
        assert device.call("GET", f"{path}/recording").json() == {"has_recording": False}
        assert device.call("POST", f"{path}/reprocess").json()["structured"]["title"] != "Knee"
        # Paging.
        assert device.call("GET", "/v1/conversations", params={"limit": 1, "offset": 1}).json() == []
        assert device.call("GET", "/v1/conversations", params={"limit": 0}).status_code == 422
        assert device.call("GET", "/v1/conversations", params={"end_date": "2020-01-01"}).json() == []
        assert device.call("DELETE", path).status_code == 204
        assert device.call("GET", path).status_code == 404


@pytest.mark.covers("E-16")
def test_another_users_conversations_and_memories_are_404(omi):
    with Device(omi) as device, Device(omi) as other:
        device.say("private")
        device.until(1)
        [conversation] = device.conversations()
        path = f"/v1/conversations/{conversation['id']}"
        memory = device.call("POST", "/v3/memories", json={"content": "likes tea"}).json()
        for method, address in [
            ("GET", path), ("DELETE", path), ("GET", f"{path}/transcripts"), ("GET", f"{path}/photos"),
            ("GET", f"{path}/recording"), ("PATCH", f"{path}/title?title=x"), ("POST", f"{path}/reprocess"),
            ("PATCH", f"{path}/segments/0/assign?assign_type=is_user"),
            ("PATCH", f"{path}/segments/assign-bulk"), ("PATCH", f"/v3/memories/{memory['id']}?value=x"),
            ("PATCH", f"/v3/memories/{memory['id']}/visibility?value=public"),
            ("DELETE", f"/v3/memories/{memory['id']}"),
        ]:
            body = {"assign_type": "is_user", "segment_ids": []} if "/v1/" in address else None
            answer = other.call(method, address, json=body)
            assert answer.status_code == 404 and "not found" in answer.json()["detail"], (method, address)
        assert other.conversations() == [] and other.call("GET", "/v3/memories").json() == []
    answer = requests.get(f"{omi.base_url}/v1/conversations", timeout=PATIENCE)
    assert answer.status_code == 401 and "detail" in answer.json()


@pytest.mark.covers("E-14")
def test_a_socket_without_messages_is_closed_with_1001(omi):
    with Device(omi) as device:
        assert device.end()[0] == 1001


def test_segments_sent_before_a_device_disconnects_are_stored(omi):
    with Device(omi, "codec=pcm16&sample_rate=16000") as device:
        device.send(voice(2))
        device.drop()
        wait_until(device.stored, "its words are stored")


def test_memories_are_added_changed_and_deleted(omi):
    with Device(omi) as device:
        created = device.call("POST", "/v3/memories", json={"content": "Likes tea", "category": "interests"})
        assert created.status_code == 200
        memory = created.json()
        assert (
            memory["manually_added"] is True
            and memory["visibility"] == "private"
            and memory["conversation_id"] is None)
        path = f"/v3/memories/{memory['id']}"
        # The phone's app sends a value in the query, the desktop's in a body.
        assert device.call("PATCH", path, params={"value": "Likes any tea"}).json() == {"status": "ok"}
        assert device.call("PATCH", path, json={"value": "Likes green tea"}).json() == {"status": "ok"}
        assert device.call("PATCH", f"{path}/visibility", json={"value": "public"}).status_code == 200
        assert device.call("PATCH", f"{path}/visibility", params={"value": "nonsense"}).status_code == 400
        assert device.call("PATCH", path).status_code == 422
        assert device.call("POST", "/v3/memories", json={"content": "  "}).status_code == 422
        [changed] = device.call("GET", "/v3/memories", params={"categories": "interests,core"}).json()
        assert (changed["content"], changed["visibility"], changed["edited"]) == ("Likes green tea", "public", True)
        assert device.call("GET", "/v3/memories", params={"categories": "work"}).json() == []
        assert device.call("GET", "/v3/memories", params={"limit": 5000}).json() == [changed]
        assert device.call("DELETE", path).json() == {"status": "ok"}
        assert device.call("DELETE", path).json() == {"detail": "Memory not found"}


def test_a_conversation_is_a_transaction_for_the_other_families(omi):
    client = omi.client()
    with Device(omi, token=client.tokens["access_token"]) as device:
        device.say("I have had a dry cough since Monday.", "Take paracetamol twice a day.")
        device.until(2)
        conversation = device.call("POST", "/v1/conversations").json()["conversation"]
    transaction = client.transaction(conversation["id"])
    answer = wait_until(lambda: (a := transaction.poll()).status_code == 200 and a, "its note is written")
    data = answer.json()["data"]
    [transcript] = data["template_results"]["transcript"]
    assert "dry cough since Monday" in base64.b64decode(transcript["value"]).decode()
    assert "paracetamol" in base64.b64decode(data["output"][0]["value"]).decode().lower()
    history = client.session.get(f"{omi.base_url}/voice/api/v2/transaction/history").json()
    assert conversation["id"] in json.dumps(history)


def test_a_segment_can_be_stored_by_an_http_call(omi):
    with Device(omi) as device:
        answer = device.call("POST", "/v1/transcribe/text", json={"text": "said by a call", "confidence": 0.7})
        assert answer.status_code == 200 and answer.json()["segments"][0]["text"] == "said by a call"
        assert [conversation["id"] for conversation in device.conversations()] == [answer.json()["conversation_id"]]
        assert device.call("POST", "/v1/transcribe/text", json={"text": " "}).status_code == 422


def test_the_examples_of_the_document_fit_it():
    for name, message in document("omi.asyncapi.yaml")["components"]["messages"].items():
        for example in message.get("examples", []):
            check(example["payload"], name)


def test_the_document_is_served(omi):
    served = requests.get(f"{omi.base_url}/omi.asyncapi.yaml", timeout=PATIENCE).text
    assert served == (ROOT / "openapi/omi.asyncapi.yaml").read_text()
