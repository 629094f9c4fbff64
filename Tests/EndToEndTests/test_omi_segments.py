"""Segments of conversations: times, speakers, long texts, urgency and pictures."""

import base64
import json
import random

import pytest
from device_client import Device


@pytest.mark.covers("E-18")
def test_urgency_is_sent_once_for_each_level_and_stored(omi):
    with Device(omi) as device:
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


def test_an_answer_is_read_with_the_question_that_is_stored_before_it(omi):
    with Device(omi) as device:
        for number, words in enumerate([
            "Any chest pain?", "No.", "Any trouble breathing?", "Yes, since this morning."
        ]):
            device.say(words)
            device.until(number + 1)
        device.say("end")
        device.until(5)
        told = [event for event in device.events if event["type"] == "urgency_detected"]
        assert [event["segment_ids"] for event in told] == [[device.segments[3]["id"]]]


@pytest.mark.covers("E-19")
def test_an_introduction_suggests_a_speaker_name_and_an_assignment_stays(omi):
    with Device(omi) as device:
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
        assert [segment["is_user"] for segment in device.conversations()[0]["transcript_segments"]] == [
            False, True, True]


def test_a_picture_in_pieces_is_kept_with_the_conversation(omi):
    picture = base64.b64encode(b"\xff\xd8" + random.Random(1).randbytes(5000)).decode()
    pieces = [picture[at:at + 2000] for at in range(0, len(picture), 2000)]
    with Device(omi) as device:
        for index in reversed(range(len(pieces))):
            device.send(
                {"type": "image_chunk", "id": "p1", "index": index, "total": len(pieces), "data": pieces[index]})
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


@pytest.mark.covers("E-05")
@pytest.mark.parametrize(
    "value, kept", [(True, True), (False, False), (0, False), ("false", False), (1, True), (None, True)])
def test_interim_text_is_not_stored_however_an_app_writes_that_it_is_interim(omi, value, kept):
    with Device(omi) as device:
        device.say("first", is_final=value)
        device.say("last")
        expected = ["first", "last"] if kept else ["last"]
        assert device.until(len(expected)) == expected
        assert device.stored() == expected


@pytest.mark.covers("E-21")
def test_every_segment_of_one_socket_counts_and_a_timed_one_that_a_later_socket_sends_again_does_not(omi):
    with Device(omi, "conversation_timeout=600") as device:
        device.say("timed", "timed", start=1.0, end=2.0)
        device.say("timed", start=3.0, end=4.0)
        # Somebody else at the same time, and another text.
        device.say("timed", start=1.0, end=2.0, speaker="SPEAKER_01")
        device.say("other", start=1.0, end=2.0)
        device.say("timed", start=1.0, end=2.0)
        device.say("yes", "yes")
        expected = ["timed", "timed", "timed", "timed", "other", "timed", "yes", "yes"]
        assert device.until(8) == expected
        assert device.stored() == expected
    with Device(omi, "conversation_timeout=600", user=device.user) as later:
        later.say("timed", "timed", start=1.0, end=2.0)
        later.say("timed", start=5.0, end=6.0)
        assert later.until(1) == ["timed"]
        assert later.stored() == [*expected, "timed"]


@pytest.mark.covers("E-21")
def test_times_begin_anew_in_a_conversation_that_follows_one_that_was_ended_over_http(omi):
    with Device(omi, "conversation_timeout=600") as device:
        device.say("Good morning.", start=0.0, end=1.0)
        device.until(1)
        assert device.call("POST", "/v1/conversations").status_code == 200
        device.say("Good morning.", start=0.0, end=1.0)
        assert device.until(2) == ["Good morning.", "Good morning."]
        assert len(device.conversations()) == 2


@pytest.mark.covers("E-12")
def test_many_segments_are_assigned_only_where_they_are_named(omi):
    with Device(omi, "conversation_timeout=600") as device:
        device.say("one", "two")
        device.until(2)
        [conversation] = device.conversations()
        path = f"/v1/conversations/{conversation['id']}/segments/assign-bulk"
        for more in ({}, {"segment_ids": None}, {"segment_ids": "all"}):
            answer = device.call("PATCH", path, json={"assign_type": "is_user", "value": "true"} | more)
            assert answer.status_code == 422 and "segment_ids" in json.dumps(answer.json()), (more, answer.text)
        assert device.conversations() == [conversation]
        assert device.call(
            "PATCH", path, json={"assign_type": "is_user", "value": "true", "segment_ids": []}).status_code == 200


@pytest.mark.covers("E-22")
@pytest.mark.parametrize("times", [{}, {"start": 1.0, "end": 900.0}])
@pytest.mark.parametrize("kind", ["own", "suggested"])
def test_a_long_text_comes_in_parts_that_end_with_words(omi, times, kind):
    dice = random.Random(7)
    text = " ".join("".join(dice.choices("abcdefghéß漢😀", k=dice.randint(1, 14))) for _ in range(7000))
    with Device(omi, "custom_stt=enabled") as device:
        if kind == "own":
            device.say(text, speaker="SPEAKER_02", **times)
        else:
            device.send(
                {"type": "suggested_transcript", "segments": [{"text": text, "speaker": "SPEAKER_02", **times}]})
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
def test_a_text_without_spaces_is_split_and_no_character_is_lost(omi, length, count):
    with Device(omi) as device:
        device.say("x" * length, "end")
        *parts, end = device.until(count + 1)
        assert "".join(parts) == "x" * length and end == "end"


def test_a_text_of_two_megabytes_closes_the_socket(omi):
    with Device(omi) as device:
        device.say("short")
        assert device.until(1) == ["short"]
        device.send("x" * (2 << 20))
        assert device.end()[0] == 1009
