"""Transcribers other than the fake, one server of each kind. `Tests/EnginesTests/Speech` has the faults of services."""

import pathlib

import client as scribe_client
import pytest
import requests
import speech
from emulator import wait_until
from speech_service import WORDS, SpeechService, result, start, take, transcript

KINDS = ["openai", "deepgram", "command"]
RATE = speech.RATE


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def running_service():
    with SpeechService() as service:
        yield service


@pytest.fixture(scope="module")
def server(kind, running_service, tmp_path_factory):
    """A server whose transcriber is the service."""
    folder = tmp_path_factory.mktemp(kind)
    key = folder / "key"
    key.write_text("secret-key-of-the-service\n")
    with start(
        folder, running_service.transcriber(kind), "--stt-key-file", str(key), "--stt-model", "large",
        "--stt-model-lite", "tiny", "--stt-prompt", "Dr. Rao's clinic, Pune",
    ) as server:
        yield server


@pytest.fixture
def service(running_service):
    """The service, which answers well and has not been asked."""
    running_service.requests.clear()
    running_service.refused.clear()
    running_service.always = None
    return running_service


@pytest.fixture(scope="module")
def chunk(spoken, tmp_path_factory):
    """One chunk of three seconds."""
    path = speech.encode(spoken[: 3 * RATE], tmp_path_factory.mktemp("chunk") / "1.m4a")
    return [(path, 0, 3)]


def test_the_words_of_a_service_are_returned_and_it_gets_the_configured_options(kind, server, service, chunk):
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


def test_a_temporary_fault_of_a_service_is_retried(server, service, chunk):
    service.faults = ["error"]
    answer = take(server, chunk)
    assert answer.status_code == 200, answer.text
    assert scribe_client.text(transcript(answer)) == " ".join(WORDS)
    assert len(service.requests) == 2
    assert not list((server.folder / ".scribe" / "work").iterdir()), "nothing said stays behind"


def test_a_permanent_fault_of_a_service_is_reported_and_the_next_transaction_works(kind, server, service, chunk):
    service.always = "unusable"
    answer = take(server, chunk)
    assert transcript(answer)["status"] == "failure"
    assert transcript(answer)["errors"][0]["code"] == "transcription_failed"
    # Once as it arrived, and once more at commit; or three times in all, for what a program fails may pass.
    assert len(service.requests) <= (3 if kind == "command" else 2)
    if kind != "command":
        assert server.logged("Invalid file format") and "Invalid file format" not in answer.text
    service.always = None
    assert take(server, chunk).status_code == 200
    assert requests.get(f"{server.base_url}/readyz").json()["components"]["transcriber"] == kind
    wait_until(lambda: server.metric("scribe_jobs") == 0, "all jobs are done")


def test_a_chunk_that_a_service_refuses_leaves_the_others_and_a_second_commit_retries_it(
    server, service, spoken, tmp_path
):
    files = [
        (speech.encode(spoken[n * 3 * RATE : (n + 1) * 3 * RATE], tmp_path / f"{n + 1}.wav"), n * 3, n * 3 + 3)
        for n in range(3)
    ]
    service.refused.add(files[0][0].read_bytes())
    client = server.client()
    transaction = client.transaction()
    transaction.init()
    for path, begin, end in files:
        transaction.upload(client.s3(), path, begin, end)
    transaction.commit()
    answer = result(transaction)
    assert answer.status_code == 206
    assert transcript(answer)["status"] == "partial_success"
    [warning] = transcript(answer)["warnings"]
    assert warning["code"] == "transcription_failed" and "1.wav" in warning["msg"]
    assert scribe_client.text(transcript(answer)).count("fever") == 2
    service.refused.clear()
    assert transaction.commit().status_code == 200
    answer = result(transaction)
    assert answer.status_code == 200
    assert scribe_client.text(transcript(answer)).count("fever") == 3


def test_silence_gives_no_text_whatever_the_recogniser_returns(server, service, tmp_path):
    silent = speech.encode(speech.array.array("h", bytes(2 * 3 * RATE)), tmp_path / "1.m4a")
    answer = take(server, [(silent, 0, 3)])
    assert service.requests, "it said WORDS"
    assert transcript(answer)["status"] == "failure"
    assert transcript(answer)["errors"][0]["code"] == "no_speech"


def test_a_kill_in_the_middle_of_a_recognition_loses_nothing(tmp_path, chunk):
    with SpeechService(faults=["silent"]) as service:
        flags = ("--data-dir", str(tmp_path / "data"))
        with start(tmp_path, service.transcriber("openai"), *flags) as server:
            client = server.client()
            transaction = client.transaction()
            transaction.init()
            transaction.upload(client.s3(), *chunk[0])
            transaction.commit()
            wait_until(lambda: service.requests, "the service is asked")
            server.kill()
        with start(tmp_path, service.transcriber("openai"), *flags) as server:
            again = server.client().transaction(transaction.id)
            assert scribe_client.text(transcript(result(again))) == " ".join(WORDS)
