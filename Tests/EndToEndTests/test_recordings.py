"""Real speech through a real recogniser, in every container, and recordings that are long, large or cut off."""

import itertools
import subprocess

import client as scribe_client
import pytest
import speech
from spoken import consultation
from speech_service import WORDS, SpeechService, start, take, transcript

#: How many chunks, and how much is spoken in them: a sentence each of twenty, the whole conversation in fewer.
CUTS = {1: 60.0, 3: 13.0, 20: 5.0}


@pytest.fixture(scope="module")
def running_service():
    with SpeechService() as service:
        yield service


@pytest.fixture
def service(running_service):
    """The service, which says its words to any recording, and has not been asked."""
    running_service.requests.clear()
    running_service.listens = False
    return running_service


@pytest.fixture(scope="module")
def asking(running_service, tmp_path_factory):
    """A server whose recogniser is the service."""
    with start(tmp_path_factory.mktemp("asking"), running_service.transcriber("openai")) as server:
        yield server


@pytest.fixture(scope="module")
def splitting(running_service, tmp_path_factory):
    """The same, which sends the service no more than a quarter of a minute at a time."""
    folder, transcriber = tmp_path_factory.mktemp("splitting"), running_service.transcriber("openai")
    with start(folder, transcriber, "--stt-longest", "15s") as server:
        yield server


@pytest.fixture
def listening_service(asking, service):
    """A server whose recogniser is a service that listens."""
    service.listens = True
    return asking


#: Cuts, containers and servers of `make test`; `make test-full` has all of them.
#: test_consultation.py has each container.
FEW = [(3, "wav", "listening"), (1, "m4a", "listening_service")]
ALL = itertools.product(CUTS, ["m4a", "mp3", "wav", "webm", "flac"], ["listening", "listening_service"])


@pytest.mark.parametrize("count, extension, recogniser", [
    *FEW, *(pytest.param(*each, marks=pytest.mark.full) for each in ALL if each not in FEW)])
def test_spoken_words_are_recognised_once_and_in_order(
        request, tmp_path, sentences, conversations, count, extension, recogniser):
    said = (sentences * 3)[:20] if count == 20 else sentences
    chunks = speech.chunks(conversations[len(said)], tmp_path, extension, CUTS[count])
    assert len(chunks) == count
    answer = take(request.getfixturevalue(recogniser), chunks)
    assert answer.status_code == 200, answer.text
    assert scribe_client.text(transcript(answer)).split() == " ".join(said).split()


@pytest.fixture(scope="module")
def conversations(spoken, sentences) -> dict:
    """By the number of sentences."""
    return {len(sentences): spoken, 20: consultation((sentences * 3)[:20])}


def test_a_long_recording_is_split_at_pauses_and_recognised_completely(
        splitting, service, tmp_path, spoken, sentences):
    path = speech.encode(spoken, tmp_path / "visit.m4a")
    service.listens = True
    answer = take(splitting, [(path, None, None)])
    assert answer.status_code == 200, answer.text
    assert scribe_client.text(transcript(answer)).split() == " ".join(sentences).split()
    assert len(service.requests) >= len(spoken) / speech.RATE / 15
    assert all(request["audio"].startswith(b"fLaC") for request in service.requests)


def test_a_recording_shorter_than_its_header_says_is_recognised_to_its_end(splitting, service, tmp_path, spoken):
    whole = speech.encode(spoken, tmp_path / "whole.mp3").read_bytes()
    cut = tmp_path / "visit.mp3"
    cut.write_bytes(whole[: len(whole) // 2])
    answer = take(splitting, [(cut, None, None)])
    assert answer.status_code == 200, answer.text
    assert len(service.requests) > 1
    assert scribe_client.text(transcript(answer)).split() == WORDS * len(service.requests)


@pytest.mark.parametrize("minutes", [20, pytest.param(60, marks=pytest.mark.full)])
def test_an_hour_in_one_file_is_recognised_completely_and_never_held_in_memory(
        asking, service, tmp_path, spoken, minutes):
    minute = speech.encode(spoken, tmp_path / "minute.wav")
    hour = tmp_path / "visit.wav"
    subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-stream_loop", "-1", "-i", minute, "-t", str(60 * minutes),
         "-c", "copy", hour],
        check=True,
    )
    take(asking, [(minute, None, None)])
    asking.forget_peak()
    before = asking.memory("VmRSS")
    answer = take(asking, [(hour, None, None)])
    assert answer.status_code == 200, answer.text
    pieces = len(service.requests) - 1
    assert pieces >= minutes / 10
    assert scribe_client.text(transcript(answer)).split() == WORDS * pieces
    grown = asking.memory("VmHWM") - before
    assert grown < min(64 << 20, hour.stat().st_size), grown
    assert not list((asking.folder / ".scribe" / "work").iterdir()), "pieces are removed"


def test_a_file_that_is_too_large_for_a_service_is_sent_smaller(asking, service, tmp_path, spoken):
    small, large = speech.encode(spoken, tmp_path / "small.wav"), tmp_path / "visit.wav"
    subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-i", small, "-ar", "192000", "-ac", "2", large], check=True
    )
    assert large.stat().st_size > 25 << 20
    assert take(asking, [(large, None, None)]).status_code == 200
    [request] = service.requests
    assert request["audio"].startswith(b"fLaC") and len(request["audio"]) < 2 << 20
