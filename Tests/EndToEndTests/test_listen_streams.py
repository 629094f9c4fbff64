"""Streams of live recognition: messages, frames, sizes, silence and the end."""

import contextlib
import json
import random
import socket
import struct
import threading

import pytest
import websockets.exceptions
from emulator import HASTY, PATIENCE
from listen_client import KEY, SPEECH, Listener, check, hear, results, voice, words
from websockets.sync.client import connect


@pytest.mark.covers("L-15", "L-16")
def test_a_silent_socket_is_closed_and_keep_alives_hold_it_open(served):
    server = served(*HASTY)
    with Listener(server) as kept:
        # Two sockets are closed one after the other while a third one says that it is there.
        for _ in range(2):
            with Listener(server) as silent:
                closed = threading.Thread(target=silent.end)
                closed.start()
                while closed.is_alive():
                    kept.send("KeepAlive")
                    closed.join(0.2)
                assert silent.close_frame[0] == 1011 and "NET-0001" in silent.close_frame[1]
        kept.send("CloseStream")
        assert [m["type"] for m in kept.end()] == ["Metadata"]
        assert kept.close_frame == (1000, "")


@pytest.mark.covers("L-41")
@pytest.mark.parametrize("text", [
    "", "{", "[]", "null", '"KeepAlive"', '{"type": 1}', '{"type": "Dance"}', "[" * 1000, "ü"])
def test_a_text_that_is_no_command_is_an_error_and_the_stream_lives(server, text):
    with Listener(server) as listener:
        listener.socket.send(text)
        assert listener.receive()["variant"] == "SchemaError"
        listener.send(SPEECH, "CloseStream")
        assert results(listener.end())


@pytest.mark.covers("L-42")
def test_an_empty_message_ends_the_stream(server):
    with Listener(server) as listener:
        listener.send(SPEECH, b"")
        assert listener.end()[-1]["type"] == "Metadata"
        assert listener.close_frame == (1000, "")


@pytest.mark.covers("L-43", "L-47")
@pytest.mark.parametrize("seed", range(4))
def test_the_sizes_of_audio_messages_do_not_change_the_results(server, seed):
    query = "interim_results=true&endpointing=300&vad_events=true&utterance_end_ms=1000"

    def without_ids(messages):
        return [{k: v for k, v in m.items() if k not in ("metadata", "request_id", "created")} for m in messages]

    whole = without_ids(hear(server, query))
    choice = random.Random(seed)
    pieces, rest = [], SPEECH
    while rest:
        size = choice.choice([1, 3, 639, 640, 641, 5000])
        pieces.append(rest[:size])
        rest = rest[size:]
    assert without_ids(hear(server, query, *pieces)) == whole


@pytest.mark.covers("L-44", "L-45")
def test_sockets_are_independent_and_a_lost_one_disturbs_no_other(server):
    listeners = [Listener(server, "endpointing=false") for _ in range(10)]
    for number, listener in enumerate(listeners):
        listener.send(voice(0.24 * (number + 1)))
    for listener in listeners[::2]:
        listener.socket.socket.shutdown(socket.SHUT_RDWR)
    for number, listener in enumerate(listeners):
        if number % 2:
            listener.send("CloseStream")
            assert words(results(listener.end())[0]) == number + 1


@pytest.mark.covers("L-46")
def test_large_messages_are_taken_and_larger_ones_close_the_socket(server):
    assert words(results(hear(server, "endpointing=false", voice(3.0)))[0]) == 12
    with Listener(server, max_size=None) as listener:
        listener.socket.send(bytes(17 << 20))
        listener.end()
        assert listener.close_frame[0] == 1009


def test_a_wav_header_names_the_encoding_and_data_that_is_no_audio_closes_the_socket(server):
    audio = voice(1.2, 8000)
    header = b"RIFF" + struct.pack("<I", 36 + len(audio)) + b"WAVEfmt " + struct.pack(
        "<IHHIIHH", 16, 1, 1, 8000, 16_000, 2, 16) + b"data" + struct.pack("<I", len(audio))
    address = f"ws://127.0.0.1:{server.port}/v1/listen?endpointing=false"
    with connect(address, additional_headers={"Authorization": f"Token {KEY}"}) as listener:
        # A Finalize before the rate is known must not settle it.
        listener.send(json.dumps({"type": "Finalize"}))
        nothing = check(listener.recv(timeout=PATIENCE))
        assert nothing["from_finalize"] and words(nothing) == 0
        for byte in header:
            listener.send(bytes([byte]))
        listener.send(audio)
        listener.send(json.dumps({"type": "CloseStream"}))
        result, metadata = check(listener.recv()), check(listener.recv())
        assert words(result) == 5 and metadata["duration"] == 1.2
    with connect(address, additional_headers={"Authorization": f"Token {KEY}"}) as listener:
        listener.send(b"this is no audio at all")
        with pytest.raises(websockets.exceptions.ConnectionClosed):
            listener.recv(timeout=PATIENCE)
        assert listener.protocol.close_rcvd.code == 1008


