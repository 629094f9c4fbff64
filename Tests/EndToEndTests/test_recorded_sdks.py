"""The requests of the three native SDKs, as their own source sends them, and what their decoders need of the answers.

The recordings hold facts of the SDKs' source, with the file of each declaration, and none of the code.
"""

import pytest
import speech
from namespaces import access, created
from recorded_sdk import RECORDINGS, RecordedSDK

SDKS = ["ios", "android", "older-ios"]


@pytest.fixture(scope="module")
def mp3(spoken, tmp_path_factory):
    """The first chunks of the consultation as the Android SDK encodes them."""
    return speech.chunks(spoken[: 20 * speech.RATE], tmp_path_factory.mktemp("mp3"), "mp3")


@pytest.fixture(scope="module", params=SDKS)
def replayed(request, server, chunks, mp3):
    """An SDK whose conversation was replayed once, with its answers."""
    inside = access(server, created(server), "credentials")
    audio = [path.read_bytes() for path, _, _ in (mp3 if request.param == "android" else chunks)]
    sdk = RecordedSDK(server, inside, request.param, audio)
    return sdk, sdk.replay()


@pytest.mark.covers("C-01", "C-04", "C-06", "C-27", "C-57", "C-81", "C-82", "C-99")
def test_every_answer_has_what_the_sdk_declares(replayed):
    sdk, answers = replayed
    assert len(answers) == len(sdk.steps)


def test_an_answer_without_a_field_or_with_another_type_names_the_broken_declaration(replayed):
    sdk, answers = replayed
    for answer in answers:
        if not answer.type:
            continue
        for path, broken in sdk.declarations.breakages(answer.type, answer.body):
            problems = sdk.declarations.problems(answer.type, broken)
            place = path or "the answer"
            assert any(problem.startswith(place) for problem in problems), f"{answer.title}: {place}: {problems}"


def test_each_recording_belongs_to_an_sdk_and_is_small():
    files = {file.stem: file.stat().st_size for file in RECORDINGS.iterdir()}
    assert sorted(files) == sorted(SDKS)
    assert sum(files.values()) < 100_000
