"""Conversations of devices, driven by the `websockets` package: text that a device has recognised itself, and its audio."""

import base64
import contextlib
import json
import random
import socket
import sqlite3
import struct
import subprocess
import threading
import time
import uuid

import jsonschema
import pytest
import requests
import yaml
from conftest import DEMO, PATIENCE, ROOT, running, wait_until
from test_listen import silence, voice
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

DOCUMENT = yaml.safe_load((ROOT / "openapi/edge.asyncapi.yaml").read_text())
FLAGS = ("--ephemeral", "--conversation-timeout", "2s", "--edge-idle", "4s")


@pytest.fixture(scope="module")
def edge(tmp_path_factory):
    with running(tmp_path_factory.mktemp("edge"), *FLAGS) as server:
        yield server


def token_of(user: str) -> str:
    """A token as another issuer makes them, which nobody verifies outside of strict mode."""
    def part(value) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    return f"{part({'alg': 'RS256', 'kid': 'x'})}.{part({'iss': 'https://securetoken.google.com/omi', 'user_id': user})}.c2ln"


def check(message, schema: str):
    """Every text that comes is checked against the document."""
    wanted = {"$ref": f"#/components/schemas/{schema}", "components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(wanted).validate(message)
    return message


class Device:
    """One user's connection; a fresh user unless one is named."""

    def __init__(self, server, query="", user=None, token=None, path="/v4/listen", **options):
        self.server = server
        self.user = user or f"user-{random.getrandbits(64):x}"
        self.token = token or token_of(self.user)
        self.headers = {"Authorization": f"Bearer {self.token}"}
        self.socket = connect(
            f"ws://127.0.0.1:{server.port}{path}?{query}", open_timeout=PATIENCE, close_timeout=PATIENCE, legacy=True,
            additional_headers=self.headers if path == "/v4/listen" else {}, **options)
        self.texts, self.segments, self.events = [], [], []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *messages):
        for message in messages:
            self.socket.send(message if isinstance(message, (bytes, str)) else json.dumps(message))

    def say(self, *texts, **more):
        for text in texts:
            self.send({"type": "transcript_segment", "text": text, **more})

    def receive(self):
        text = self.socket.recv(timeout=PATIENCE)
        self.texts.append(text)
        if text == "ping":
            return text
        message = check(json.loads(text), "Segments" if text.startswith("[") else "Event")
        if isinstance(message, list):
            self.segments += message
        else:
            self.events.append(message)
        return message

    def until(self, count: int) -> list[str]:
        """The texts of the segments, once there are so many."""
        while len(self.segments) < count:
            self.receive()
        return [segment["text"] for segment in self.segments]

    def event(self, kind: str) -> dict:
        while not (known := [event for event in self.events if event["type"] == kind]):
            self.receive()
        return known[0]

    def ready(self):
        while not any(event.get("status") == "ready" for event in self.events):
            self.receive()
        return self

    def end(self) -> tuple[int, str]:
        try:
            while True:
                self.receive()
        except ConnectionClosed:
            return self.socket.protocol.close_rcvd.code, self.socket.protocol.close_rcvd.reason

    def call(self, method: str, path: str, **options) -> requests.Response:
        return requests.request(
            method, f"{self.server.base_url}{path}", headers=self.headers, timeout=PATIENCE, **options)

    def conversations(self, statuses="in_progress,processing,completed") -> list[dict]:
        return self.call("GET", "/v1/conversations", params={"statuses": statuses}).json()

    def stored(self) -> list[str]:
        return [segment["text"] for conversation in self.conversations() for segment in conversation["transcript_segments"]]


@pytest.mark.covers("E-01")
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer"}, {"Authorization": "Bearer nonsense"}])
def test_without_a_token_nobody_is_listened_to(edge, headers):
    with pytest.raises(InvalidStatus) as refusal:
        connect(f"ws://127.0.0.1:{edge.port}/v4/listen", additional_headers=headers)
    assert refusal.value.response.status_code == 401 and "detail" in json.loads(refusal.value.response.body)


@pytest.mark.covers("E-02")
def test_at_open_a_ping_and_the_statuses_come_in_their_order(edge):
    with Device(edge) as device:
        device.ready()
        assert device.texts[0] == "ping"
        assert [event["status"] for event in device.events] == [
            "initiating", "in_progress_conversations_processing", "stt_initiating", "ready"]


@pytest.mark.covers("E-03", "E-07", "E-10")
def test_a_single_segment_without_any_audio(edge):
    # The seed's phase 1.
    with Device(edge) as device:
        device.say("This is a test from edge ASR", speaker="SPEAKER_00")
        assert device.until(1) == ["This is a test from edge ASR"]
        [segment] = device.segments
        assert segment["speaker"] == "SPEAKER_00" and segment["speaker_id"] == 0 and segment["stt_provider"] == "edge_asr"
        assert segment["is_user"] is False and segment["person_id"] is None and segment["translations"] == []
        [conversation] = device.conversations()
        assert conversation["status"] == "in_progress" and conversation["transcript_segments"] == device.segments
        assert device.conversations("") == []


