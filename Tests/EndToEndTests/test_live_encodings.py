"""Live streams in compressed formats, and the decoders that they share."""

import contextlib
import functools
import hashlib
import subprocess

import pytest
import requests
from emulator import HASTY, running, wait_until
from listen_client import KEY, RATE, SPEECH, Listener, consultation, results, said, transcript
from opus_packets import opus_packets
from session_client import SessionClient, form_of, send
from websockets.exceptions import ConnectionClosed


@functools.cache
def encoded(audio: bytes, *options: str) -> bytes:
    return subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-f", "s16le", "-ar", str(RATE), "-ac", "1", "-i", "-", *options, "-"],
        input=audio, check=True, capture_output=True).stdout


#: What it is called, and what ffmpeg is told to make it.
ENCODINGS = {
    "flac": ["-f", "flac"], "mp3": ["-f", "mp3", "-b:a", "96k"], "ogg-opus": ["-c:a", "libopus", "-f", "ogg"],
    "webm": ["-c:a", "libopus", "-f", "webm"], "aac": ["-c:a", "aac", "-f", "adts"],
    "m4a": ["-c:a", "aac", "-movflags", "frag_keyframe+empty_moov", "-f", "mp4"],
}


def stream(server, query, audio, size=700):
    address = f"ws://127.0.0.1:{server.port}/v1/listen?{query}"
    with Listener(server, address=address) as listener:
        listener.send(*(audio[at:at + size] for at in range(0, len(audio), size)), "CloseStream")
        return listener, listener.end()


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("says", [True, False])
def test_encoded_streams_are_recognised_with_and_without_an_encoding_parameter(server, name, says):
    audio = encoded(SPEECH, *ENCODINGS[name])
    _, messages = stream(server, f"endpointing=300&{'encoding=' + name if says else ''}", audio)
    counts = [len(r["channel"]["alternatives"][0]["words"]) for r in results(messages)]
    assert len(counts) == 2 and all(count in (4, 5) for count in counts)
    assert messages[-1]["sha256"] == hashlib.sha256(audio).hexdigest() and abs(messages[-1]["duration"] - 3) < 0.2


@pytest.mark.covers("L-24")
@pytest.mark.parametrize("name", ENCODINGS)
def test_finalize_waits_for_the_decoder(server, name):
    address = f"ws://127.0.0.1:{server.port}/v1/listen?endpointing=false&encoding={name}"
    with Listener(server, address=address) as listener:
        # Loud to its end: without Finalize nothing would be final yet.
        listener.send(encoded(SPEECH[:38_400], *ENCODINGS[name]), "Finalize")
        final = next(found for found in iter(listener.receive, None) if found.get("from_finalize"))
        assert final["channel"]["alternatives"][0]["transcript"] and final["duration"] > 0.9
        listener.send("CloseStream")
        assert [result for result in results(listener.end()) if result["from_finalize"]] == [final]


def test_an_encoded_stream_is_a_consultation_too(server):
    transaction = consultation(server)
    _, messages = stream(
        server, f"endpointing=300&punctuate=true&txn_id={transaction.id}", encoded(SPEECH, *ENCODINGS["ogg-opus"]))
    assert said(messages) and transcript(transaction) == said(messages)


