"""Live recognition by others than the fake: a service that speaks Deepgram's live API, and a transcriber that knows whole
recordings only."""

import base64
import contextlib
import hashlib
import io
import json
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import wave

import pytest
import requests
from client import text
from conftest import PATIENCE, running, wait_until
from test_listen import KEY, RATE, SPEECH, Listener, environment, hear, results, silence, voice
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.server import serve

#: A word is a tenth of a second in which all samples are its number.
WORD = RATE // 10


def spoken(count: int) -> bytes:
    return b"".join(struct.pack("<h", 1000 + number) * WORD for number in range(count))


class LiveService:
    """Hears words in samples, settles them five at a time, and breaks the connection after so many bytes."""

    def __init__(self, cuts=(), close=None):
        self.cuts = list(cuts)
        self.close = close
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
                "channel": {"alternatives": [{"transcript": " ".join(word["word"] for word in words), "confidence": 0.9,
                                              "words": words}]},
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


@pytest.mark.parametrize("seed", range(2))
def test_words_come_once_and_in_order_however_often_the_service_is_gone(tmp_path, seed):
    dice = random.Random(seed)
    cuts = [dice.randrange(1, 30_000) for _ in range(20)]
    audio = spoken(200)
    with LiveService(cuts) as service, running(
        tmp_path, "--ephemeral", "--transcriber", f"deepgram:{service.url}", environment={"SCRIBE_STT_KEY": "secret"}
    ) as server, Listener(server, "interim_results=true") as listener:
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


def test_what_a_client_asks_for_reaches_the_service(tmp_path):
    with LiveService() as service, running(tmp_path, "--ephemeral", "--transcriber", f"deepgram:{service.url}/v1") as server:
        hear(server, "model=nova-2-medical&keyterm=Atenolol&language=en-IN&endpointing=300&diarize=true", spoken(5))
    for part in ("/v1/listen?", "model=nova-2-medical", "Atenolol", "language=en-IN", "endpointing=300", "diarize=true"):
        assert part in service.queries[0]


def test_a_service_that_refuses_or_is_not_there_closes_the_socket(tmp_path):
    with LiveService(close=(1008, "no")) as service, running(
        tmp_path, "--ephemeral", "--transcriber", f"deepgram:{service.url}"
    ) as server, Listener(server) as listener:
        listener.end()
        assert listener.close == (1011, "NET-0000: The recogniser has failed")
        assert service.connections == 1
    other = tmp_path / "other"
    other.mkdir()
    with running(other, "--ephemeral", "--transcriber", "deepgram:http://127.0.0.1:1") as server:
        with Listener(server) as listener:
            listener.send(voice(1))
            listener.end()
            assert listener.close[0] == 1011


def test_what_a_service_says_in_the_same_breath_as_it_opens_is_heard(tmp_path):
    connections = []

    def serve_raw(listener):
        while True:
            connection, _ = listener.accept()
            head = connection.recv(65536).decode()
            # The server also looks whether anybody is there, and says nothing.
            if not head:
                continue
            connections.append(connection)
            key = re.search(r"(?i)sec-websocket-key: (\S+)", head)[1]
            accept = base64.b64encode(hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()).decode()
            connection.sendall(
                f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode() + bytes([0x88, 2]) + struct.pack(">H", 1008))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve_raw, args=(listener,), daemon=True).start()
        flags = ("--ephemeral", "--listen-idle", "60s", "--transcriber", f"deepgram:http://127.0.0.1:{listener.getsockname()[1]}")
        with running(tmp_path, *flags) as server, Listener(server) as client:
            client.end()
            assert client.close == (1011, "NET-0000: The recogniser has failed")
    assert len(connections) == 1


def test_the_fake_behind_another_server_says_what_it_says_itself(server, tmp_path):
    query = "interim_results=true&endpointing=300&vad_events=true&utterance_end_ms=1000&punctuate=true"
    audio = SPEECH + silence(1.5) + voice(1)
    with running(
        tmp_path, "--ephemeral", "--transcriber", f"deepgram:{server.base_url}", environment={"SCRIBE_STT_KEY": KEY}
    ) as other:
        both = [hear(each, query, audio) for each in (server, other)]
    for messages in both:
        for message in messages:
            message.pop("metadata", None)
            for name in ("request_id", "created", "models", "model_info"):
                message.pop(name, None)
    assert both[0] == both[1]