@pytest.mark.covers("E-04", "E-05", "E-06", "E-08")
def test_what_says_nothing_is_passed_over_and_what_is_missing_has_its_usual_value(edge):
    with Device(edge) as device:
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
def test_a_segment_each_600_ms_is_a_conversation_in_their_order(edge):
    # The seed's phase 2, faster.
    words = [f"sentence number {number}" for number in range(40)]
    with Device(edge) as device:
        for number, text in enumerate(words):
            device.say(text, start=number * 0.6, end=number * 0.6 + 0.5, speaker=f"SPEAKER_0{number % 2}")
        assert device.until(40) == words
        assert device.stored() == words


@pytest.mark.covers("E-11", "E-13")
def test_a_conversation_goes_on_after_a_drop_and_resends_are_not_doubled(edge):
    with Device(edge) as first:
        first.say("timed", start=1.0, end=2.0)
        first.say("yes", "yes", "no")
        first.until(4)
        first.socket.socket.close()
    with Device(edge, user=first.user).ready() as second:
        second.say("timed", start=1.0, end=2.0)
        second.say("yes", "no", "yes")
        assert second.until(1) == ["yes"]
        second.say("no", "no")
        assert second.until(3) == ["yes", "no", "no"]
        assert second.stored() == ["timed", "yes", "yes", "no", "yes", "no", "no"]
        assert len(second.conversations()) == 1
    with Device(edge, user=first.user).ready() as third:
        # Not the end of what was stored, so not sent again.
        third.say("yes")
        assert third.until(1) == ["yes"]


@pytest.mark.covers("E-11", "E-15")
def test_silence_ends_a_conversation_and_tells_what_was_made_of_it(edge):
    with Device(edge) as device:
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
    with Device(edge, user=device.user).ready() as again:
        assert again.event("last_memory")["memory_id"] == created["id"]


@pytest.mark.covers("E-12")
def test_a_conversation_is_ended_by_a_call_and_read_by_its_id(edge):
    with Device(edge) as device:
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
        assert device.call("PATCH", f"{path}/title", params={"title": "My knee"}).status_code == 200
        assert device.call("GET", path).json()["structured"]["title"] == "My knee"
        assert device.call("PATCH", f"{path}/title", json={"title": "Knee"}).json() == {"status": "Ok"}
        assigned = device.call("PATCH", f"{path}/segments/1/assign", params={"assign_type": "is_user", "value": "true"})
        assert [segment["is_user"] for segment in assigned.json()["transcript_segments"]] == [False, True]
        ids = [segment["id"] for segment in conversation["transcript_segments"]]
        bulk = {"segment_ids": ids, "assign_type": "person_id", "value": "asha"}
        assigned = device.call("PATCH", f"{path}/segments/assign-bulk", json=bulk).json()
        assert [segment["person_id"] for segment in assigned["transcript_segments"]] == ["asha", "asha"]
        assert device.call("PATCH", f"{path}/segments/9/assign", params={"assign_type": "is_user"}).status_code == 404
        assert list(device.call("GET", f"{path}/transcripts").json()) == ["edge_asr"]
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
def test_another_user_finds_nothing(edge):
    with Device(edge) as device, Device(edge) as other:
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
            ("PATCH", f"/v3/memories/{memory['id']}/visibility?value=public"), ("DELETE", f"/v3/memories/{memory['id']}"),
        ]:
            answer = other.call(method, address, json={"assign_type": "is_user", "segment_ids": []})
            assert answer.status_code == 404 and "not found" in answer.json()["detail"], (method, address)
        assert other.conversations() == [] and other.call("GET", "/v3/memories").json() == []
    answer = requests.get(f"{edge.base_url}/v1/conversations", timeout=PATIENCE)
    assert answer.status_code == 401 and "detail" in answer.json()


@pytest.mark.covers("E-14")
def test_a_socket_without_messages_is_closed_with_1001(edge):
    with Device(edge) as device:
        assert device.end()[0] == 1001


