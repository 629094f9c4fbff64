"""Engines of live recognition other than the fake: a service that speaks Deepgram's live API, and a transcriber of
whole recordings. `Tests/EnginesTests/Live/Upstream` has the faults of a service, and the pauses of its circuit."""

import contextlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import threading
import wave

import pytest
import requests
from emulator import PATIENCE, running
from listen_client import KEY, RATE, SPEECH, Listener, environment, hear, results, silence, voice
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

#: A word is a tenth of a second in which all samples are its number.
WORD = RATE // 10


def spoken(count: int) -> bytes:
    return b"".join(struct.pack("<h", 1000 + number) * WORD for number in range(count))


class LiveService:
    """Hears words in samples, settles them five at a time, and breaks the connection after so many bytes."""

    def __init__(self, cuts=()):
        self.cuts = list(cuts)
        self.close = None
        self.connections = 0
        self.keys = []
        self.queries = []
        self.server = serve(self.listen, "127.0.0.1", 0)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.socket.getsockname()[1]}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()

    def listen(self, socket):
        self.connections += 1
        self.keys.append(socket.request.headers.get("Authorization"))
        self.queries.append(socket.request.path)
        if self.close:
            return socket.close(*self.close)
        left = self.cuts.pop(0) if self.cuts else None
        samples, settled = [], 0

        def say(start, end, **flags):
            numbers = dict.fromkeys(samples[start:end])
            words = [
                {"word": f"w{number - 1000}", "start": at / 10, "end": (at + 1) / 10, "confidence": 0.9}
                for at, number in enumerate(numbers, round(start / WORD))
            ]
            socket.send(json.dumps({
                "type": "Results", "channel_index": [0, 1], "start": start / RATE, "duration": (end - start) / RATE,
                "channel": {"alternatives": [
                    {"transcript": " ".join(word["word"] for word in words), "confidence": 0.9, "words": words}]},
                "is_final": False, "speech_final": False, "from_finalize": False, **flags}))

        try:
            for message in socket:
                if isinstance(message, bytes):
                    if left is not None and len(message) >= left:
                        # As a machine does that loses its power.
                        socket.socket.close()
                        return
                    left = left and left - len(message)
                    samples += struct.unpack(f"<{len(message) // 2}h", message)
                    while len(samples) - settled >= 5 * WORD:
                        say(settled, settled + 5 * WORD, is_final=True)
                        settled += 5 * WORD
                    if len(samples) - settled >= WORD:
                        say(settled, settled + WORD)
                elif (kind := json.loads(message)["type"]) in ("Finalize", "CloseStream"):
                    if settled < len(samples) or kind == "Finalize":
                        say(settled, len(samples), is_final=True, speech_final=True, from_finalize=kind == "Finalize")
                        settled = len(samples)
                    if kind == "CloseStream":
                        socket.send(json.dumps({"type": "Metadata", "duration": len(samples) / RATE}))
                        return
        except (ConnectionClosed, OSError):
            pass


def heard(messages):
    return [(word["word"], word["start"]) for result in results(messages, final=True)
            for word in result["channel"]["alternatives"][0]["words"]]


def test_words_arrive_once_and_in_order_and_a_service_that_fails_closes_the_socket(tmp_path):
    dice = random.Random(0)
    cuts = [dice.randrange(1, 30_000) for _ in range(20)]
    audio = spoken(200)
    options = "interim_results=true&model=nova-2-medical&keyterm=Atenolol&language=en-IN&endpointing=300&diarize=true"

    def circuit(server) -> str:
        text = requests.get(f"{server.base_url}/metrics", timeout=PATIENCE).text
        return next(line for line in text.splitlines() if line.startswith('scribe_circuit_open{engine="live"}'))[-1]

    with LiveService(cuts) as service, running(
        tmp_path, "--ephemeral", "--transcriber", f"deepgram:{service.url}/v1",
        environment={"SCRIBE_STT_KEY": "secret"},
    ) as server:
        with Listener(server, options) as listener:
            pieces = [audio[at:at + 3200] for at in range(0, len(audio), 3200)]
            for place, piece in enumerate(pieces):
                listener.send(piece)
                if place == 150:
                    listener.send("Finalize")
            listener.send("CloseStream")
            messages = listener.end()
        assert heard(messages) == [(f"w{number}", number / 10) for number in range(200)]
        assert [r["from_finalize"] for r in results(messages)].count(True) == 1
        assert messages[-1]["type"] == "Metadata" and messages[-1]["duration"] == 20
        spans = [(r["start"], r["start"] + r["duration"]) for r in results(messages, final=True)]
        assert all(after[0] >= before[1] for before, after in zip(spans, spans[1:]))
        assert service.connections > 5 and set(service.keys) == {"Token secret"}
        for part in ("/v1/listen?", "model=nova-2-medical", "Atenolol", "language=en-IN", "endpointing=300",
                     "diarize=true"):
            assert part in service.queries[0]
        before = service.connections
        service.close = (1008, "no")
        with Listener(server) as listener:
            listener.send(audio[:3200])
            listener.end()
            assert listener.close_frame == (1011, "NET-0000: The recogniser has failed")
        assert service.connections == before + 1
        assert circuit(server) == "0", "a service that refuses is no service that fails"
        service.server.shutdown()
        with Listener(server) as listener, contextlib.suppress(ConnectionClosed):
            listener.send(voice(1))
            listener.end()
        assert listener.close_frame[0] == 1011
        assert circuit(server) == "1"


@pytest.fixture(scope="module")
def behind(usual_server, tmp_path_factory):
    """A server whose recogniser is the server that most tests share."""
    flags = ("--ephemeral", "--transcriber", f"deepgram:{usual_server.base_url}")
    with running(tmp_path_factory.mktemp("behind"), *flags, environment={"SCRIBE_STT_KEY": KEY}) as server:
        yield server


