"""What every transcriber that is not the fake must do: what it sends, what becomes of its words, and of its faults."""

import pathlib
import time

import client as scribe_client
import pytest
import requests
import speech
from emulator import Server
from speech_service import WORDS, SpeechService, result, start, take, transcript

KINDS = ["openai", "deepgram", "command"]


@pytest.fixture(scope="module")
def chunk(spoken, tmp_path_factory):
    """One chunk of three seconds."""
    path = speech.encode(spoken[: 3 * speech.RATE], tmp_path_factory.mktemp("chunk") / "1.m4a")
    return [(path, 0, 3)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_words_of_a_service_are_returned_and_it_gets_the_configured_options(tmp_path, chunk, kind):
    key = tmp_path / "key"
    key.write_text("secret-key-of-the-service\n")
    with SpeechService() as service, start(
        tmp_path, service.transcriber(kind), "--stt-key-file", str(key), "--stt-model", "large",
        "--stt-model-lite", "tiny", "--stt-prompt", "Dr. Rao's clinic, Pune",
    ) as server:
        answer = take(server, chunk, input_language=["en-IN"], patient_details={"username": "Zarathustra"})
        assert answer.status_code == 200
        assert scribe_client.text(transcript(answer)) == " ".join(WORDS)
        take(server, chunk, model_type="lite", input_language=["en-IN", "hi"], templates=["transcript_template"])
        first, second = service.requests
        assert first["audio"] == chunk[0][0].read_bytes()
        if kind == "openai":
            assert first["headers"]["Authorization"] == "Bearer secret-key-of-the-service"
            assert first["fields"]["model"] == ["large"] and second["fields"]["model"] == ["tiny"]
            assert first["fields"]["language"] == ["en"] and "language" not in second["fields"]
            # The template's words, as far as there is room, and then what the configuration names.
            [prompt] = first["fields"]["prompt"]
            assert "amlodipine, " in prompt and prompt.endswith(", Dr. Rao's clinic, Pune") and len(prompt) <= 600
            assert second["fields"]["prompt"] == ["Dr. Rao's clinic, Pune"]
        elif kind == "deepgram":
            assert first["headers"]["Authorization"] == "Token secret-key-of-the-service"
            assert "model=large" in first["path"] and "model=tiny" in second["path"]
            assert "language=en-IN" in first["path"] and "language=multi" in second["path"]
            assert "keywords=Pune&" in first["path"] and "keywords=amlodipine" in first["path"]
            assert "amlodipine" not in second["path"]
        assert "Zarathustra" not in str(service.requests)
        assert "secret-key" not in server.log and "fever" not in server.log
        command = pathlib.Path(f"/proc/{server.process.pid}/cmdline").read_text()
        assert "secret-key" not in command


def test_a_model_that_gives_no_times_is_not_asked_for_them_again_and_others_are(tmp_path, chunk):
    with SpeechService(plain={"mini"}) as service, start(
        tmp_path, service.transcriber("openai"), "--stt-model", "large", "--stt-model-lite", "mini"
    ) as server:
        for model in ("lite", "lite", "pro"):
            assert scribe_client.text(transcript(take(server, chunk, model_type=model))) == " ".join(WORDS)
        asked = [(request["fields"]["model"][0], request["fields"]["response_format"][0]) for request in service.requests]
        assert asked == [("mini", "verbose_json"), ("mini", "json"), ("mini", "json"), ("large", "verbose_json")]


#: Answers with something odd beside the text, which is all that is needed.
ODD = {
    "openai": [
        {"text": "I have a fever", "words": [{"word": "I"}, {"word": "have", "start": 1, "end": 2}]},
        {"text": "I have a fever", "words": [{"text": "I", "start": "0", "end": None}], "duration": "3.0"},
        {"text": "I have a fever", "words": "none", "segments": [{"no_speech_prob": "high"}, 7]},
    ],
    "deepgram": [
        {"results": {"channels": [{"alternatives": [{"transcript": "I have a fever", **more}]}], **rest}}
        for more, rest in [
            ({"words": [{"word": "I", "start": 0}]}, {}),
            ({"words": [{"word": "I", "start": 0, "end": 1, "speaker": "A"}], "confidence": "high"}, {}),
            ({}, {"utterances": [{"speaker": 0}, {"speaker": 1}]}),
        ]
    ],
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_members_beside_the_text_do_not_lose_the_text(tmp_path, chunk, kind):
    with SpeechService() as service, start(tmp_path, service.transcriber(kind)) as server:
        for answer in ODD[kind]:
            service.answer = answer
            assert scribe_client.text(transcript(take(server, chunk))) == "I have a fever", answer
        assert len(service.requests) == len(ODD[kind]), "each is asked once"


#: Faults after which another attempt helps, and those that nothing helps but another commit. What a program prints is
#: never wrong, and of its failures nobody knows which ones last.
PASSING = ["error", "busy", "endless", "close", "cut", "silent", "garbage", "html"]
LASTING = ["refused", "unusable", "huge", "packed", "redirect"]
NOT_OF_PROGRAMS = {"garbage", "html", "redirect", "packed"}


def faults(kind: str, among: list[str]) -> list[str]:
    return [fault for fault in among if kind != "command" or fault not in NOT_OF_PROGRAMS]


@pytest.mark.parametrize("kind", KINDS)
def test_a_temporary_fault_of_a_service_is_retried(tmp_path, chunk, kind):
    with SpeechService() as service, start(
        tmp_path, service.transcriber(kind), "--transcriber-time-limit", "500ms"
    ) as server:
        for fault in faults(kind, PASSING):
            service.faults = [fault]
            answer = take(server, chunk)
            assert answer.status_code == 200, (fault, answer.text)
            assert scribe_client.text(transcript(answer)) == " ".join(WORDS)
        assert not list((tmp_path / ".scribe" / "work").iterdir()), "nothing said stays behind"


@pytest.mark.parametrize("kind", KINDS)
def test_a_permanent_fault_of_a_service_is_reported_and_the_next_transaction_works(tmp_path, chunk, kind):
    with SpeechService() as service, start(tmp_path, service.transcriber(kind)) as server:
        for fault in [*faults(kind, LASTING), "error", "close"]:
            service.always = fault
            before = len(service.requests)
            answer = take(server, chunk)
            assert transcript(answer)["status"] == "failure", fault
            assert transcript(answer)["errors"][0]["code"] == "transcription_failed"
            # Once as it arrived, and once more at commit; or three times in all.
            assert len(service.requests) - before <= (2 if fault in LASTING and kind != "command" else 3)
            service.always = None
            assert take(server, chunk).status_code == 200
        assert "scribe_jobs 0" in requests.get(f"{server.base_url}/metrics").text
        assert server.memory("VmHWM") < 250 << 20, "no answer is held that is longer than one can be"


@pytest.mark.parametrize("kind", KINDS)
def test_a_chunk_that_fails_permanently_does_not_affect_the_other_chunks(tmp_path, spoken, kind):
    files = [
        (speech.encode(spoken[n * 3 * speech.RATE : (n + 1) * 3 * speech.RATE], tmp_path / f"{n + 1}.wav"), n * 3, n * 3 + 3)
        for n in range(3)
    ]
    with SpeechService() as service, start(
        tmp_path, service.transcriber(kind), "--transcriber-concurrency", "1"
    ) as server:
        service.refused.add(files[0][0].read_bytes())
        answer = take(server, files)
        assert answer.status_code == 206
        assert transcript(answer)["status"] == "partial_success"
        [warning] = transcript(answer)["warnings"]
        assert warning["code"] == "transcription_failed" and "1.wav" in warning["msg"]
        assert scribe_client.text(transcript(answer)).count("fever") == 2
        assert service.most == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_commit_retries_the_chunks_that_the_service_failed(tmp_path, spoken, kind):
    files = [
        (speech.encode(spoken[n * 3 * speech.RATE : (n + 1) * 3 * speech.RATE], tmp_path / f"{n + 1}.wav"), n * 3, n * 3 + 3)
        for n in range(2)
    ]
    with SpeechService() as service, start(tmp_path, service.transcriber(kind)) as server:
        service.refused.add(files[1][0].read_bytes())
        client = server.client()
        transaction = client.transaction()
        transaction.init()
        for path, begin, end in files:
            transaction.upload(client.s3(), path, begin, end)
        transaction.commit()
        assert result(transaction).status_code == 206
        service.refused.clear()
        assert transaction.commit().status_code == 200
        answer = result(transaction)
        assert answer.status_code == 200
        assert scribe_client.text(transcript(answer)).count("fever") == 2


def test_refused_recordings_do_not_make_the_service_unavailable(tmp_path, chunk):
    with SpeechService() as service, start(tmp_path, service.transcriber("openai")) as server:
        service.always = "unusable"
        for _ in range(3):
            assert transcript(take(server, chunk))["status"] == "failure"
        assert requests.get(f"{server.base_url}/readyz").json()["components"]["transcriber"] == "openai"
        service.always = None
        assert take(server, chunk).status_code == 200


@pytest.mark.parametrize("kind", KINDS)
def test_an_unavailable_service_is_not_called_is_reported_and_has_a_fallback(tmp_path, chunk, kind):
    with SpeechService(faults=["error"] * 100) as service, start(
        tmp_path, service.transcriber(kind), "--fallback-transcriber", "fake"
    ) as server:
        for _ in range(3):
            assert take(server, chunk).status_code == 200
        asked = len(service.requests)
        assert asked <= 9
        assert requests.get(f"{server.base_url}/readyz").json()["components"]["transcriber"] == f"{kind} unavailable"
        assert take(server, chunk).status_code == 200
        assert len(service.requests) == asked, "it is left alone"


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_in_the_middle_of_a_recognition_loses_nothing(tmp_path, chunk, kind):
    with SpeechService(faults=["silent"]) as service:
        flags = ("--data-dir", str(tmp_path / "data"))
        with start(tmp_path, service.transcriber(kind), *flags) as server:
            client = server.client()
            transaction = client.transaction()
            transaction.init()
            transaction.upload(client.s3(), *chunk[0])
            transaction.commit()
            while not service.requests:
                time.sleep(0.02)
            server.kill()
        with start(tmp_path, service.transcriber(kind), *flags) as server:
            again = server.client().transaction(transaction.id)
            assert scribe_client.text(transcript(result(again))) == " ".join(WORDS)


@pytest.mark.parametrize("kind", KINDS)
def test_silence_gives_no_text_whatever_the_recogniser_returns(tmp_path, kind):
    silent = speech.encode(speech.array.array("h", bytes(2 * 3 * speech.RATE)), tmp_path / "1.m4a")
    with SpeechService() as service, start(tmp_path, service.transcriber(kind)) as server:
        answer = take(server, [(silent, 0, 3)])
        assert service.requests, "it said WORDS"
        assert transcript(answer)["status"] == "failure"
        assert transcript(answer)["errors"][0]["code"] == "no_speech"


def test_segments_with_high_no_speech_and_low_log_probability_are_dropped(tmp_path, chunk):
    segments = [
        {"text": "I have a fever.", "start": 0, "end": 1, "no_speech_prob": 0.01, "avg_logprob": -0.2},
        {"text": "For three days.", "start": 1, "end": 2, "no_speech_prob": 0.7, "avg_logprob": -0.2},
        {"text": "Thank you for watching.", "start": 2, "end": 3, "no_speech_prob": 0.9, "avg_logprob": -1.4},
    ]
    answer = {"text": " ".join(segment["text"] for segment in segments), "segments": segments}
    with SpeechService(answer=answer) as service, start(tmp_path, service.transcriber("openai")) as server:
        assert scribe_client.text(transcript(take(server, chunk))) == "I have a fever. For three days."


def test_the_addresses_of_services_are_checked_at_the_start(tmp_path):
    for transcriber in ("openai:", "openai:ftp://x", "deepgram:nowhere", "whisper:http://x"):
        with pytest.raises(AssertionError, match="transcriber"):
            Server(tmp_path, "--ephemeral", "--transcriber", transcriber)


def test_the_languages_that_a_service_reports_are_in_the_answer(tmp_path, chunk):
    def recognised(kind: str, query: str, answer: dict) -> dict:
        with SpeechService() as service, start(tmp_path, service.transcriber(kind)) as server:
            service.answer = answer
            response = server.client().session.post(
                f"{server.base_url}/v1/listen?{query}", data=chunk[0][0].read_bytes(), timeout=60)
            assert response.status_code == 200, response.text
            return response.json()["results"]["channels"][0]

    spoken = [{"word": word, "start": number, "end": number + 0.5} for number, word in enumerate(["mujhe", "fever", "hai"])]
    channel = recognised("openai", "detect_language=true", {
        "text": "mujhe fever hai", "language": "hindi", "duration": 3.0, "words": spoken})
    assert channel["detected_language"] == "hi"
    languages = ["hi", "en", "hi"]
    channel = recognised("deepgram", "language=multi", {"results": {"channels": [{"alternatives": [{
        "transcript": "mujhe fever hai", "confidence": 0.9,
        "words": [word | {"confidence": 0.9, "language": language} for word, language in zip(spoken, languages)],
    }]}]}})
    alternative = channel["alternatives"][0]
    assert alternative["languages"] == ["hi", "en"], "the most frequent first"
    assert [word["language"] for word in alternative["words"]] == languages