def test_a_transcriber_of_recordings_serves_live_text(tmp_path):
    # Says how much audio it was given.
    program = tmp_path / "length"
    program.write_text(
        f"#!{sys.executable}\nimport sys, wave\nfile = wave.open(sys.argv[1])\n"
        "print('Lasted', round(1000 * file.getnframes() / file.getframerate()))\n")
    program.chmod(0o755)
    with running(tmp_path, "--ephemeral", "--transcriber", f"command:{program} {{file}}") as server:
        messages = hear(server, "endpointing=300&punctuate=true&vad_events=true", silence(1) + SPEECH)
    assert [m["type"] for m in messages] == ["SpeechStarted", "Results", "SpeechStarted", "Results", "Metadata"]
    assert [r["channel"]["alternatives"][0]["transcript"] for r in results(messages)] == ["Lasted 1700", "Lasted 1400"]
    assert [(r["start"], r["duration"]) for r in results(messages)] == [(0, 2.5), (2.5, 1.5)]


@pytest.mark.covers("L-60")
@pytest.mark.parametrize("name", ["visit.wav", "visit.ogg", "visit.mp3"])
def test_words_of_a_recogniser_without_times_lie_where_somebody_speaks(tmp_path, name):
    from deepgram import DeepgramClient

    visit, program = tmp_path / name, tmp_path / "words"
    program.write_text(f"#!{sys.executable}\nprint('Any fever at all? No, there is none.')\n")
    program.chmod(0o755)
    with wave.open(str(tmp_path / "whole.wav"), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(silence(1) + voice(2) + silence(3) + voice(2) + silence(1))
    subprocess.run(["ffmpeg", "-v", "error", "-i", tmp_path / "whole.wav", visit], check=True)
    with running(tmp_path, "--ephemeral", "--transcriber", f"command:{program} {{file}}") as server:
        media = DeepgramClient(api_key=KEY, environment=environment(server)).listen.v1.media
        results = media.transcribe_file(
            request=visit.read_bytes(), utterances=True, diarize=True, punctuate=True, paragraphs=True).results
    assert [u.transcript for u in results.utterances] == ["Any fever at all?", "No, there is none."]
    spans = [(u.start, u.end) for u in results.utterances]
    assert spans == [pytest.approx((1, 3), abs=0.2), pytest.approx((6, 8), abs=0.2)]
    words = results.channels[0].alternatives[0].words
    assert [w.start for u in results.utterances for w in u.words] == [w.start for w in words]
    assert len(results.channels[0].alternatives[0].paragraphs.paragraphs) == 2


def test_a_header_that_promises_a_day_of_speech_has_no_more_decoded_than_there_is(tmp_path):
    visit, programs = tmp_path / "visit.flac", tmp_path / "programs"
    programs.mkdir()
    for name, does in (
        ("words", "echo 'Any fever at all? No, there is none.'"),
        ("ffmpeg", f"echo run >>{tmp_path}/runs; exec {shutil.which('ffmpeg')} \"$@\""),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o755)
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "s16le", "-ar", str(RATE), "-i", "-", "-f", "flac", str(visit)],
        input=voice(2) + silence(2) + voice(2), check=True)
    flac = bytearray(visit.read_bytes())
    # The number of samples, the last 36 bits of the 8 bytes that begin 18 bytes into the file.
    [head] = struct.unpack_from(">Q", flac, 18)
    struct.pack_into(">Q", flac, 18, head >> 36 << 36 | 86_000 * RATE)
    path = f"{programs}:{os.environ['PATH']}"
    with running(
        tmp_path, "--ephemeral", "--transcriber", f"command:{programs}/words {{file}}", environment={"PATH": path}
    ) as server:
        answer = requests.post(
            f"{server.base_url}/v1/listen?utterances=true&punctuate=true", data=bytes(flac), timeout=PATIENCE,
            headers={"Authorization": f"Token {KEY}"}).json()
    assert answer["metadata"]["duration"] == 86_000
    assert [u["transcript"] for u in answer["results"]["utterances"]] == ["Any fever at all?", "No, there is none."]
    assert 1 <= (tmp_path / "runs").read_text().count("run") <= 3, "a day has 144 pieces"


def consultation(server):
    """One that is started, and how to ask what became of it."""
    transaction = server.client().transaction()
    assert transaction.init(["transcript_template", "soap"]).status_code == 201
    return transaction


def said(messages) -> str:
    return " ".join(r["channel"]["alternatives"][0]["transcript"] for r in results(messages, final=True))


def transcript(transaction) -> str:
    while (answer := transaction.poll()).status_code == 202:
        pass
    assert answer.status_code == 200, answer.text
    [document] = answer.json()["data"]["template_results"]["transcript"]
    return " ".join(text(document).split())


