"""Messages of live recognition: results, words, metadata and events."""

import hashlib
import json

import pytest
import requests
from emulator import PATIENCE, PLAIN
from listen_client import (
    SPEECH, Listener, consultation, hear, names, results, said, silence, transcript, voice, words)


@pytest.mark.covers("L-12", "L-13", "L-14")
def test_the_server_sends_no_message_before_audio_and_no_answer_to_keep_alives(server):
    with Listener(server) as listener:
        listener.send("KeepAlive", "KeepAlive", "CloseStream")
        assert [m["type"] for m in listener.end()] == ["Metadata"]


@pytest.mark.covers("L-17", "L-19", "L-20", "L-21", "L-22", "L-28", "L-29", "L-31")
def test_results_match_the_worked_example_of_the_streaming_contract(server):
    """streaming.md 6, to the number."""
    messages = hear(server, "interim_results=true&endpointing=300")
    found = [(m["is_final"], m["speech_final"], m["start"], m["duration"], words(m)) for m in results(messages)]
    assert found == [
        (False, False, 0.0, 0.5, 2), (False, False, 0.0, 1.0, 4), (True, True, 0.0, 1.5, 5),
        (False, False, 1.5, 1.0, 2), (False, False, 1.5, 1.5, 5), (True, True, 1.5, 1.5, 5),
    ]
    metadata = messages[-1]
    assert metadata["type"] == "Metadata" and metadata["duration"] == 3.0 and metadata["channels"] == 1
    assert metadata["sha256"] == hashlib.sha256(SPEECH).hexdigest()


@pytest.mark.covers("L-18")
def test_without_interim_results_every_result_is_final(server):
    assert all(m["is_final"] for m in results(hear(server, "endpointing=300")))


@pytest.mark.covers("L-23")
def test_without_endpointing_a_pause_ends_no_utterance(server):
    found = results(hear(server, "endpointing=false"))
    assert [(m["start"], m["duration"], words(m)) for m in found] == [(0.0, 3.0, 10)]


@pytest.mark.covers("L-24", "L-25", "L-26", "L-27")
def test_finalize_gives_one_final_result_and_the_stream_continues(server):
    with Listener(server, "endpointing=false") as listener:
        listener.send(voice(1.0), "Finalize")
        first = listener.until("Results")
        assert first["from_finalize"] and first["is_final"] and words(first) == 4
        listener.send("Finalize")
        empty = listener.until("Results")
        assert empty["from_finalize"] and words(empty) == 0
        assert empty["channel"]["alternatives"][0] == {"transcript": "", "confidence": 0, "words": []}
        listener.send(voice(1.0), "CloseStream")
        last = results(listener.end())[-1]
        assert not last["from_finalize"] and last["start"] == 1.0 and last["start"] + last["duration"] == 2.0


@pytest.mark.covers("L-30", "L-32")
def test_a_stream_without_audio_ends_with_metadata_of_nothing(server):
    with Listener(server) as listener:
        # It ends the stream by itself.
        listener.send(b"")
        (metadata,) = listener.end()[:1]
    assert metadata["duration"] == 0 and metadata["channels"] == 0
    assert metadata["sha256"] == hashlib.sha256(b"").hexdigest()


@pytest.mark.covers("L-33")
def test_one_id_is_in_the_header_and_in_all_messages(server):
    with Listener(server, "interim_results=true") as listener:
        id = listener.socket.response.headers["dg-request-id"]
        listener.send(SPEECH, "CloseStream")
        messages = listener.end()
    assert {m["metadata"]["request_id"] for m in results(messages)} | {messages[-1]["request_id"]} == {id}


@pytest.mark.covers("L-34", "L-35", "L-36")
def test_words_are_objects_in_order_within_their_span(server):
    for result in results(hear(server, "interim_results=true&endpointing=300")):
        last = result["start"]
        for word in result["channel"]["alternatives"][0]["words"]:
            assert last <= word["start"] < word["end"] <= round(result["start"] + result["duration"], 3)
            last = word["end"]


@pytest.mark.covers("L-37")
def test_punctuation_only_on_request(server):
    plain = results(hear(server, "endpointing=false"))[0]["channel"]["alternatives"][0]
    assert all("punctuated_word" not in word for word in plain["words"])
    for flag in ["punctuate", "smart_format"]:
        written = results(hear(server, f"endpointing=false&{flag}=true"))[0]["channel"]["alternatives"][0]
        assert written["words"][0]["word"].islower() and written["words"][0]["punctuated_word"][0].isupper()
        assert written["transcript"].startswith(written["words"][0]["punctuated_word"])


