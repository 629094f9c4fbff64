"""Speech for the demo and the tests: spoken by espeak-ng, cut in its pauses, encoded by ffmpeg as the SDKs do."""

import array
import pathlib
import random
import subprocess
import wave

RATE = 16_000
#: What the SDKs' chunks share with their neighbours, in seconds.
OVERLAP = 0.5
#: How the clients encode, by extension.
CODECS = {
    "m4a": ["-c:a", "aac", "-b:a", "64k"],
    "mp3": ["-c:a", "libmp3lame", "-b:a", "96k"],
    "wav": ["-c:a", "pcm_s16le"],
    "webm": ["-c:a", "libopus", "-b:a", "48k"],
    "ogg": ["-c:a", "libopus", "-b:a", "48k"],
    "flac": ["-c:a", "flac"],
}


def speak(sentence: str, voice: str = "en-us") -> array.array:
    """16 kHz mono samples of one sentence."""
    spoken = subprocess.run(
        ["espeak-ng", "-v", voice, "-s", "150", "--stdout", sentence], check=True, capture_output=True)
    raw = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-i", "-", "-ar", str(RATE), "-ac", "1", "-f", "s16le", "-"],
        input=spoken.stdout, check=True, capture_output=True,
    )
    return array.array("h", raw.stdout)


def consultation(sentences: list[str], pause: float = 1.2) -> array.array:
    """All sentences, alternating between two voices, with pauses between them, in a room that is not quite silent:
    a recogniser takes digital silence for a fault."""
    silence = array.array("h", bytes(2 * int(RATE * pause)))
    samples = array.array("h", silence)
    for number, sentence in enumerate(sentences):
        samples += speak(sentence, ["en-us", "en-us+f3"][number % 2]) + silence
    noise = random.Random(1)
    return array.array("h", (max(-32768, min(32767, sample + noise.randint(-12, 12))) for sample in samples))


def cut_in_pauses(samples: array.array, preferred: float = 10.0) -> list[tuple[float, float]]:
    """Start and end of each chunk in seconds. A cut lies in the middle of the quietest half second around the preferred
    length; neighbours share OVERLAP seconds there."""
    window = int(RATE * OVERLAP)
    cuts = []
    begin = 0
    while len(samples) - begin > int(RATE * preferred * 1.3):
        first, last = (
            begin + int(RATE * preferred * 0.6),
            min(begin + int(RATE * preferred * 1.3), len(samples) - window))
        quietest = min(range(first, last, RATE // 50), key=lambda at: max(map(abs, samples[at : at + window : 8])))
        cuts.append(quietest + window // 2)
        begin = cuts[-1]
    edges = [0, *cuts, len(samples)]
    half = window // 2
    return [
        (max(0, start - half) / RATE, min(len(samples), end + half) / RATE) for start, end in zip(edges, edges[1:])
    ]


def encode(samples: array.array, path: pathlib.Path) -> pathlib.Path:
    """Writes the samples in the container that the extension names."""
    raw = path.with_name(path.stem + "-raw.wav")
    with wave.open(str(raw), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())
    codec = CODECS[path.suffix[1:]]
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", str(raw), *codec, str(path)], check=True)
    raw.unlink()
    return path


def chunks(samples: array.array, folder: pathlib.Path, extension: str = "m4a", preferred: float = 10.0):
    """(path, start, end) of overlapping chunks named 1.m4a, 2.m4a …"""
    return [
        (encode(samples[int(start * RATE) : int(end * RATE)], folder / f"{number}.{extension}"), start, end)
        for number, (start, end) in enumerate(cut_in_pauses(samples, preferred), 1)
    ]


if __name__ == "__main__":
    # The speech of `scribe-emulator demo`.
    root = pathlib.Path(__file__).parents[1]
    lines = (root / "demo/consultation.txt").read_text().splitlines()
    CODECS["ogg"] = ["-c:a", "libopus", "-b:a", "16k"]
    encode(consultation([line for line in lines if line]), root / "seed/consultation.ogg")