def closing_code(server, *messages) -> int:
    """With which `/v1/listen` closes after these messages."""
    address = f"ws://127.0.0.1:{server.port}/v1/listen"
    with connect(address, additional_headers={"Authorization": f"Token {KEY}"}, max_size=None) as listener:
        with contextlib.suppress(websockets.exceptions.ConnectionClosed):
            for message in messages:
                listener.send(message)
            while True:
                listener.recv(timeout=PATIENCE)
        return listener.protocol.close_rcvd.code


def test_a_wav_may_have_32_chunks_before_its_samples_and_is_never_read_anew(server):
    audio = voice(1.2, 8000)
    form = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16_000, 2, 16)
    riff, data = b"RIFF\0\0\0\0WAVE", b"data" + struct.pack("<I", len(audio))
    junk = b"junk" + struct.pack("<I", 3) + b"odd\0"
    address = f"ws://127.0.0.1:{server.port}/v1/listen?endpointing=false"
    with connect(address, additional_headers={"Authorization": f"Token {KEY}"}) as listener:
        for byte in riff + junk * 31 + form + data:
            listener.send(bytes([byte]))
        listener.send(audio)
        listener.send(json.dumps({"type": "CloseStream"}))
        assert words(check(listener.recv(timeout=PATIENCE))) == 5
    assert closing_code(server, riff + junk * 32 + form + data + audio) == 1008
    assert closing_code(server, riff + b"junk" + struct.pack("<I", 65_537)) == 1008
    # Which took ten seconds of an event loop, and now is refused at the first chunk too many.
    empty = b"junk\0\0\0\0"
    assert closing_code(server, riff, *(bytes([byte]) for byte in empty * 40)) == 1008


def test_a_text_has_64_kb_at_most_and_audio_sixteen_megabytes(server):
    def command(size):
        text = json.dumps({"type": "KeepAlive", "padding": ""})
        return text[:-2] + "x" * (size - len(text)) + text[-2:]

    address = f"ws://127.0.0.1:{server.port}/v1/listen?encoding=linear16&sample_rate=16000"
    with connect(address, additional_headers={"Authorization": f"Token {KEY}"}) as listener:
        listener.send(command(64 << 10))
        listener.send(bytes(2 << 20))
        listener.send(json.dumps({"type": "CloseStream"}))
        while check(listener.recv(timeout=PATIENCE))["type"] != "Metadata":
            pass
    assert closing_code(server, command((64 << 10) + 1)) == 1009


@pytest.mark.parametrize("bytes_sent, code", [
    (bytes([0x82, 0x01, 0x00]), 1002),  # without a mask
    (bytes([0xC2, 0x80, 0, 0, 0, 0]), 1002),  # with an extension
    (bytes([0x83, 0x80, 0, 0, 0, 0]), 1002),  # of no known kind
    (bytes([0x09, 0x80, 0, 0, 0, 0]), 1002),  # a ping in pieces
    (bytes([0x80, 0x80, 0, 0, 0, 0]), 1002),  # goes on without a beginning
    (bytes([0x82, 0xFF]) + b"\xff" * 8 + bytes(4), 1009),
    (bytes([0x81, 0x81, 0, 0, 0, 0, 0xFF]), 1007),
])
def test_invalid_frames_close_the_socket(server, bytes_sent, code):
    with Listener(server) as listener:
        listener.send_bytes(bytes_sent)
        listener.end()
        assert listener.close_frame[0] == code


def test_a_client_that_never_reads_is_not_waited_for_by_others(server):
    with Listener(server, "interim_results=true", max_queue=1, close_timeout=0.1) as deaf:
        sender = threading.Thread(target=lambda: deaf.send(*[voice(1.0)] * 20), daemon=True)
        sender.start()
        assert results(hear(server, "endpointing=300"))