@pytest.mark.covers("E-09")
@pytest.mark.parametrize("codec, rate", [("pcm16", 16_000), ("pcm8", 8000), ("opus", 16_000), ("aac", 16_000)])
def test_audio_is_heard_and_mixed_with_text(edge, codec, rate):
    audio = voice(1.5, rate) + silence(0.8, rate) + voice(1.5, rate) + silence(0.8, rate)
    if codec == "opus":
        frames = opus_packets(audio)
    elif codec == "aac":
        stream = subprocess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "s16le", "-ar", "16000", "-ac", "1", "-i", "-", "-c:a", "aac",
             "-f", "adts", "-"], input=audio, check=True, capture_output=True).stdout
        frames = [stream[at:at + 500] for at in range(0, len(stream), 500)]
    else:
        frames = [audio[at:at + 2000] for at in range(0, len(audio), 2000)]
    with Device(edge, f"codec={codec}&sample_rate={rate}") as device:
        device.say("before")
        device.send(b"\x8a\x00", *frames)
        device.until(2)
        device.say("after")
        # A second utterance, whose words are of two speakers.
        device.until(5)
        device.say("end")
        while (texts := device.until(len(device.segments) + 1))[-1] != "end":
            pass
        assert texts[0] == "before" and "after" in texts
        heard = [segment for segment in device.segments if segment["stt_provider"] == "fake"]
        assert "".join(segment["text"] for segment in heard).startswith("Good morning what brings you here")
        assert all(segment["end"] > segment["start"] >= 0 for segment in heard)
        [conversation] = device.conversations()
        assert device.stored() == texts
        path = f"/v1/conversations/{conversation['id']}/recording"
        assert device.call("GET", path).json() == {"has_recording": True}


def test_a_visit_by_text_and_by_voice_comes_to_the_same(tmp_path, spoken, sentences):
    # The seed's phase 3, with a recogniser that listens.
    with running(tmp_path, "--ephemeral", "--transcriber", f"command:'{DEMO}/recognise.sh' {{wav}}") as server:
        summaries = []
        for is_text in (True, False):
            with Device(server, "codec=pcm16&sample_rate=16000").ready() as device:
                if is_text:
                    device.say(*sentences)
                else:
                    audio = spoken.tobytes()
                    device.send(*(audio[at:at + 32_000] for at in range(0, len(audio), 32_000)))
            # Closed, and all of it heard.
            texts = wait_until(lambda: (t := device.stored()) and len(t) >= (len(sentences) if is_text else 5) and t, "it is heard")
            assert not is_text or texts == sentences
            wait_until(lambda: "one week" in " ".join(device.stored()).lower(), "its end is heard")
            ended = device.call("POST", "/v1/conversations").json()["conversation"]
            memories = {memory["content"].lower() for memory in device.call("GET", "/v3/memories").json()}
            summaries.append((memories, {item["description"].lower() for item in ended["structured"]["action_items"]}))
    (text_memories, text_items), (voice_memories, voice_items) = summaries
    assert "allergic to penicillin" in text_memories & voice_memories
    assert len(text_items & voice_items) >= 2


def test_what_was_said_before_a_device_vanished_is_kept(edge):
    with Device(edge, "codec=pcm16&sample_rate=16000") as device:
        device.send(voice(2))
        device.socket.socket.close()
        wait_until(device.stored, "its words are stored")


def opus_packets(audio: bytes) -> list[bytes]:
    """Bare packets, as ffmpeg packs them into Ogg pages."""
    ogg = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-f", "s16le", "-ar", "16000", "-ac", "1", "-i", "-", "-c:a", "libopus",
         "-frame_duration", "20", "-f", "ogg", "-"], input=audio, check=True, capture_output=True).stdout
    packets, pending, at = [], b"", 0
    while at < len(ogg):
        count = ogg[at + 26]
        lengths = ogg[at + 27:at + 27 + count]
        at += 27 + count
        for length in lengths:
            pending += ogg[at:at + length]
            at += length
            if length < 255:
                packets.append(pending)
                pending = b""
    return packets[2:]


@pytest.mark.parametrize("query", ["codec=lc3", "codec=nonsense", "sample_rate=1", "channels=9", "language=%25"])
def test_what_cannot_be_heard_closes_the_socket_with_a_reason(edge, query):
    with Device(edge, query) as device:
        code, reason = device.end()
        assert code == 1008 and query.split("=")[0] in reason


@pytest.mark.covers("E-17")
def test_the_text_of_another_recogniser_is_taken_where_the_device_has_said_so(edge):
    message = {"type": "suggested_transcript", "stt_provider": "parakeet", "segments": [
        {"text": "first", "speaker": "SPEAKER_01", "start": 0.5, "end": 1.0, "is_user": True}, {"text": " "}, {"text": "second"}]}
    with Device(edge, "custom_stt=enabled") as device:
        device.send(message)
        assert device.until(2) == ["first", "second"]
        assert device.segments[0]["stt_provider"] == "parakeet" and device.segments[0]["is_user"] is True
    with Device(edge) as device:
        device.send(message)
        device.say("own")
        assert device.until(1) == ["own"]


