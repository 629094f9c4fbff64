"""Audio of devices: codecs, and audio beside text that a device has recognised itself."""

import subprocess

import pytest
from device_client import Device
from emulator import wait_until
from listen_client import silence, voice
from opus_packets import opus_packets


@pytest.mark.covers("E-09")
@pytest.mark.parametrize("codec, rate", [("pcm16", 16_000), ("pcm8", 8000), ("opus", 16_000), ("aac", 16_000)])
def test_recognised_audio_and_sent_text_are_in_one_conversation(omi, codec, rate):
    audio = voice(1.5, rate) + silence(0.8, rate) + voice(1.5, rate) + silence(0.8, rate)
    if codec == "opus":
        frames = opus_packets(audio)
    elif codec == "aac":
        frames = aac(audio)
    else:
        frames = [audio[at:at + 2000] for at in range(0, len(audio), 2000)]
    with Device(omi, f"codec={codec}&sample_rate={rate}") as device:
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


def test_words_of_text_and_of_audio_are_echoed_in_the_order_in_which_they_are_stored(omi):
    # Decoded by a program, so that words are heard while a message is stored.
    frames = aac((voice(0.3) + silence(0.6)) * 80)
    # One conversation, however busy the machine is.
    with Device(omi, "codec=aac&sample_rate=16000&conversation_timeout=600").ready() as device:
        for turn in range(3):
            device.send(*frames[turn * len(frames) // 3:(turn + 1) * len(frames) // 3])
            # The echo of a long text takes longer than that of the words heard after it.
            device.say("word " * 18_000 + f"{turn}.")
            while not any(segment["text"].endswith(f" {turn}.") for segment in device.segments):
                device.receive()
        assert device.end() == (1001, "Nothing was heard")
        assert {segment["stt_provider"] for segment in device.segments} == {"fake", "edge_asr"}
        assert device.stored() == [segment["text"] for segment in device.segments]


def test_a_visit_as_text_and_as_audio_gives_the_same_summary(listening, spoken, sentences):
    # The seed's phase 3, with a recogniser that listens.
    summaries = []
    for is_text in (True, False):
        with Device(listening, "codec=pcm16&sample_rate=16000").ready() as device:
            if is_text:
                device.say(*sentences)
            else:
                audio = spoken.tobytes()
                device.send(*(audio[at:at + 32_000] for at in range(0, len(audio), 32_000)))
        # Closed, and all of it heard.
        least = len(sentences) if is_text else 5
        texts = wait_until(lambda: (t := device.stored()) and len(t) >= least and t, "it is heard")
        assert not is_text or texts == sentences
        wait_until(lambda: "one week" in " ".join(device.stored()).lower(), "its end is heard")
        ended = device.call("POST", "/v1/conversations").json()["conversation"]
        memories = {memory["content"].lower() for memory in device.call("GET", "/v3/memories").json()}
        summaries.append((memories, {item["description"].lower() for item in ended["structured"]["action_items"]}))
    (text_memories, text_items), (voice_memories, voice_items) = summaries
    assert "allergic to penicillin" in text_memories & voice_memories
    assert len(text_items & voice_items) >= 2


def test_a_device_with_a_codec_that_is_not_decoded_here_may_send_text(omi):
    with Device(omi, "codec=lc3_fs1030&sample_rate=16000") as device:
        device.say("typed")
        assert device.until(1) == ["typed"]
        device.socket.send(b"\0" * 30)
        assert device.end() == (1008, "LC3 cannot be decoded here")


@pytest.mark.parametrize(
    "query", ["codec=nonsense", "sample_rate=1", "channels=9", "language=%25", "language=xx", "language=tlh"])
def test_an_unsupported_codec_rate_or_language_closes_the_socket_with_a_reason(omi, query):
    with Device(omi, query) as device:
        code, reason = device.end()
        assert code == 1008 and query.split("=")[0] in reason


@pytest.mark.covers("E-17")
def test_the_text_of_another_recogniser_is_taken_where_the_device_has_said_so(omi):
    message = {"type": "suggested_transcript", "stt_provider": "parakeet", "segments": [
        {"text": "first", "speaker": "SPEAKER_01", "start": 0.5, "end": 1.0, "is_user": True}, {"text": " "},
        {"text": "second"}]}
    with Device(omi, "custom_stt=enabled") as device:
        device.send(message)
        assert device.until(2) == ["first", "second"]
        assert device.segments[0]["stt_provider"] == "parakeet" and device.segments[0]["is_user"] is True
    with Device(omi) as device:
        device.send(message)
        device.say("own")
        assert device.until(1) == ["own"]


def aac(audio: bytes) -> list[bytes]:
    """Pieces of a stream."""
    stream = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-f", "s16le", "-ar", "16000", "-ac", "1", "-i", "-", "-c:a", "aac",
         "-f", "adts", "-"], input=audio, check=True, capture_output=True).stdout
    return [stream[at:at + 500] for at in range(0, len(stream), 500)]