@pytest.mark.covers("L-38", "L-39", "L-40")
def test_speech_started_and_utterance_end_are_sent_on_request(server):
    def kinds(query):
        return [m["type"] for m in hear(server, query) if m["type"] not in ("Results", "Metadata")]

    assert kinds("endpointing=300") == []
    assert kinds("endpointing=300&vad_events=true") == ["SpeechStarted", "SpeechStarted"]
    apart = voice(1.2) + silence(1.2) + voice(1.2)
    messages = hear(server, "endpointing=300&interim_results=true&utterance_end_ms=1000", apart)
    messages = [m for m in messages if m.get("is_final", True)]
    assert [m["type"] for m in messages] == ["Results", "UtteranceEnd", "Results", "Metadata"], messages
    assert messages[1]["channel"] == [0, 1] and messages[1]["last_word_end"] == 1.2
    assert kinds("endpointing=300&utterance_end_ms=1000") == []


@pytest.mark.covers("L-68")
def test_words_are_final_before_the_utterance_ends_also_without_endpointing(server):
    query = "endpointing=false&interim_results=true&utterance_end_ms=1000"
    apart = voice(1.2) + silence(1.2) + voice(1.2)
    messages = [m for m in hear(server, query, apart) if m.get("is_final", True)]
    assert [m["type"] for m in messages] == ["Results", "UtteranceEnd", "Results", "Metadata"]
    assert [m["speech_final"] for m in results(messages)] == [False, True]
    assert words(messages[0]) == 5 and messages[1]["last_word_end"] == 1.2
    # The endpoint that comes after it has no words left.
    query = "endpointing=1500&interim_results=true&utterance_end_ms=1000"
    messages = [m for m in hear(server, query, voice(1.2) + silence(2.5)) if m.get("is_final", True)]
    assert [m["type"] for m in messages] == ["Results", "UtteranceEnd", "Results", "Results", "Metadata"]
    assert [(m["speech_final"], words(m), m["start"]) for m in results(messages)] == [
        (False, 5, 0), (True, 0, 2.2), (True, 0, 2.7)]


@pytest.mark.covers("L-67")
def test_silence_has_results_without_words_which_are_nothing_of_a_consultation(server):
    def spans(query, audio, final=None):
        found = results(hear(server, query, audio), final)
        assert all(m["channel"]["alternatives"][0] == {"transcript": "", "confidence": 0, "words": []} for m in found)
        return [(m["start"], m["duration"], m["is_final"], m["speech_final"]) for m in found]

    assert spans("", silence(9)) == [(0, 4, True, True), (4, 4, True, True)]
    assert spans("endpointing=false", silence(9)) == [(0, 4, True, False), (4, 4, True, False)]
    assert spans("interim_results=true", silence(6.5)) == [
        (0, 1, False, False), (0, 2, False, False), (0, 3, False, False), (0, 4, True, True),
        (4, 1, False, False), (4, 2, False, False), (4, 2.5, True, True)]
    transaction = consultation(server)
    with Listener(server, f"endpointing=300&punctuate=true&txn_id={transaction.id}") as listener:
        listener.send(silence(9))
        assert [words(listener.until("Results")) for _ in range(2)] == [0, 0]
        assert names(transaction) == []
        listener.send(voice(1.2) + silence(0.6))
        assert words(listener.until("Results")) == 5
        assert names(transaction) == ["1.wav"]
        listener.send(silence(9), "CloseStream")
        messages = listener.end()
    assert transcript(transaction) == said(messages)


@pytest.mark.covers("L-69")
def test_without_endpointing_speech_is_final_every_few_seconds_and_ends_no_utterance(server):
    found = results(hear(server, "endpointing=false", voice(12)))
    assert [m["duration"] for m in found] == [5, 5, 2]
    assert [m["speech_final"] for m in found] == [False, False, True]


@pytest.mark.covers("L-70")
def test_channels_that_are_mixed_have_the_index_of_one(server):
    messages = hear(server, "channels=2&vad_events=true", voice(2.4))
    assert [m["channel_index"] for m in results(messages)] == [[0, 1]] and messages[-1]["channels"] == 2
    assert [m["channel"] for m in messages if m["type"] == "SpeechStarted"] == [[0, 1]]