def names(transaction) -> list[str]:
    listed = transaction.client.s3().list_objects_v2(Bucket="m-prod-voice-record", Prefix=transaction.folder)
    return [entry["Key"].rsplit("/", 1)[1] for entry in listed.get("Contents", [])]


def kept(transaction) -> bytes:
    """The audio of its chunks, one after the other."""
    audio = b""
    for name in names(transaction):
        answer = transaction.client.s3().get_object(Bucket="m-prod-voice-record", Key=f"{transaction.folder}/{name}")
        with wave.open(io.BytesIO(answer["Body"].read())) as chunk:
            audio += chunk.readframes(chunk.getnframes())
    return audio


@pytest.mark.covers("L-54")
def test_a_stream_is_a_consultation(server):
    transaction = consultation(server)
    messages = hear(server, f"endpointing=300&punctuate=true&txn_id={transaction.id}", SPEECH + silence(1) + voice(2))
    assert transcript(transaction) == said(messages)
    assert transaction.poll().json()["data"]["template_results"]["custom"]
    # The audio is there, in chunks that follow each other.
    assert kept(transaction) == SPEECH + silence(1) + voice(2)
    # It has ended, and is nobody else's.
    for identifier in (transaction.id, "nothing", "a%00b"):
        with pytest.raises(InvalidStatus) as refusal:
            hear(server, f"txn_id={identifier}")
        assert refusal.value.response.status_code == 400 and b"txn_id" in refusal.value.response.body


@pytest.mark.covers("L-54")
def test_a_stream_that_breaks_off_goes_on_in_the_same_consultation(server):
    transaction = consultation(server)
    query = f"endpointing=300&punctuate=true&txn_id={transaction.id}"
    with Listener(server, query) as first:
        first.send(SPEECH)
        first.until("Results")
        first.socket.socket.close()
    wait_until(lambda: kept(transaction) == SPEECH, "what was not settled is kept too")
    second = hear(server, query, voice(2))
    heard = transcript(transaction)
    assert heard.startswith(said(first.messages)) and heard.endswith(said(second))
    assert kept(transaction) == SPEECH + voice(2)


@pytest.mark.covers("L-54")
@pytest.mark.parametrize("ends", ["with a close frame", "without a word", "idle"])
def test_what_was_not_settled_is_kept_however_a_stream_ends(tmp_path, ends):
    with running(tmp_path, "--ephemeral", "--long-poll", "3s", "--listen-idle", "500ms") as server:
        transaction = consultation(server)
        audio = SPEECH + voice(0.4)
        with Listener(server, f"endpointing=300&txn_id={transaction.id}") as listener:
            listener.send(audio)
            listener.until("Results")
            if ends == "with a close frame":
                listener.socket.close()
            elif ends == "idle":
                listener.end()
            else:
                listener.socket.socket.close()
        wait_until(lambda: kept(transaction) == audio, "what was not settled is kept too")
        # It is open still, and may go on.
        assert said(hear(server, f"txn_id={transaction.id}", voice(1)))
        assert kept(transaction) == audio + voice(1) and transcript(transaction)


def test_two_streams_of_one_consultation_take_nothing_from_each_other(server):
    transaction = consultation(server)
    query = f"endpointing=300&txn_id={transaction.id}"
    with Listener(server, query) as first, Listener(server, query) as second:
        for listener in (first, second):
            listener.send(SPEECH)
            listener.until("Results")
            listener.socket.close()
    wait_until(lambda: len(kept(transaction)) == 2 * len(SPEECH), "each has its chunks")


def test_what_was_settled_survives_a_kill(tmp_path):
    flags = ("--data-dir", str(tmp_path / "data"), "--long-poll", "3s")
    with running(tmp_path, *flags) as server:
        transaction = consultation(server)
        with Listener(server, f"endpointing=300&punctuate=true&txn_id={transaction.id}") as listener:
            listener.send(SPEECH)
            listener.until("Results")
            server.kill()
    with running(tmp_path, *flags) as server:
        again = server.client().transaction(transaction.id)
        again.folder = transaction.folder
        assert again.commit(names(again)).status_code == 200
        assert transcript(again) == said(listener.messages)


def test_the_text_is_stored_as_people_write_it_whatever_the_client_wants_to_see(server):
    transaction = consultation(server)
    messages = hear(server, f"endpointing=300&txn_id={transaction.id}", voice(5))
    assert said(messages).islower() and "." not in said(messages)
    assert all("punctuated_word" not in word for r in results(messages) for word in r["channel"]["alternatives"][0]["words"])
    assert transcript(transaction).startswith("Good morning") and transcript(transaction).lower().replace(".", "") == said(messages)


