"""The main job, with clients that nobody here wrote: boto3 uploads, a real recogniser listens."""

import client as scribe_client
import pytest
import speech


def take(transaction, s3, chunks, *templates, **more):
    assert transaction.init(*templates, **more).status_code == 201
    for path, start, end in chunks:
        transaction.upload(s3, path, start, end)
    assert transaction.stop().status_code == 200
    assert transaction.commit().status_code == 200
    answer = transaction.poll()
    while answer.status_code == 202:
        answer = transaction.poll()
    return answer


@pytest.mark.covers("C-01", "C-02", "C-17", "C-31", "C-55")
def test_a_spoken_consultation_gives_transcript_and_note(server, chunks):
    client = server.client()
    answer = take(client.transaction(), client.s3(), chunks)
    assert answer.status_code == 200
    data = answer.json()["data"]
    assert [item["status"] for item in data["output"]] == ["success"]
    assert "fever" in scribe_client.text(data["output"][0])
    assert data["template_results"]["transcript"][0]["type"] == "transcript"


@pytest.mark.covers("C-20", "C-77")
@pytest.mark.parametrize("extension", ["m4a", "mp3", "wav", "webm", "flac"])
def test_a_real_recogniser_returns_every_word_once_and_in_order(listening, spoken, sentences, tmp_path, extension):
    client = listening.client()
    chunks = speech.chunks(spoken, tmp_path, extension)
    assert len(chunks) > 2
    answer = take(client.transaction(), client.s3(), chunks)
    assert answer.status_code == 200, answer.text
    data = answer.json()["data"]
    heard = scribe_client.text(data["template_results"]["transcript"][0])
    assert heard.split() == " ".join(sentences).split()
    note = scribe_client.text(data["output"][0]).lower()
    for fact in ["fever for three days", "dry cough since monday", "allergic to penicillin", "400 mg"]:
        assert fact in note


#: What clients make of the times of their chunks.
TIMES = {
    "relative": lambda times: [(0, end - start) for start, end in times],
    "swapped": lambda times: times[::-1],
    "negative": lambda times: [(-end, -start) for start, end in times],
    "half": lambda times: [(start / 2, start / 2 + end - start) for start, end in times],
    "equal": lambda times: [times[0]] * len(times),
    "milliseconds": lambda times: [(1000 * start, 1000 * end) for start, end in times],
}


@pytest.mark.full
@pytest.mark.parametrize("name", TIMES)
def test_no_word_is_lost_to_times_that_contradict_the_audio(listening, spoken, sentences, tmp_path, name):
    client = listening.client()
    chunks = speech.chunks(spoken, tmp_path, "wav")
    times = TIMES[name]([(start, end) for _, start, end in chunks])
    answer = take(client.transaction(), client.s3(), [
        (path, *time) for (path, _, _), time in zip(chunks, times, strict=True)])
    data = answer.json()["data"]
    heard = scribe_client.text(data["template_results"]["transcript"][0])
    assert heard.split() == " ".join(sentences).split()
    warnings = {warning["code"] for warning in data["template_results"]["transcript"][0]["warnings"]}
    # Times that cannot be are as good as none.
    assert bool(warnings & {"chunk_overlap", "chunk_gap"}) == (name != "negative"), warnings


def test_a_whole_recording_in_one_chunk_is_recognised(listening, spoken, sentences, tmp_path):
    client = listening.client()
    path = speech.encode(spoken, tmp_path / "1.m4a")
    answer = take(client.transaction(), client.s3(), [(path, 0, len(spoken) / speech.RATE)])
    heard = scribe_client.text(answer.json()["data"]["template_results"]["transcript"][0])
    assert heard.split() == " ".join(sentences).split()


@pytest.mark.covers("C-48")
def test_a_silent_recording_fails_with_no_speech(listening, tmp_path):
    import array

    client = listening.client(flavour="ScribeIOS")
    path = speech.encode(array.array("h", bytes(2 * speech.RATE * 3)), tmp_path / "1.wav")
    answer = take(client.transaction(), client.s3(), [(path, 0, 3)])
    assert answer.status_code == 200
    assert answer.json()["data"]["output"][0]["errors"][0]["code"] == "no_speech"


SILENCE = "No speech found: the audio is silent; for a transcript of silent test audio use fixture:follow-up"


def test_the_fake_transcriber_returns_no_speech_for_silence_unless_a_fixture_gives_its_text(server, tmp_path):
    import array

    client = server.client(flavour="ScribeIOS")
    chunks = [(speech.encode(array.array("h", bytes(2 * speech.RATE * 3)), tmp_path / "1.wav"), 0, 3)]
    answer = take(client.transaction(), client.s3(), chunks)
    [error] = answer.json()["data"]["output"][0]["errors"]
    assert (error["code"], error["msg"]) == ("no_speech", SILENCE)
    transaction = client.transaction()
    assert transaction.init(additional_data={"fixture": "fixture:follow-up"}).status_code == 201
    path, start, end = chunks[0]
    transaction.upload(client.s3(), path, start, end)
    assert transaction.stop().status_code == 200 and transaction.commit().status_code == 200
    answer = transaction.poll()
    while answer.status_code == 202:
        answer = transaction.poll()
    assert answer.json()["data"]["output"][0]["status"] == "success"


@pytest.mark.covers("C-113")
@pytest.mark.parametrize("verb", ["stop", "commit"])
def test_a_refused_stop_or_commit_says_why_in_a_text_to_android_and_in_an_object_to_others(server, verb):
    client = server.client()

    def told(**headers):
        """Of a transaction that is not there."""
        client.session.headers.pop("flavour", None)
        client.session.headers.update(headers)
        answer = client.transaction().call(verb, {"audio_files": ["1.m4a"], "chunk_info": []})
        assert 400 <= answer.status_code < 500 and answer.json()["status"] == "failed"
        return answer.json()["error"]

    for headers in ({"User-Agent": "okhttp/4.12.0"}, {"flavour": "android"}, {"flavour": "scribe-android"}):
        assert told(**headers) == "Transaction not found"
    for headers in (
        {"User-Agent": "something else"}, {"User-Agent": "EkaCare-DotNet-SDK"}, {"User-Agent": "python-requests/2"},
        {"flavour": "ScribeIOS"}, {"flavour": "ios"}, {"flavour": "web"},
    ):
        error = told(**headers)
        assert error["code"] == "transaction_not_found" and error["message"] == "Transaction not found"