def pauses(count: int, length: float) -> bytes:
    """Voice that stops again and again."""
    return b"".join(voice(0.5) + silence(length) for _ in range(count))


@pytest.mark.covers("L-65")
def test_speech_started_is_sent_again_only_after_300_ms_of_silence(server):
    def begins(audio):
        return sum(m["type"] == "SpeechStarted" for m in hear(server, "vad_events=true", audio))

    assert begins(pauses(20, 0.2)) == 1
    assert begins(pauses(5, 0.32)) == 5


@pytest.mark.covers("L-66")
def test_final_results_are_sentences_if_the_query_has_no_endpointing(server):
    assert len(results(hear(server, "", pauses(6, 0.2)), final=True)) == 1
    assert len(results(hear(server, "endpointing=10", pauses(6, 0.2)), final=True)) == 6


@pytest.mark.covers("L-63", "L-64")
def test_configure_replaces_key_terms_and_returns_them(server):
    def configured(query, **message):
        with Listener(server, query) as listener:
            listener.socket.send(json.dumps({"type": "Configure", **message}))
            answer = listener.receive()
            listener.send(SPEECH, "CloseStream")
            assert results(listener.end())
        assert answer.pop("request_id")
        return answer

    taken = {"type": "ConfigureSuccess", "keyterms": ["metformin", "blood pressure"]}
    assert configured("model=nova-3-medical", keyterms=["metformin", "blood pressure"]) == taken
    assert configured("", keyterms=[]) == {"type": "ConfigureSuccess", "keyterms": []}
    assert configured("", features={"x": 1}) == {"type": "ConfigureSuccess"}
    refused = configured("model=nova-2", keyterms=["metformin"])
    assert (refused["type"], refused["code"]) == ("ConfigureFailure", "CONFIGURE_KEYTERMS_NOT_SUPPORTED")
    assert refused["description"]
    assert configured("model=nova-3", keyterms=["a b"] * 251)["code"] == "CONFIGURE_KEYTERM_LIMIT_EXCEEDED"


@pytest.mark.covers("L-62")
def test_with_several_languages_each_word_has_its_own(server):
    alternative = results(hear(server, "language=multi"), final=True)[0]["channel"]["alternatives"][0]
    assert alternative["languages"] == ["en"]
    assert {word["language"] for word in alternative["words"]} == {"en"}
    plain = results(hear(server, "language=en"), final=True)[0]["channel"]["alternatives"][0]
    assert "languages" not in plain and "language" not in plain["words"][0]


@pytest.mark.covers("L-48")
def test_each_channel_has_results_of_its_own(server):
    left, right = voice(1.2), silence(1.2)
    both = b"".join(left[i:i + 2] + right[i:i + 2] for i in range(0, len(left), 2))
    found = results(hear(server, "channels=2&multichannel=true&endpointing=false", both))
    assert [(m["channel_index"], words(m)) for m in found] == [([0, 2], 5)]


@pytest.mark.covers("L-49")
def test_speakers_are_told_apart_on_request(server):
    found = results(hear(server, "diarize=true&endpointing=false", voice(2.4)))[0]
    assert {w["speaker"] for w in found["channel"]["alternatives"][0]["words"]} == {0, 1}


def test_the_subq_dialect_begins_with_metadata_and_has_another_channel_index(served):
    server = served(*PLAIN)
    messages = hear(server, "endpointing=300")
    refused = requests.post(
        f"{server.base_url}/v1/listen", data=voice(1), headers={"Authorization": "Bearer wrong"}, timeout=PATIENCE)
    assert refused.status_code == 401 and refused.json().keys() == {"error", "request_id"}
    assert messages[0]["type"] == "Metadata" and messages[0]["duration"] == 0
    assert any(not m["is_final"] for m in results(messages)), "interims are told unasked"
    assert all(m["channel_index"] == [0] for m in results(messages))


def test_the_languages_that_a_client_hints_at_are_in_each_result(server):
    hinted = [result["channel"]["alternatives"][0].get("languages_hinted") for query in (
        "language=multi&language_hint=EN&language_hint=es&language_hint=nonsense1", "language=multi",
        "language_hint=en")
        for result in results(hear(server, query))[:1]]
    assert hinted == [["en", "es"], [], None]