@pytest.mark.covers("E-18")
def test_urgency_is_told_once_a_level_and_kept(edge):
    with Device(edge) as device:
        device.say("I have no chest pain.", "My father died of a heart attack.", "I had chest pain years ago.", "Good.")
        device.say("I have a high fever.", "And a stiff neck.", "Now I have chest pain.", "Trouble breathing too.")
        device.say("end")
        device.until(9)
        [conversation] = device.conversations()
        urgency = conversation["external_data"]["urgency"]
        assert urgency["level"] == "emergency" and len(urgency["reasons"]) == 4
        told = [event for event in device.events if event["type"] == "urgency_detected"]
        assert [event["level"] for event in told] == ["urgent", "emergency"]
        assert told[1]["segment_ids"] == [device.segments[6]["id"]]


def test_an_answer_is_read_with_the_question_that_is_stored_before_it(edge):
    with Device(edge) as device:
        for number, words in enumerate(["Any chest pain?", "No.", "Any trouble breathing?", "Yes, since this morning."]):
            device.say(words)
            device.until(number + 1)
        device.say("end")
        device.until(5)
        told = [event for event in device.events if event["type"] == "urgency_detected"]
        assert [event["segment_ids"] for event in told] == [[device.segments[3]["id"]]]


@pytest.mark.covers("E-19")
def test_who_says_a_name_is_suggested_and_who_is_assigned_stays(edge):
    with Device(edge) as device:
        device.say("Hello, I'm Dr Rao.", speaker="SPEAKER_01")
        device.say("my name is asha and I have a cough", speaker="SPEAKER_00")
        device.until(2)
        device.event("speaker_label_suggestion")
        device.send({"type": "speaker_assigned", "speaker_id": 0, "person_id": "user", "person_name": "Asha",
                     "segment_ids": [device.segments[1]["id"]]})
        device.say("and a headache", speaker="SPEAKER_00")
        device.until(3)
        suggestions = [event for event in device.events if event["type"] == "speaker_label_suggestion"]
        assert [(event["speaker_id"], event["person_name"], event["person_id"]) for event in suggestions] == [
            (1, "Dr Rao", ""), (0, "Asha", "")]
        assert device.segments[2]["is_user"] is True
        assert [segment["is_user"] for segment in device.conversations()[0]["transcript_segments"]] == [False, True, True]


def test_a_picture_in_pieces_is_kept_with_the_conversation(edge):
    picture = base64.b64encode(b"\xff\xd8" + random.Random(1).randbytes(5000)).decode()
    pieces = [picture[at:at + 2000] for at in range(0, len(picture), 2000)]
    with Device(edge) as device:
        for index in reversed(range(len(pieces))):
            device.send({"type": "image_chunk", "id": "p1", "index": index, "total": len(pieces), "data": pieces[index]})
        photo = device.event("photo_described")["photo_id"]
        assert device.event("photo_processing") == {"type": "photo_processing", "temp_id": "p1", "photo_id": photo}
        [conversation] = device.conversations()
        assert [kept["base64"] for kept in conversation["photos"]] == [picture]
        # One without end, one that is none, and one that lies about itself.
        for index in range(30):
            device.send({"type": "image_chunk", "id": "p2", "index": index, "total": 1000, "data": "A" * 200_000})
        device.send({"type": "image_chunk", "id": "p3", "index": 0, "total": 1, "data": "no base64!"})
        device.send({"type": "image_chunk", "id": "p4", "index": 5, "total": 2, "data": "AAAA"})
        device.say("still there")
        device.until(1)
        assert len(device.call("GET", f"/v1/conversations/{conversation['id']}/photos").json()) == 1


def test_memories_are_added_changed_and_deleted(edge):
    with Device(edge) as device:
        created = device.call("POST", "/v3/memories", json={"content": "Likes tea", "category": "interests"})
        assert created.status_code == 200
        memory = created.json()
        assert memory["manually_added"] is True and memory["visibility"] == "private" and memory["conversation_id"] is None
        path = f"/v3/memories/{memory['id']}"
        assert device.call("PATCH", path, params={"value": "Likes green tea"}).json() == {"status": "ok"}
        assert device.call("PATCH", f"{path}/visibility", params={"value": "public"}).status_code == 200
        assert device.call("PATCH", f"{path}/visibility", params={"value": "nonsense"}).status_code == 422
        assert device.call("POST", "/v3/memories", json={"content": "  "}).status_code == 422
        [changed] = device.call("GET", "/v3/memories", params={"categories": "interests,core"}).json()
        assert (changed["content"], changed["visibility"], changed["edited"]) == ("Likes green tea", "public", True)
        assert device.call("GET", "/v3/memories", params={"categories": "work"}).json() == []
        assert device.call("GET", "/v3/memories", params={"limit": 5000}).json() == [changed]
        assert device.call("DELETE", path).json() == {"status": "ok"}
        assert device.call("DELETE", path).json() == {"detail": "Memory not found"}


