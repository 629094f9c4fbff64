"""The measure of audio quality, on recordings that sox has made worse."""

import subprocess

import pytest
import speech


@pytest.fixture(scope="module")
def recordings(spoken, tmp_path_factory):
    """The same twelve seconds of speech: as they are, too loud, in noise, too quiet; and silence."""
    folder = tmp_path_factory.mktemp("recordings")
    clean = speech.encode(spoken[: 12 * speech.RATE], folder / "clean.wav")

    def sox(name, *arguments):
        subprocess.run(["sox", *arguments], check=True, capture_output=True)
        return folder / name

    noise = sox("noise.wav", "-n", "-r", "16000", "-c", "1", "-b", "16", folder / "noise.wav",
                "synth", "12", "pinknoise", "vol", "0.15")
    return {
        "clean": clean,
        "clipped": sox("clipped.wav", "-v", "15", clean, folder / "clipped.wav"),
        "noisy": sox("noisy.wav", "-m", clean, noise, folder / "noisy.wav"),
        "quiet": sox("quiet.wav", "-v", "0.01", clean, folder / "quiet.wav"),
        "silent": sox(
            "silent.wav", "-n", "-r", "16000", "-c", "1", "-b", "16", folder / "silent.wav", "trim", "0", "12"),
    }


def quality(server, path, flavour="ScribeIOS"):
    client = server.client(flavour=flavour)
    transaction = client.transaction()
    transaction.init()
    transaction.upload(client.s3(), path, 0, 12)
    transaction.commit()
    while (answer := transaction.poll()).status_code == 202:
        pass
    return answer.json()["data"]["audio_matrix"].get("quality")


@pytest.mark.covers("C-53")
def test_noisier_speech_has_a_lower_audio_quality(server, recordings):
    measured = {name: quality(server, path) for name, path in recordings.items()}
    assert all(0 <= value <= 1 for value in measured.values()), measured
    assert measured["clean"] > 0.8, measured
    assert measured["silent"] == 0
    for name in ("clipped", "noisy", "quiet"):
        assert 0 < measured[name] < measured["clean"] - 0.2, (name, measured)


def test_audio_quality_is_measured_for_any_container_with_a_real_recogniser(
        server, listening, recordings, tmp_path):
    compressed = speech.encode(
        speech.array.array("h", recordings["clean"].read_bytes()[44:]), tmp_path / "1.m4a"
    )
    assert quality(server, compressed) == 0.9, "the fake answers at once"
    assert quality(listening, compressed) > 0.8
    assert quality(listening, recordings["silent"]) == 0