def test_each_channel_of_a_consultation_is_in_its_transcript(server):
    transaction = consultation(server)
    mono = voice(3)
    stereo = b"".join(mono[at:at + 2] * 2 for at in range(0, len(mono), 2))
    messages = hear(server, f"channels=2&multichannel=true&endpointing=300&punctuate=true&txn_id={transaction.id}", stereo)
    counts = [words for r in results(messages, final=True) for words in [len(r["channel"]["alternatives"][0]["words"])]]
    assert len(counts) == 2 and len(transcript(transaction).split()) == sum(counts)


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
def test_encoded_streams_are_heard_whether_or_not_they_are_named(server, name, says):
    audio = encoded(SPEECH, *ENCODINGS[name])
    _, messages = stream(server, f"endpointing=300&{'encoding=' + name if says else ''}", audio)
    counts = [len(r["channel"]["alternatives"][0]["words"]) for r in results(messages)]
    assert len(counts) == 2 and all(count in (4, 5) for count in counts)
    assert messages[-1]["sha256"] == hashlib.sha256(audio).hexdigest() and abs(messages[-1]["duration"] - 3) < 0.2


def test_an_encoded_stream_is_a_consultation_too(server):
    transaction = consultation(server)
    _, messages = stream(
        server, f"endpointing=300&punctuate=true&txn_id={transaction.id}", encoded(SPEECH, *ENCODINGS["ogg-opus"]))
    assert said(messages) and transcript(transaction) == said(messages)


@pytest.mark.parametrize("query, audio", [
    ("encoding=mp3", b"no audio at all" * 1000), ("encoding=flac", b""), ("", b"fLaC and then nothing of it" * 100),
    ("encoding=ogg", encoded(SPEECH, "-f", "flac")),
    # A playlist names files that nobody is to read.
    ("encoding=m4a", b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n" * 100)])
def test_a_stream_that_is_not_what_it_says_closes_the_socket(server, query, audio):
    listener, messages = stream(server, query, audio)
    assert results(messages) == [] and listener.close[0] == (1008 if audio else 1000)
    assert not audio or listener.close[1].startswith("DATA-0000")


def decoders(server) -> list[str]:
    return subprocess.run(
        ["pgrep", "-P", str(server.process.pid), "ffmpeg"], capture_output=True, text=True).stdout.split()


def test_no_decoder_outlives_its_stream(server):
    address = f"ws://127.0.0.1:{server.port}/v1/listen?encoding=ogg"
    with Listener(server, address=address) as listener:
        listener.send(encoded(SPEECH, *ENCODINGS["ogg-opus"])[:500])
        wait_until(lambda: decoders(server), "it is decoded")
        listener.socket.socket.close()
    wait_until(lambda: not decoders(server), "its decoder ends with it")


def encoded_stream(server, key=KEY):
    return Listener(server, address=f"ws://127.0.0.1:{server.port}/v1/listen?encoding=ogg&endpointing=300", key=key)


def is_heard(server, key) -> bool:
    with encoded_stream(server, key) as listener:
        with contextlib.suppress(ConnectionClosed):
            listener.send(encoded(SPEECH, *ENCODINGS["ogg-opus"]), "CloseStream")
        return bool(results(listener.end()))


def test_one_business_leaves_decoders_to_others(tmp_path):
    flags = ("--ephemeral", "--decoders", "4", "--listen-idle", "1h")
    with running(tmp_path, *flags) as server, contextlib.ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(encoded_stream(server))
        wait_until(lambda: len(decoders(server)) == 3, "each has its own")
        one_more = stack.enter_context(encoded_stream(server))
        assert one_more.end() == [] and one_more.close[0] == 1011
        assert is_heard(server, "org_dev_key_2")


def test_a_stream_that_is_fed_nothing_gives_its_decoder_to_one_that_needs_it(tmp_path):
    flags = ("--ephemeral", "--decoders", "1", "--listen-idle", "500ms")
    with running(tmp_path, *flags) as server, encoded_stream(server) as idle:
        def keep_alive():
            with contextlib.suppress(ConnectionClosed):
                while True:
                    idle.send("KeepAlive")
                    time.sleep(0.1)

        threading.Thread(target=keep_alive, daemon=True).start()
        wait_until(lambda: is_heard(server, "org_dev_key_2"), "the idle one gives way")
        assert idle.end() == [] and idle.close[0] == 1011 and idle.close[1].startswith("NET-0001")