@pytest.mark.parametrize("query, audio", [
    ("encoding=mp3", b"no audio at all" * 1000), ("encoding=flac", b""), ("", b"fLaC and then nothing of it" * 100),
    ("", bytes(5000)), ("encoding=aac", encoded(SPEECH, "-f", "mp3")[100:]), ("encoding=opus", b"\xff\xff"),
    # A playlist names files that nobody is to read.
    ("encoding=m4a", b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n" * 100)])
def test_a_stream_in_another_encoding_than_its_parameter_closes_the_socket(server, query, audio):
    listener, messages = stream(server, query, audio)
    assert results(messages) == [] and listener.close_frame[0] == (1008 if audio else 1000)
    assert not audio or listener.close_frame[1].startswith("DATA-0000")


def test_an_mp4_whose_header_comes_last_closes_the_socket_with_a_reason(server, tmp_path):
    made = tmp_path / "visit.m4a"
    subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-f", "s16le", "-ar", str(RATE), "-ac", "1", "-i", "-", made],
        input=SPEECH * 10, check=True)
    listener, messages = stream(server, "", made.read_bytes(), 4000)
    assert results(messages) == [] and listener.close_frame[0] == 1008
    server.logged("the stream is no mp4")


#: Query, and what ffmpeg is told to make of 16-bit samples.
SAMPLES = {
    "linear32": (f"encoding=linear32&sample_rate={RATE}", ["-f", "f32le"]),
    **{kind: ("", ["-c:a", f"pcm_{kind}", "-f", "wav"]) for kind in ("u8", "s24le", "s32le", "f32le", "f64le", "alaw")},
    "96 kHz": ("", ["-ar", "96000", "-f", "wav"]),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_of_every_form_are_heard_and_faint_noise_is_silence(server, name):
    query, options = SAMPLES[name]
    _, messages = stream(server, f"endpointing=300&{query}", encoded(SPEECH, *options), 4000)
    counts = [len(result["channel"]["alternatives"][0]["words"]) for result in results(messages)]
    assert len(counts) == 2 and all(count in (4, 5) for count in counts) and abs(messages[-1]["duration"] - 3) < 0.2
    _, messages = stream(server, query, encoded(SPEECH, "-af", "volume=-90dB", *options), 4000)
    assert said(messages) == ""
    headers = {"Authorization": f"Token {KEY}"}
    whole = requests.post(f"{server.base_url}/v1/listen?{query}", data=encoded(SPEECH, *options), headers=headers)
    assert whole.status_code == 200 and abs(whole.json()["metadata"]["duration"] - 3) < 0.1, whole.text


@pytest.mark.covers("L-71")
@pytest.mark.parametrize("named", ["encoding=linear16&sample_rate=8000", "encoding=mp3", "encoding=opus"])
def test_a_container_says_itself_what_it_is_whatever_the_query_says(server, named):
    headers = {"Authorization": f"Token {KEY}"}
    for options in ({**ENCODINGS, "wav": ["-f", "wav"]} | {"mp3": ENCODINGS["ogg-opus"]}).values():
        audio = encoded(SPEECH, *options)
        if "adts" not in options:
            _, messages = stream(server, f"endpointing=300&{named}", audio)
            assert said(messages) and abs(messages[-1]["duration"] - 3) < 0.2, options
        whole = requests.post(f"{server.base_url}/v1/listen?{named}", data=audio, headers=headers)
        assert whole.status_code == 200 and abs(whole.json()["metadata"]["duration"] - 3) < 0.2, (options, whole.text)


@pytest.mark.parametrize("before", [bytes(100), bytes(5000), b"ID3\4\0\0\0\0\1\0" + bytes(128)])
@pytest.mark.parametrize("name", ["flac", "m4a", "ogg-opus", "wav", "mp3"])
def test_zeros_and_tags_before_a_live_container_are_skipped(server, name, before):
    audio = before + encoded(SPEECH, *(ENCODINGS | {"wav": ["-f", "wav"]})[name])
    _, messages = stream(server, "endpointing=300", audio, 7)
    assert said(messages) and abs(messages[-1]["duration"] - 3) < 0.2


@pytest.mark.parametrize("size", [7, 8000, 200_000])
def test_mp3_behind_a_picture_is_heard_however_it_is_cut(server, size):
    # 70 KB of tags, more than any other container may have before it.
    tags = b"ID3\4\0\0\0\4\44\0" + bytes(4 * 128 * 128 + 36 * 128)
    _, messages = stream(server, "endpointing=300", tags + encoded(SPEECH, *ENCODINGS["mp3"]), size)
    assert said(messages) and abs(messages[-1]["duration"] - 3) < 0.2


def test_junk_that_is_no_flac_closes_the_socket_also_behind_finalize(server):
    address = f"ws://127.0.0.1:{server.port}/v1/listen?encoding=flac"
    with Listener(server, address=address) as listener:
        listener.send(bytes(range(256)) * 400, "Finalize", "CloseStream")
        listener.end()
    assert listener.close_frame[0] == 1008


@pytest.mark.covers("L-73")
@pytest.mark.parametrize("channels", [1, 2])
def test_bare_opus_packets_come_one_in_each_message(server, channels):
    transaction = consultation(server)
    query = f"encoding=opus&sample_rate=48000&channels={channels}&endpointing=300&punctuate=true"
    address = f"ws://127.0.0.1:{server.port}/v1/listen?{query}&txn_id={transaction.id}"
    with Listener(server, address=address) as listener:
        listener.send(*opus_packets(SPEECH), "CloseStream")
        messages = listener.end()
    assert said(messages) == transcript(transaction) and len(said(messages).split()) == 10
    assert abs(messages[-1]["duration"] - 3) < 0.1 and messages[-1]["channels"] == channels


@pytest.mark.covers("L-47")
def test_a_stream_that_is_shorter_than_any_header_is_still_samples(server):
    for finalize in ((), ("Finalize",)):
        with Listener(server) as listener:
            listener.send(b"\1", b"\0\1\0\1", *finalize, "CloseStream")
            messages = listener.end()
        assert messages[-1]["sha256"] == hashlib.sha256(b"\1\0\1\0\1").hexdigest()
        assert messages[-1]["channels"] == 1
        assert [m["from_finalize"] for m in results(messages)] == [True] * len(finalize)


@pytest.mark.covers("L-72")
def test_raw_samples_need_their_rate_except_from_clients_of_subq(server):
    def status(query, path="/v1/listen", key=granted(server), **headers):
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Authorization": f"Bearer {key}", **headers}
        with requests.get(f"{server.base_url}{path}?{query}", headers=upgrade, stream=True) as answer:
            if answer.status_code == 400:
                assert "sample_rate" in answer.json()["err_msg"] and answer.headers["dg-error"]
            return answer.status_code

    for encoding in ("linear16", "linear32", "mulaw", "alaw"):
        assert status(f"encoding={encoding}") == 400
        assert status(f"encoding={encoding}&sample_rate=8000") == 101
        assert status(f"encoding={encoding}", key=KEY) == 101
        assert status(f"encoding={encoding}", Host="stt-api.subq.ai") == 101
    for query in ("", "encoding=pcm", "format=linear16", "codec=linear16", "encoding=ogg", "encoding=opus"):
        assert status(query) == 101, query
    assert status("encoding=linear16", path="/v1/listen/pcm", key=KEY) == 101

    def whole(audio):
        return requests.post(f"{server.base_url}/v1/listen?encoding=linear16", data=audio, headers={
            "Authorization": f"Bearer {granted(server)}"})

    assert whole(SPEECH).status_code == 400 and "sample_rate" in whole(SPEECH).json()["err_msg"]
    assert whole(encoded(SPEECH, "-f", "wav")).status_code == 200


def granted(server) -> str:
    answer = requests.post(f"{server.base_url}/v1/auth/grant", headers={"Authorization": f"Token {KEY}"})
    return answer.json()["access_token"]


@pytest.mark.covers("L-74")
def test_each_channel_of_a_recording_is_recognised_on_request(server):
    def channels(query, *options):
        answer = requests.post(
            f"{server.base_url}/v1/listen?utterances=true&{query}", headers={"Authorization": f"Token {KEY}"},
            data=encoded(SPEECH, *options))
        assert answer.status_code == 200, answer.text
        answer = answer.json()
        assert answer["metadata"]["channels"] == len(answer["results"]["channels"])
        times = [utterance["start"] for utterance in answer["results"]["utterances"]]
        assert times == sorted(times)
        return len(times) and {u["channel"] for u in answer["results"]["utterances"]}

    stereo = ["-af", "pan=stereo|c0=c0|c1=0.5*c0"]
    for options in (["-f", "wav"], ["-f", "flac"], ["-c:a", "libopus", "-f", "webm"]):
        assert channels("multichannel=true", *stereo, *options) == {0, 1}
        assert channels("multichannel=true", *options) == {0}
        assert channels("", *stereo, *options) == {0}
    assert channels(f"multichannel=true&encoding=linear16&sample_rate={RATE}&channels=2", *stereo, "-f", "s16le") == {
        0, 1}


#: What ffmpeg is told to make each container.
CONTAINERS = {
    "wav": ["-f", "wav"], "rf64": ["-rf64", "always", "-f", "wav"], "w64": ["-f", "w64"], "aiff": ["-f", "aiff"],
    "caf": ["-f", "caf"], "mp3": ["-f", "mp3"], "aac": ["-f", "adts"], "flac": ["-f", "flac"],
    "ogg": ["-c:a", "libopus", "-f", "ogg"], "webm": ["-c:a", "libopus", "-f", "webm"],
    "mp4": ["-c:a", "aac", "-movflags", "frag_keyframe+empty_moov", "-f", "mp4"],
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_is_taken_by_every_way_in(server, name, tmp_path):
    file = tmp_path / name
    subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-f", "s16le", "-ar", str(RATE), "-ac", "1", "-i", "-",
         *CONTAINERS[name], file], input=SPEECH, check=True)
    audio = file.read_bytes()
    _, messages = stream(server, "endpointing=300", audio, 4000)
    assert said(messages) and abs(messages[-1]["duration"] - 3) < 0.2
    whole = requests.post(f"{server.base_url}/v1/listen", data=audio, headers={"Authorization": f"Token {KEY}"})
    assert whole.status_code == 200 and abs(whole.json()["metadata"]["duration"] - 3) < 0.2, whole.text
    client = server.client()
    transaction = client.transaction()
    transaction.init()
    transaction.upload(client.s3(), file, 0, 3)
    transaction.commit()
    assert transcript(transaction)
    sessions = SessionClient(server.base_url)
    session = sessions.create()["session_id"]
    sessions.upload(session, 1, audio, "m4a", "audio/mp4")
    sessions.end(session, 1)
    assert sessions.results(session)["status"] == "completed"
    session, form = form_of(sessions)
    assert send(form, "visit.mp3", audio).status_code == 204
    sessions.end(session, 1)
    assert sessions.results(session)["status"] == "completed"


SPEECH_IN_OGG = encoded(SPEECH, *ENCODINGS["ogg-opus"])


def decoders(server) -> list[str]:
    return subprocess.run(
        ["pgrep", "-P", str(server.process.pid), "ffmpeg"], capture_output=True, text=True).stdout.split()


def test_no_decoder_outlives_its_stream(server):
    address = f"ws://127.0.0.1:{server.port}/v1/listen?encoding=ogg"
    with Listener(server, address=address) as listener:
        listener.send(SPEECH_IN_OGG[:500])
        wait_until(lambda: decoders(server), "it is decoded")
        listener.drop()
    wait_until(lambda: not decoders(server), "its decoder ends with it")


def encoded_stream(server, key=KEY):
    """A stream that has a decoder, which the first audio takes."""
    listener = Listener(server, address=f"ws://127.0.0.1:{server.port}/v1/listen?encoding=ogg&endpointing=300", key=key)
    with contextlib.suppress(ConnectionClosed):
        listener.send(SPEECH_IN_OGG[:100])
    return listener


def is_heard(server, key) -> bool:
    with encoded_stream(server, key) as listener:
        with contextlib.suppress(ConnectionClosed):
            listener.send(SPEECH_IN_OGG[100:], "CloseStream")
        return bool(results(listener.end()))


def test_one_business_leaves_decoders_to_others(tmp_path):
    flags = ("--ephemeral", "--decoders", "4", "--listen-idle", "1h")
    with running(tmp_path, *flags) as server, contextlib.ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(encoded_stream(server))
        wait_until(lambda: len(decoders(server)) == 3, "each has its own")
        one_more = stack.enter_context(encoded_stream(server))
        assert one_more.end() == [] and one_more.close_frame[0] == 1011
        assert is_heard(server, "org_dev_key_2")


def test_an_idle_stream_gives_its_decoder_to_an_active_one(served):
    server = served(*HASTY)
    with encoded_stream(server) as idle:
        def is_another_heard() -> bool:
            # A socket that says it is there, and sends no audio.
            with contextlib.suppress(ConnectionClosed):
                idle.send("KeepAlive")
            return is_heard(server, "org_dev_key_2")

        wait_until(lambda: len(decoders(server)) == 1, "the idle one has the decoder")
        wait_until(is_another_heard, "the idle one gives way")
        assert idle.end() == [] and idle.close_frame[0] == 1011 and idle.close_frame[1].startswith("NET-0001")