def test_a_conversation_is_a_transaction_for_the_other_families(edge):
    client = edge.client()
    with Device(edge, token=client.tokens["access_token"]) as device:
        device.say("I have had a dry cough since Monday.", "Take paracetamol twice a day.")
        device.until(2)
        conversation = device.call("POST", "/v1/conversations").json()["conversation"]
    transaction = client.transaction(conversation["id"])
    answer = wait_until(lambda: (a := transaction.poll()).status_code == 200 and a, "its note is written")
    data = answer.json()["data"]
    [transcript] = data["template_results"]["transcript"]
    assert "dry cough since Monday" in base64.b64decode(transcript["value"]).decode()
    assert "paracetamol" in base64.b64decode(data["output"][0]["value"]).decode().lower()
    history = client.session.get(f"{edge.base_url}/voice/api/v2/transaction/history").json()
    assert conversation["id"] in json.dumps(history)


def test_text_comes_by_a_plain_call_too(edge):
    with Device(edge) as device:
        answer = device.call("POST", "/v1/transcribe/text", json={"text": "said by a call", "confidence": 0.7})
        assert answer.status_code == 200 and answer.json()["segments"][0]["text"] == "said by a call"
        assert [conversation["id"] for conversation in device.conversations()] == [answer.json()["conversation_id"]]
        assert device.call("POST", "/v1/transcribe/text", json={"text": " "}).status_code == 422


def test_a_page_says_who_it_is_in_its_first_message(edge):
    token = token_of("page")
    with Device(edge, path="/v4/web/listen", token=token) as device:
        device.send({"type": "auth", "token": token})
        assert device.receive() == {"type": "auth_response", "success": True}
        assert device.receive()["type"] == "conversation_session"
        device.say("from a page")
        assert device.until(1) == ["from a page"]
    for first in ({"type": "auth", "token": ""}, {"type": "transcript_segment", "text": "x"}, "nonsense", b"1234"):
        with Device(edge, path="/v4/web/listen") as device:
            device.send(first)
            code, _ = device.end()
            assert code == 1008 and device.events == [{"type": "auth_response", "success": False}]


def test_the_first_message_of_a_page_is_short_and_the_next_ones_may_be_long(edge):
    token = token_of("long")
    with Device(edge, path="/v4/web/listen", token=token) as device:
        device.send({"type": "auth", "token": token, "padding": "x" * 3000})
        assert device.receive() == {"type": "auth_response", "success": True}
        device.receive()
        device.say("long " * 3000)
        assert device.until(1)
    with Device(edge, path="/v4/web/listen", token=token) as device:
        device.send({"type": "auth", "token": token, "padding": "x" * 4096})
        assert device.end()[0] == 1009