def test_a_server_behind_another_server_gives_the_same_results_as_directly(server, behind):
    query = "interim_results=true&endpointing=300&vad_events=true&utterance_end_ms=1000&punctuate=true"
    audio = SPEECH + silence(1.5) + voice(1)
    both = [hear(each, query, audio) for each in (server, behind)]
    for messages in both:
        for message in messages:
            message.pop("metadata", None)
            for name in ("request_id", "created", "models", "model_info"):
                message.pop(name, None)
    assert both[0] == both[1]


def test_a_server_behind_another_server_recognises_recordings_as_directly(server, behind):
    header = {"Authorization": f"Token {KEY}"}
    query = {"encoding": "linear16", "sample_rate": RATE, "punctuate": "true"}
    texts = [
        requests.post(f"{each.base_url}/v1/listen", params=query, data=voice(5), headers=header, timeout=PATIENCE)
        .json()["results"]["channels"][0]["alternatives"][0]["transcript"] for each in (server, behind)
    ]
    assert texts[0] and texts[0] == texts[1]


class Program:
    """The recogniser of a server: a program that each test chooses. Counts how often the server runs ffmpeg."""

    def __init__(self, folder):
        self.folder = folder
        self.say("")
        self.put("ffmpeg", f"#!/bin/sh\necho run >>{folder}/runs\nexec {shutil.which('ffmpeg')} \"$@\"\n")

    def put(self, name: str, source: str):
        fresh = self.folder / f"new-{name}"
        fresh.write_text(source)
        fresh.chmod(0o755)
        fresh.replace(self.folder / name)

    def say(self, text: str):
        self.put("recogniser", f"#!/bin/sh\necho '{text}'\n")

    def forget(self):
        (self.folder / "runs").write_text("")

    @property
    def runs(self) -> int:
        return (self.folder / "runs").read_text().count("run")


@pytest.fixture(scope="module")
def programmed(tmp_path_factory):
    """A server, and the program that is its recogniser."""
    program = Program(tmp_path_factory.mktemp("programs"))
    flags = ("--ephemeral", "--transcriber", f"command:{program.folder}/recogniser {{file}}")
    path = {"PATH": f"{program.folder}:{os.environ['PATH']}"}
    with running(tmp_path_factory.mktemp("programmed"), *flags, environment=path) as server:
        yield server, program


def test_a_transcriber_of_recordings_serves_live_text(programmed):
    server, program = programmed
    # Says how much audio it was given.
    program.put(
        "recogniser", f"#!{sys.executable}\nimport sys, wave\nfile = wave.open(sys.argv[1])\n"
        "print('Lasted', round(1000 * file.getnframes() / file.getframerate()))\n")
    messages = hear(server, "endpointing=300&punctuate=true&vad_events=true", silence(1) + SPEECH)
    assert [m["type"] for m in messages] == ["SpeechStarted", "Results", "SpeechStarted", "Results", "Metadata"]
    assert [r["channel"]["alternatives"][0]["transcript"] for r in results(messages)] == ["Lasted 1700", "Lasted 1400"]
    assert [(r["start"], r["duration"]) for r in results(messages)] == [(0, 2.5), (2.5, 1.5)]


@pytest.mark.covers("L-60")
def test_words_of_a_recogniser_without_times_lie_where_somebody_speaks(programmed, tmp_path):
    from deepgram import DeepgramClient

    server, program = programmed
    program.say("Any fever at all? No, there is none.")
    with wave.open(str(tmp_path / "whole.wav"), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(silence(1) + voice(2) + silence(3) + voice(2) + silence(1))
    media = DeepgramClient(api_key=KEY, environment=environment(server)).listen.v1.media
    for name in ("visit.wav", "visit.ogg", "visit.mp3"):
        visit = tmp_path / name
        subprocess.run(["ffmpeg", "-v", "error", "-i", tmp_path / "whole.wav", visit], check=True)
        found = media.transcribe_file(
            request=visit.read_bytes(), utterances=True, diarize=True, punctuate=True, paragraphs=True).results
        assert [u.transcript for u in found.utterances] == ["Any fever at all?", "No, there is none."], name
        spans = [(u.start, u.end) for u in found.utterances]
        assert spans == [pytest.approx((1, 3), abs=0.2), pytest.approx((6, 8), abs=0.2)], name
        words = found.channels[0].alternatives[0].words
        assert [w.start for u in found.utterances for w in u.words] == [w.start for w in words], name
        assert len(found.channels[0].alternatives[0].paragraphs.paragraphs) == 2, name


def test_a_header_with_a_false_duration_does_not_extend_the_decoding(programmed, tmp_path):
    server, program = programmed
    program.say("Any fever at all? No, there is none.")
    visit = tmp_path / "visit.flac"
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "s16le", "-ar", str(RATE), "-i", "-", "-f", "flac", str(visit)],
        input=voice(2) + silence(2) + voice(2), check=True)
    flac = bytearray(visit.read_bytes())
    # The number of samples, the last 36 bits of the 8 bytes that begin 18 bytes into the file.
    [head] = struct.unpack_from(">Q", flac, 18)
    struct.pack_into(">Q", flac, 18, head >> 36 << 36 | 86_000 * RATE)
    program.forget()
    answer = requests.post(
        f"{server.base_url}/v1/listen?utterances=true&punctuate=true", data=bytes(flac), timeout=PATIENCE,
        headers={"Authorization": f"Token {KEY}"}).json()
    assert answer["metadata"]["duration"] == 6, "the length of what is there"
    assert [u["transcript"] for u in answer["results"]["utterances"]] == ["Any fever at all?", "No, there is none."]
    assert 1 <= program.runs <= 3, "a day has 144 pieces"