def test_pages_that_never_say_who_they_are_keep_nobody_out_and_hold_little(tmp_path):
    """Each has begun a message of a megabyte, the last byte of which does not come."""
    with running(tmp_path, *FLAGS) as server, contextlib.ExitStack() as open_sockets:
        before = server.memory("VmRSS")
        strangers = []
        for _ in range(300):
            stranger = open_sockets.enter_context(socket.create_connection(("127.0.0.1", server.port), PATIENCE))
            stranger.sendall(
                b"GET /v4/web/listen HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
            with contextlib.suppress(OSError):
                stranger.sendall(b"\x81\xff" + struct.pack(">Q", 1 << 20) + bytes(4) + bytes((1 << 20) - 1))
            strangers.append(stranger)
        with Page(server) as page:
            page.say("heard all the same")
            assert page.until(1) == ["heard all the same"]
        assert server.memory("VmHWM") - before < 64 << 20


class Page(Device):
    """A page's connection, which has said who it is."""

    def __init__(self, server, wanted=None, user=None):
        # Silence ends none of them, however busy the machine is.
        query = "conversation_timeout=600" + (f"&client_conversation_id={wanted}" if wanted is not None else "")
        super().__init__(server, query, user=user, path="/v4/web/listen")
        self.send({"type": "auth", "token": self.token})
        assert self.receive() == {"type": "auth_response", "success": True}
        # What comes next, before anything else.
        session = self.receive()
        assert session.keys() == {"type", "conversation_id"} and session["type"] == "conversation_session"
        self.session = session["conversation_id"]

    def found(self, id: str) -> int:
        return self.call("GET", f"/v1/conversations/{id}").status_code


@pytest.mark.covers("E-20")
def test_a_page_names_its_conversation_before_it_begins(edge):
    wanted = str(uuid.uuid4())
    with Page(edge, wanted) as page:
        assert page.session == wanted and page.found(wanted) == 404
        page.say("I have a cough.")
        page.until(1)
        assert [conversation["id"] for conversation in page.conversations()] == [wanted]
        page.socket.socket.close()
    # It goes on by that name, whatever else is wanted.
    for again in (wanted, str(uuid.uuid4()), None):
        with Page(edge, again, user=page.user) as page:
            assert page.session == wanted
    with Page(edge, wanted, user=page.user) as page:
        page.say("And a fever.")
        page.until(1)
        assert page.stored() == ["I have a cough.", "And a fever."]
        assert page.call("POST", "/v1/conversations").json()["conversation"]["id"] == wanted
    # What is over stays as it is.
    with Page(edge, wanted, user=page.user) as page:
        assert page.session != wanted
        page.say("Another visit.")
        page.until(1)
        kept = page.call("GET", f"/v1/conversations/{wanted}").json()
        assert [segment["text"] for segment in kept["transcript_segments"]] == ["I have a cough.", "And a fever."]
        assert {conversation["id"] for conversation in page.conversations()} == {wanted, page.session}


@pytest.mark.covers("E-16", "E-20")
@pytest.mark.parametrize("is_over", [False, True])
def test_a_name_that_another_user_has_is_not_taken_over(edge, is_over):
    wanted = str(uuid.uuid4())
    with Page(edge, wanted) as owner:
        owner.say("private")
        owner.until(1)
        if is_over:
            assert owner.call("POST", "/v1/conversations").status_code == 200
        # However it is written.
        for name in (wanted, wanted.upper()):
            with Page(edge, name) as other:
                assert uuid.UUID(other.session) and other.session.lower() != wanted
                assert other.found(wanted) == other.found(name) == 404
                other.say("mine")
                assert other.until(1) == ["mine"]
                assert [conversation["id"] for conversation in other.conversations()] == [other.session]
                assert other.stored() == ["mine"] and other.found(wanted) == 404
                assert other.call("DELETE", f"/v1/conversations/{wanted}").status_code == 404
        assert owner.stored() == ["private"] and owner.found(other.session) == 404


@pytest.mark.covers("E-20")
@pytest.mark.parametrize("wanted", [None, "", "nonsense", "..%2Fx", "%00", "x" * 3000, "1234", "%7B%7D%22"])
def test_a_name_that_is_no_uuid_is_passed_over(edge, wanted):
    with Page(edge, wanted) as page:
        assert str(uuid.UUID(page.session)) == page.session
        page.say("hello")
        page.until(1)
        assert [conversation["id"] for conversation in page.conversations()] == [page.session]


@pytest.mark.covers("E-20")
def test_two_pages_that_want_one_name_are_both_told_what_they_got(edge):
    wanted = str(uuid.uuid4())
    with Page(edge, wanted) as first, Page(edge, wanted) as second:
        # Nobody has it yet: both are promised it.
        assert first.session == second.session == wanted
        first.say("mine")
        first.until(1)
        second.say("mine too")
        assert second.until(1) == ["mine too"]
        told = [event for event in second.events if event["type"] == "conversation_session"][-1]["conversation_id"]
        assert told != wanted
        assert [conversation["id"] for conversation in second.conversations()] == [told]
        assert [conversation["id"] for conversation in first.conversations()] == [wanted]


@pytest.mark.covers("E-20")
def test_what_is_a_transaction_already_names_no_conversation(edge):
    client, wanted = edge.client(), str(uuid.uuid4())
    assert client.transaction(wanted).init().ok
    with Device(edge, f"client_conversation_id={wanted}", token=client.tokens["access_token"], path="/v4/web/listen") as page:
        page.send({"type": "auth", "token": page.token})
        assert page.event("conversation_session")["conversation_id"] != wanted
        page.say("hello")
        assert page.until(1) == ["hello"]


@pytest.mark.covers("E-21")
def test_a_timed_segment_that_is_sent_again_over_one_socket_is_stored_once(edge):
    with Device(edge, "conversation_timeout=600") as device:
        device.say("timed", "timed", start=1.0, end=2.0)
        device.say("timed", start=3.0, end=4.0)
        # Somebody else at the same time, and another text.
        device.say("timed", start=1.0, end=2.0, speaker="SPEAKER_01")
        device.say("other", start=1.0, end=2.0)
        device.say("timed", start=1.0, end=2.0)
        # Whoever says "yes" twice without times has said it twice.
        device.say("yes", "yes")
        expected = ["timed", "timed", "timed", "other", "yes", "yes"]
        assert device.until(6) == expected
        assert device.stored() == expected


@pytest.mark.covers("E-21")
def test_times_begin_anew_in_a_conversation_that_follows_one_that_was_ended_over_http(edge):
    with Device(edge, "conversation_timeout=600") as device:
        device.say("Good morning.", start=0.0, end=1.0)
        device.until(1)
        assert device.call("POST", "/v1/conversations").status_code == 200
        device.say("Good morning.", start=0.0, end=1.0)
        assert device.until(2) == ["Good morning.", "Good morning."]
        assert len(device.conversations()) == 2


@pytest.mark.covers("E-12")
def test_many_segments_are_assigned_only_where_they_are_named(edge):
    with Device(edge, "conversation_timeout=600") as device:
        device.say("one", "two")
        device.until(2)
        [conversation] = device.conversations()
        path = f"/v1/conversations/{conversation['id']}/segments/assign-bulk"
        for more in ({}, {"segment_ids": None}, {"segment_ids": "all"}):
            answer = device.call("PATCH", path, json={"assign_type": "is_user", "value": "true"} | more)
            assert answer.status_code == 422 and "segment_ids" in json.dumps(answer.json()), (more, answer.text)
        assert device.conversations() == [conversation]
        assert device.call("PATCH", path, json={"assign_type": "is_user", "value": "true", "segment_ids": []}).status_code == 200


@pytest.mark.covers("E-22")
@pytest.mark.parametrize("times", [{}, {"start": 1.0, "end": 900.0}])
@pytest.mark.parametrize("kind", ["own", "suggested"])
def test_a_long_text_comes_in_parts_that_end_with_words(edge, times, kind):
    dice = random.Random(7)
    text = " ".join("".join(dice.choices("abcdefghéß漢😀", k=dice.randint(1, 14))) for _ in range(7000))
    with Device(edge, "custom_stt=enabled") as device:
        if kind == "own":
            device.say(text, speaker="SPEAKER_02", **times)
        else:
            device.send({"type": "suggested_transcript", "segments": [{"text": text, "speaker": "SPEAKER_02", **times}]})
        device.say("end")
        while "end" not in [segment["text"] for segment in device.segments]:
            device.receive()
        *parts, _ = device.segments
        assert len(parts) > 2 and " ".join(part["text"] for part in parts) == text
        assert all(len(part["text"]) <= 16_000 and part["speaker"] == "SPEAKER_02" for part in parts)
        assert {(part["start"], part["end"]) for part in parts} == {(times.get("start", 0), times.get("end", 0))}
        assert " ".join(device.stored()) == f"{text} end"


@pytest.mark.covers("E-22")
@pytest.mark.parametrize("length, count", [(16_000, 1), (16_001, 2), (100_000, 7)])
def test_a_text_without_a_gap_is_cut_and_nothing_vanishes(edge, length, count):
    with Device(edge) as device:
        device.say("x" * length, "end")
        *parts, end = device.until(count + 1)
        assert "".join(parts) == "x" * length and end == "end"


def test_a_text_without_end_closes_the_socket(edge):
    with Device(edge) as device:
        device.say("short")
        assert device.until(1) == ["short"]
        device.send("x" * (2 << 20))
        assert device.end()[0] == 1009


def test_who_knows_the_admin_key_acts_for_anybody_and_nobody_else_does(tmp_path):
    key = tmp_path / "key"
    key.write_text("letmein-\n")
    with running(tmp_path, *FLAGS, "--edge-admin-key-file", str(key), "--auth", "strict", "--demo-seed") as server:
        with Device(server, token="letmein-u7") as device:
            device.say("hello")
            device.until(1)
            assert device.conversations()[0]["transcript_segments"][0]["text"] == "hello"
        for wrong in ("letmein-", "u7", token_of("u7")):
            with pytest.raises(InvalidStatus):
                Device(server, token=wrong)


def test_every_segment_that_was_echoed_survives_a_kill(tmp_path):
    flags = ("--data-dir", str(tmp_path / "data"), "--conversation-timeout", "600s")
    echoed = []
    with running(tmp_path, *flags) as server:
        with Device(server) as device:
            end = threading.Thread(target=lambda: (time.sleep(0.3), server.kill()), daemon=True)
            end.start()
            try:
                for number in range(100_000):
                    device.say(f"word {number}")
                    device.until(number + 1)
            except ConnectionClosed:
                echoed = [segment["text"] for segment in device.segments]
        end.join()
    with running(tmp_path, *flags) as server:
        again = Device(server, user=device.user)
        stored = again.stored()
        assert echoed and stored[:len(echoed)] == echoed and len(stored) <= len(echoed) + 1


class EdgeASRTranscriber:
    """The seed's Swift template with its buffer and its resend: what was not echoed is sent again after a drop."""

    def __init__(self, server, user):
        self.server, self.user = server, user
        self.unsent = []
        self.device = None

    def connect(self):
        self.device = Device(self.server, user=self.user).ready()
        for segment in self.unsent:
            self.device.send(segment)

    def say(self, text, **times):
        segment = {"type": "transcript_segment", "text": text, "speaker": "SPEAKER_00", "is_final": True,
                   "confidence": 0.95, **times}
        self.unsent.append(segment)
        self.device.send(segment)

    def read(self):
        try:
            while message := self.device.socket.recv(timeout=0):
                echoed = [segment["text"] for segment in json.loads(message)] if message.startswith("[") else []
                self.unsent = [segment for segment in self.unsent if segment["text"] not in echoed]
        except TimeoutError:
            pass


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("is_timed", [True, False])
def test_no_word_is_lost_and_none_doubled_over_twenty_drops(tmp_path, seed, is_timed):
    dice = random.Random(seed)
    words = [f"word {number}" for number in range(200)]
    drops = set(dice.sample(range(1, 200), 20))
    with running(tmp_path, "--ephemeral", "--conversation-timeout", "600s") as server:
        client = EdgeASRTranscriber(server, f"dropping-{seed}")
        client.connect()
        for number, text in enumerate(words):
            if number in drops:
                # Some of what was sent has arrived, some was echoed, and some is lost.
                if dice.random() < 0.5:
                    time.sleep(0.01)
                client.device.socket.socket.close()
                client.connect()
            client.say(text, **({"start": number * 0.6, "end": number * 0.6 + 0.5} if is_timed else {}))
            if dice.random() < 0.4:
                client.read()
        client.device.say("end")
        wait_until(lambda: "end" in client.device.stored(), "all is stored")
        assert client.device.stored() == [*words, "end"]


def test_the_examples_of_the_document_fit_it():
    for name, message in DOCUMENT["components"]["messages"].items():
        for example in message.get("examples", []):
            check(example["payload"], name)


def test_the_document_is_served(edge):
    assert requests.get(f"{edge.base_url}/edge.asyncapi.yaml", timeout=PATIENCE).text == (
        ROOT / "openapi/edge.asyncapi.yaml").read_text()


def openssl(*arguments: str, **options) -> bytes:
    return subprocess.run(["openssl", *arguments], check=True, capture_output=True, **options).stdout


def test_strict_mode_takes_firebase_tokens_that_its_keys_verify(tmp_path):
    def part(value) -> str:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    def token(key="key.pem", **claims) -> str:
        body = {"iss": "https://securetoken.google.com/omi", "aud": "omi", "sub": "u1", "user_id": "u1",
                "exp": int(time.time()) + 600, **claims}
        text = f"{part({'alg': 'RS256', 'kid': 'k1', 'typ': 'JWT'})}.{part(body)}"
        signature = openssl("dgst", "-sha256", "-sign", str(tmp_path / key), input=text.encode())
        return f"{text}.{part(signature)}"

    for name in ("key.pem", "other.pem"):
        openssl("genrsa", "-out", str(tmp_path / name), "2048")
    modulus = openssl("rsa", "-in", str(tmp_path / "key.pem"), "-noout", "-modulus").decode().strip().split("=")[1]
    keys = {"keys": [{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "k1", "n": part(bytes.fromhex(modulus)), "e": "AQAB"}]}
    (tmp_path / "jwks.json").write_text(json.dumps(keys))
    flags = ("--edge-jwks-file", str(tmp_path / "jwks.json"), "--edge-project", "omi", "--auth", "strict", "--demo-seed",
             "--edge-client", "dev-client-2")
    with running(tmp_path, *FLAGS, *flags) as server:
        with Device(server, token=token()) as device:
            device.say("verified")
            assert device.until(1) == ["verified"]
            conversation = device.conversations()[0]["id"]
            owner = server.client("dev-client-2", "dev-secret-2").transaction(conversation)
            assert owner.poll().status_code in (200, 202)
        for wrong in (
            token(key="other.pem"), token(exp=int(time.time()) - 1), token(aud="another"), token(sub="", user_id=""),
            token(iss="https://securetoken.google.com/another"), token() + "x", token_of("u1"),
            f"{part({'alg': 'none', 'kid': 'k1'})}.{token().split('.')[1]}.",
        ):
            with pytest.raises(InvalidStatus) as refusal:
                Device(server, token=wrong)
            assert refusal.value.response.status_code == 401

def test_a_conversation_whose_end_could_not_be_stored_is_ended_later(tmp_path):
    folder = tmp_path / "data"
    with running(tmp_path, "--data-dir", str(folder), "--conversation-timeout", "600s") as server:
        headers = {"Authorization": f"Bearer {token_of('asha')}"}
        url = f"{server.base_url}/v1"
        said = requests.post(
            f"{url}/transcribe/text", json={"text": "I have a cough."}, headers=headers, timeout=PATIENCE)
        conversation = f"{url}/conversations/{said.json()['conversation_id']}"
        with contextlib.closing(sqlite3.connect(folder / "scribe.sqlite", timeout=PATIENCE)) as database:
            database.execute(
                "CREATE TRIGGER refusing BEFORE UPDATE OF summary ON conversations BEGIN SELECT RAISE(FAIL, 'no'); END")
            assert requests.post(f"{url}/conversations", headers=headers, timeout=PATIENCE).status_code >= 500
            assert requests.get(conversation, headers=headers, timeout=PATIENCE).json()["status"] == "processing"
            database.execute("DROP TRIGGER refusing")
        wait_until(
            lambda: requests.get(conversation, headers=headers, timeout=PATIENCE).json()["status"] == "completed",
            "the conversation has ended")
