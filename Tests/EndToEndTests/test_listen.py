"""Live recognition, driven by Deepgram's own SDK and by the `websockets` package. Every text that comes is checked against
openapi/listen.asyncapi.yaml."""

import asyncio
import contextlib
import hashlib
import http.client
import http.server
import json
import math
import os
import random
import select
import socket
import struct
import threading
import time
import wave

import jsonschema
import pytest
import requests
import websockets.exceptions
import yaml
from conftest import PATIENCE, ROOT, running, wait_until
from websockets.sync.client import connect

os.environ["NO_PROXY"] = "127.0.0.1,localhost"

KEY = "org_dev_key"
RATE = 16_000
DOCUMENT = yaml.safe_load((ROOT / "openapi/listen.asyncapi.yaml").read_text())
SCHEMAS = DOCUMENT["components"]["schemas"]


def check(text: str) -> dict:
    message = json.loads(text)
    schema = {"$ref": f"#/components/schemas/{message['type']}", "components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(schema).validate(message)
    return message


def voice(seconds: float, rate=RATE) -> bytes:
    count = round(seconds * rate)
    return struct.pack(f"<{count}h", *(round(9000 * math.sin(i * 0.1)) for i in range(count)))


def silence(seconds: float, rate=RATE) -> bytes:
    return bytes(2 * round(seconds * rate))


#: Two utterances with a pause between them.
SPEECH = voice(1.2) + silence(0.6) + voice(1.2)


class Listener:
    """One socket, to whose end everything is collected."""

    def __init__(self, server, query="", path="/v1/listen", key=KEY, address=None, **options):
        options.setdefault("additional_headers", {"Authorization": f"Token {key}"})
        address = address or f"ws://127.0.0.1:{server.port}{path}?encoding=linear16&sample_rate={RATE}&{query}"
        options.setdefault("close_timeout", PATIENCE)
        # Kept open beyond the call, which `legacy` is about.
        self.socket = connect(address, open_timeout=PATIENCE, legacy=True, **options)
        self.messages = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *messages):
        for message in messages:
            self.socket.send(json.dumps({"type": message}) if isinstance(message, str) else message)

    def receive(self) -> dict:
        message = check(self.socket.recv(timeout=PATIENCE))
        self.messages.append(message)
        return message

    def until(self, kind: str) -> dict:
        while (message := self.receive())["type"] != kind:
            pass
        return message

    def end(self) -> list[dict]:
        """Everything to the end."""
        try:
            while True:
                self.receive()
        except websockets.exceptions.ConnectionClosed:
            return self.messages

    @property
    def close(self) -> tuple[int, str]:
        return self.socket.protocol.close_rcvd.code, self.socket.protocol.close_rcvd.reason


def hear(server, query="", *messages, **options) -> list[dict]:
    with Listener(server, query, **options) as listener:
        listener.send(*(messages or (SPEECH,)), "CloseStream")
        return listener.end()


def results(messages, final=None):
    return [m for m in messages if m["type"] == "Results" and final in (None, m["is_final"])]


def words(result) -> int:
    return len(result["channel"]["alternatives"][0]["words"])


@pytest.mark.covers("L-01", "L-02", "L-11")
@pytest.mark.parametrize("scheme", ["Token", "token", "Bearer", "bearer", "BEARER"])
def test_a_key_opens_a_socket_by_its_header(server, scheme):
    with Listener(server, additional_headers={"Authorization": f"{scheme} {KEY}"}) as listener:
        listener.send("CloseStream")
        assert [m["type"] for m in listener.end()] == ["Metadata"]


@pytest.mark.covers("L-03", "L-04")
def test_a_key_opens_a_socket_as_a_subprotocol_and_is_never_repeated(server):
    with Listener(server, additional_headers={}, subprotocols=["token", KEY]) as listener:
        assert listener.socket.subprotocol == "token"
    with Listener(server) as listener:
        assert listener.socket.subprotocol is None


@pytest.mark.covers("L-05", "L-06", "L-07")
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Token "}, {"Authorization": "Token wrong"},
                                     {"Authorization": "Basic b3JnX2Rldl9rZXk="}, {"Authorization": KEY}])
def test_a_wrong_key_is_refused_with_401(server, headers):
    with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
        Listener(server, additional_headers=headers)
    answer = refusal.value.response
    assert answer.status_code == 401
    body = json.loads(answer.body)
    assert body["err_code"] == "INVALID_AUTH" and body["err_msg"] and body["request_id"]
    assert answer.headers["dg-request-id"] == body["request_id"] and answer.headers["dg-error"] == body["err_msg"]


@pytest.mark.covers("L-05", "L-08")
@pytest.mark.parametrize("offered", [["token", "wrong"], ["token"], ["bearer", "a.b.c"]])
def test_a_wrong_key_that_came_as_a_subprotocol_closes_the_socket_and_says_401(server, offered):
    with Listener(server, additional_headers={}, subprotocols=offered) as listener:
        assert listener.end() == []
        assert listener.close[0] == 1008 and listener.close[1].startswith("401 INVALID_AUTH")


def test_a_header_that_says_nothing_is_refused_like_a_wrong_key(tmp_path):
    # Of its own, for it once ended the server.
    with running(tmp_path, "--ephemeral") as server:
        for path in ("/v1/listen", "/v1/auth/grant"):
            answer = requests.post(f"{server.base_url}{path}", headers={"Authorization": ""})
            assert (answer.status_code, answer.json()["err_code"]) == (401, "INVALID_AUTH")
        with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
            Listener(server, additional_headers={"Authorization": ""})
        assert refusal.value.response.status_code == 401


@pytest.mark.covers("L-55")
@pytest.mark.parametrize("agent, sees_the_status", [
    ("okhttp/4.12.0", True), ("okhttp/5.0.0-alpha.14", True), ("Mozilla/5.0 (X11; Linux x86_64)", False),
    ("an okhttp/4.12.0", False), (None, False),
])
def test_okhttp_sees_the_status_of_a_refusal_and_others_see_how_the_socket_closes(server, agent, sees_the_status):
    open_socket = lambda: Listener(
        server, additional_headers={}, subprotocols=["token", "wrong"], user_agent_header=agent)
    if sees_the_status:
        with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
            open_socket()
        assert refusal.value.response.status_code == 401
        assert json.loads(refusal.value.response.body)["err_code"] == "INVALID_AUTH"
        # What is right opens it for them too.
        with Listener(server, additional_headers={}, subprotocols=["token", KEY], user_agent_header=agent) as listener:
            assert listener.socket.subprotocol == "token"
    else:
        with open_socket() as listener:
            assert listener.end() == []
            assert listener.close[0] == 1008 and listener.close[1].startswith("401 INVALID_AUTH")


@pytest.mark.covers("L-09", "L-10", "L-11")
def test_unknown_parameters_are_passed_over(server):
    assert hear(server, "colour=blue&keyterm=a&keyterm=b+c&tag=x&tag=y&version=1&mip_opt_out=true")


@pytest.mark.parametrize("query", ["encoding=amr", "channels=0", "channels=x", "endpointing=-1", "interim_results=maybe",
                                   "utterance_end_ms=soon", "diarize_model=v2"])
def test_parameters_that_cannot_be_are_400(server, query):
    address = f"http://127.0.0.1:{server.port}/v1/listen?{query}"
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Authorization": f"Token {KEY}"}
    answer = requests.get(address, headers=upgrade)
    assert answer.status_code == 400 and answer.json()["err_code"] == "Bad Request"


def test_a_plain_get_is_told_to_upgrade(server):
    answer = requests.get(f"http://127.0.0.1:{server.port}/v1/listen", headers={"Authorization": f"Token {KEY}"})
    assert answer.status_code == 426 and answer.headers["upgrade"] == "websocket"


@pytest.mark.covers("L-12", "L-13", "L-14")
def test_nothing_is_said_before_audio_and_keep_alives_are_not_answered(server):
    with Listener(server) as listener:
        listener.send("KeepAlive", "KeepAlive", "CloseStream")
        assert [m["type"] for m in listener.end()] == ["Metadata"]


@pytest.mark.covers("L-15", "L-16")
def test_a_silent_socket_is_closed_and_keep_alives_hold_it_open(tmp_path):
    with running(tmp_path, "--ephemeral", "--listen-idle", "1s") as server:
        with Listener(server) as listener:
            assert listener.end() == []
            assert listener.close[0] == 1011 and "NET-0001" in listener.close[1]
        with Listener(server) as listener:
            for _ in range(8):
                time.sleep(0.3)
                listener.send("KeepAlive")
            listener.send("CloseStream")
            assert [m["type"] for m in listener.end()] == ["Metadata"]
            assert listener.close == (1000, "")


@pytest.mark.covers("L-17", "L-19", "L-20", "L-21", "L-22", "L-28", "L-29", "L-31")
def test_the_worked_example(server):
    """streaming.md 6, to the number."""
    messages = hear(server, "interim_results=true&endpointing=300")
    found = [(m["is_final"], m["speech_final"], m["start"], m["duration"], words(m)) for m in results(messages)]
    assert found == [
        (False, False, 0.0, 0.5, 2), (False, False, 0.0, 1.0, 4), (True, True, 0.0, 1.5, 5),
        (False, False, 1.5, 1.0, 2), (False, False, 1.5, 1.5, 5), (True, True, 1.5, 1.5, 5),
    ]
    metadata = messages[-1]
    assert metadata["type"] == "Metadata" and metadata["duration"] == 3.0 and metadata["channels"] == 1
    assert metadata["sha256"] == hashlib.sha256(SPEECH).hexdigest()


@pytest.mark.covers("L-18")
def test_without_interims_everything_is_final(server):
    assert all(m["is_final"] for m in results(hear(server, "endpointing=300")))


@pytest.mark.covers("L-23")
def test_without_endpointing_a_pause_ends_nothing(server):
    found = results(hear(server, "endpointing=false"))
    assert [(m["start"], m["duration"], words(m)) for m in found] == [(0.0, 3.0, 10)]


@pytest.mark.covers("L-24", "L-25", "L-26", "L-27")
def test_finalize_settles_once_and_the_stream_goes_on(server):
    with Listener(server, "endpointing=false") as listener:
        listener.send(voice(1.0), "Finalize")
        first = listener.until("Results")
        assert first["from_finalize"] and first["is_final"] and words(first) == 4
        listener.send("Finalize")
        empty = listener.until("Results")
        assert empty["from_finalize"] and words(empty) == 0
        assert empty["channel"]["alternatives"][0] == {"transcript": "", "confidence": 0, "words": []}
        listener.send(voice(1.0), "CloseStream")
        last = results(listener.end())[-1]
        assert not last["from_finalize"] and last["start"] == 1.0 and last["start"] + last["duration"] == 2.0


@pytest.mark.covers("L-30", "L-32")
def test_a_stream_without_audio_ends_with_metadata_of_nothing(server):
    (metadata,) = hear(server, "", b"")[:1]
    assert metadata["duration"] == 0 and metadata["channels"] == 0
    assert metadata["sha256"] == hashlib.sha256(b"").hexdigest()


@pytest.mark.covers("L-33")
def test_one_id_is_in_the_header_and_in_all_messages(server):
    with Listener(server, "interim_results=true") as listener:
        id = listener.socket.response.headers["dg-request-id"]
        listener.send(SPEECH, "CloseStream")
        messages = listener.end()
    assert {m["metadata"]["request_id"] for m in results(messages)} | {messages[-1]["request_id"]} == {id}


@pytest.mark.covers("L-34", "L-35", "L-36")
def test_words_are_objects_in_order_within_their_span(server):
    for result in results(hear(server, "interim_results=true&endpointing=300")):
        last = result["start"]
        for word in result["channel"]["alternatives"][0]["words"]:
            assert last <= word["start"] < word["end"] <= round(result["start"] + result["duration"], 3)
            last = word["end"]


@pytest.mark.covers("L-37")
def test_punctuation_only_on_request(server):
    plain = results(hear(server, "endpointing=false"))[0]["channel"]["alternatives"][0]
    assert all("punctuated_word" not in word for word in plain["words"])
    for flag in ["punctuate", "smart_format"]:
        written = results(hear(server, f"endpointing=false&{flag}=true"))[0]["channel"]["alternatives"][0]
        assert written["words"][0]["word"].islower() and written["words"][0]["punctuated_word"][0].isupper()
        assert written["transcript"].startswith(written["words"][0]["punctuated_word"])


@pytest.mark.covers("L-38", "L-39", "L-40")
def test_speech_and_utterances_are_told_on_request(server):
    def kinds(query):
        return [m["type"] for m in hear(server, query) if m["type"] not in ("Results", "Metadata")]

    assert kinds("endpointing=300") == []
    assert kinds("endpointing=300&vad_events=true") == ["SpeechStarted", "SpeechStarted"]
    messages = hear(server, "endpointing=300&utterance_end_ms=500")
    assert [m["type"] for m in messages] == ["Results", "UtteranceEnd", "Results", "Metadata"]
    assert messages[1]["channel"] == [0, 1] and messages[1]["last_word_end"] == 1.2


def pauses(count: int, length: float) -> bytes:
    """Voice that stops again and again."""
    return b"".join(voice(0.5) + silence(length) for _ in range(count))


def test_speech_begins_anew_after_300_ms_only(server):
    def begins(audio):
        return sum(m["type"] == "SpeechStarted" for m in hear(server, "vad_events=true", audio))

    assert begins(pauses(20, 0.2)) == 1
    assert begins(pauses(5, 0.32)) == 5


def test_who_names_no_endpointing_gets_sentences(server):
    assert len(results(hear(server, "", pauses(6, 0.2)), final=True)) == 1
    assert len(results(hear(server, "endpointing=10", pauses(6, 0.2)), final=True)) == 6


def test_key_terms_are_replaced_and_told(server):
    def configured(query, **message):
        with Listener(server, query) as listener:
            listener.socket.send(json.dumps({"type": "Configure", **message}))
            answer = listener.receive()
            listener.send(SPEECH, "CloseStream")
            assert results(listener.end())
        assert answer.pop("request_id")
        return answer

    taken = {"type": "ConfigureSuccess", "keyterms": ["metformin", "blood pressure"]}
    assert configured("model=nova-3-medical", keyterms=["metformin", "blood pressure"]) == taken
    assert configured("", keyterms=[]) == {"type": "ConfigureSuccess", "keyterms": []}
    assert configured("", features={"x": 1}) == {"type": "ConfigureSuccess"}
    refused = configured("model=nova-2", keyterms=["metformin"])
    assert (refused["type"], refused["code"]) == ("ConfigureFailure", "CONFIGURE_KEYTERMS_NOT_SUPPORTED")
    assert refused["description"]
    assert configured("model=nova-3", keyterms=["a b"] * 251)["code"] == "CONFIGURE_KEYTERM_LIMIT_EXCEEDED"


def test_with_several_languages_each_word_has_its_own(server):
    alternative = results(hear(server, "language=multi"), final=True)[0]["channel"]["alternatives"][0]
    assert alternative["languages"] == ["en"]
    assert {word["language"] for word in alternative["words"]} == {"en"}
    plain = results(hear(server, "language=en"), final=True)[0]["channel"]["alternatives"][0]
    assert "languages" not in plain and "language" not in plain["words"][0]


@pytest.mark.covers("L-41")
@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"KeepAlive"', '{"type": 1}', '{"type": "Dance"}', "[" * 1000, "ü"])
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
        assert listener.close == (1000, "")


@pytest.mark.covers("L-43", "L-47")
@pytest.mark.parametrize("seed", range(4))
def test_how_the_bytes_are_cut_changes_nothing(server, seed):
    query = "interim_results=true&endpointing=300&vad_events=true&utterance_end_ms=400"

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
def test_sockets_do_not_know_each_other_and_one_that_is_gone_disturbs_nobody(server):
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
        assert listener.close[0] == 1009


@pytest.mark.covers("L-48")
def test_each_channel_has_results_of_its_own(server):
    left, right = voice(1.2), silence(1.2)
    both = b"".join(left[i:i + 2] + right[i:i + 2] for i in range(0, len(left), 2))
    found = results(hear(server, "channels=2&multichannel=true&endpointing=false", both))
    assert [(m["channel_index"], words(m)) for m in found] == [([0, 2], 5)]


@pytest.mark.covers("L-49")
def test_speakers_are_told_apart_on_request(server):
    found = results(hear(server, "diarize=true&endpointing=false", voice(2.4)))[0]
    assert {w["speaker"] for w in found["channel"]["alternatives"][0]["words"]} == {0, 1}


def test_a_wav_says_itself_what_it_is_and_what_is_no_audio_closes_the_socket(server):
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


def test_subq_greets_and_counts_otherwise(tmp_path):
    with running(tmp_path, "--ephemeral", "--listen-dialect", "subq") as server:
        messages = hear(server, "endpointing=300")
        refused = requests.post(
            f"{server.base_url}/v1/listen", data=voice(1), headers={"Authorization": "Bearer wrong"}, timeout=PATIENCE)
    assert refused.status_code == 401 and refused.json().keys() == {"error", "request_id"}
    assert messages[0]["type"] == "Metadata" and messages[0]["duration"] == 0
    assert any(not m["is_final"] for m in results(messages)), "interims are told unasked"
    assert all(m["channel_index"] == [0] for m in results(messages))


def test_a_stop_closes_sockets_with_1001(tmp_path):
    with running(tmp_path, "--ephemeral") as server:
        with Listener(server) as listener:
            listener.send(voice(1.0))
            server.stop()
            listener.end()
            assert listener.close[0] == 1001


def test_no_more_sockets_are_open_than_may_be(tmp_path):
    with running(tmp_path, "--ephemeral", "--listen-sockets", "2") as server:
        with Listener(server), Listener(server):
            with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
                Listener(server)
            assert refusal.value.response.status_code == 429

        def opens():
            try:
                with Listener(server):
                    return True
            except websockets.exceptions.InvalidStatus:
                return False

        wait_until(opens, "a place is given back")


def test_a_client_that_says_it_has_no_body_opens_a_socket(server):
    # As clients made with NIO do.
    with Listener(server, additional_headers={"Authorization": f"Token {KEY}", "Content-Length": "0"}) as listener:
        listener.send(SPEECH, "CloseStream")
        assert listener.end()[-1]["type"] == "Metadata"


def test_pages_of_other_origins_open_no_socket(server):
    with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
        Listener(server, origin="https://evil.example")
    assert refusal.value.response.status_code == 403
    with Listener(server, origin="http://localhost:3000"):
        pass


@pytest.mark.parametrize("bytes_sent, code", [
    (bytes([0x82, 0x01, 0x00]), 1002),  # without a mask
    (bytes([0xC2, 0x80, 0, 0, 0, 0]), 1002),  # with an extension
    (bytes([0x83, 0x80, 0, 0, 0, 0]), 1002),  # of no known kind
    (bytes([0x09, 0x80, 0, 0, 0, 0]), 1002),  # a ping in pieces
    (bytes([0x80, 0x80, 0, 0, 0, 0]), 1002),  # goes on without a beginning
    (bytes([0x82, 0xFF]) + b"\xff" * 8 + bytes(4), 1009),
    (bytes([0x81, 0x81, 0, 0, 0, 0, 0xFF]), 1007),
])
def test_frames_that_cannot_be_close_the_socket(server, bytes_sent, code):
    with Listener(server) as listener:
        listener.socket.socket.sendall(bytes_sent)
        listener.end()
        assert listener.close[0] == code


def test_a_client_that_never_reads_is_not_waited_for_by_others(server):
    with Listener(server, "interim_results=true", max_queue=1, close_timeout=0.1) as deaf:
        sender = threading.Thread(target=lambda: deaf.send(*[voice(1.0)] * 20), daemon=True)
        sender.start()
        assert results(hear(server, "endpointing=300"))


def environment(server):
    from deepgram.environment import DeepgramClientEnvironment

    http, ws = f"http://127.0.0.1:{server.port}", f"ws://127.0.0.1:{server.port}"
    return DeepgramClientEnvironment(base=http, production=ws, agent=ws, agent_rest=http)


@pytest.mark.covers("L-01", "L-34")
def test_the_deepgram_sdk_hears(server):
    from deepgram import DeepgramClient
    from deepgram.core.events import EventType
    from deepgram.listen.v1.types import ListenV1Metadata, ListenV1Results

    client = DeepgramClient(api_key=KEY, environment=environment(server))
    messages, ended = [], threading.Event()
    with client.listen.v1.connect(
        model="nova-3", encoding="linear16", sample_rate="16000", interim_results="true", endpointing="300",
    ) as connection:
        connection.on(EventType.MESSAGE, messages.append)
        connection.on(EventType.CLOSE, lambda _: ended.set())
        thread = threading.Thread(target=connection.start_listening, daemon=True)
        thread.start()
        connection.send_keep_alive()
        connection.send_media(SPEECH)
        connection.send_finalize()
        connection.send_close_stream()
        assert ended.wait(PATIENCE)
    finals = [m for m in messages if isinstance(m, ListenV1Results) and m.is_final]
    assert sum(len(m.channel.alternatives[0].words) for m in finals) == 10
    assert isinstance(messages[-1], ListenV1Metadata)
    for message in messages:
        type(message).model_validate(message.model_dump())


@pytest.mark.covers("L-02")
def test_the_deepgram_sdk_hears_asynchronously_with_a_token(server):
    from deepgram import AsyncDeepgramClient
    from deepgram.core.events import EventType

    async def run():
        client = AsyncDeepgramClient(access_token=KEY, environment=environment(server))
        messages = []
        async with client.listen.v1.connect(model="nova-3", encoding="linear16", sample_rate="16000") as connection:
            connection.on(EventType.MESSAGE, messages.append)
            task = asyncio.create_task(connection.start_listening())
            await connection.send_media(SPEECH)
            await connection.send_close_stream()
            await asyncio.wait_for(task, PATIENCE)
        return messages

    assert [m.type for m in asyncio.run(run())][-1] == "Metadata"


@pytest.mark.covers("L-05", "L-06")
def test_the_deepgram_sdk_is_told_of_a_wrong_key(server):
    from deepgram import DeepgramClient
    from deepgram.core.api_error import ApiError

    client = DeepgramClient(api_key="wrong", environment=environment(server))
    with pytest.raises((ApiError, websockets.exceptions.InvalidStatus)) as refusal:
        with client.listen.v1.connect(model="nova-3", encoding="linear16", sample_rate="16000"):
            pass
    assert "401" in str(refusal.value)


@pytest.mark.covers("L-50")
def test_the_deepgram_sdk_has_a_recording_recognised(server, tmp_path):
    from deepgram import DeepgramClient

    media = DeepgramClient(api_key=KEY, environment=environment(server)).listen.v1.media
    path = tmp_path / "visit.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(voice(8))
    recording = path.read_bytes()
    answer = media.transcribe_file(
        request=recording, model="nova-3", smart_format=True, diarize=True, utterances=True, paragraphs=True,
        language="en-IN")
    type(answer).model_validate(answer.model_dump())
    assert answer.metadata.sha256 == hashlib.sha256(recording).hexdigest() and answer.metadata.duration == 8
    [best] = answer.results.channels[0].alternatives
    assert best.transcript == " ".join(word.punctuated_word for word in best.words) and best.words[0].speaker == 0
    assert answer.results.utterances[0].transcript == best.transcript
    assert best.paragraphs.paragraphs[0].sentences
    samples = media.transcribe_file(request=voice(8), encoding="linear16", request_options={
        "additional_query_parameters": {"sample_rate": RATE}})
    [bare] = samples.results.channels[0].alternatives
    assert bare.transcript == " ".join(word.word for word in best.words) and not hasattr(bare.words[0], "punctuated_word")
    assert samples.metadata.sha256 == hashlib.sha256(voice(8)).hexdigest()


@pytest.mark.covers("L-51")
def test_the_deepgram_sdk_is_told_why_a_recording_is_refused(server):
    from deepgram import DeepgramClient
    from deepgram.core.api_error import ApiError

    def refusal(key, recording):
        media = DeepgramClient(api_key=key, environment=environment(server)).listen.v1.media
        with pytest.raises(ApiError) as refusal:
            media.transcribe_file(request=recording)
        assert refusal.value.headers["dg-error"] == refusal.value.body["err_msg"]
        return refusal.value.status_code, refusal.value.body["err_code"]

    assert refusal("wrong", voice(1)) == (401, "INVALID_AUTH")
    for broken in (b"", b"no audio at all", voice(1)):
        assert refusal(KEY, broken) == (400, "Bad Request")


def test_recordings_count_while_they_are_received(tmp_path):
    """Six of them, each within the quota, took six times as much of the disk."""
    with running(tmp_path, "--ephemeral", "--storage-quota", "200KB") as server, contextlib.ExitStack() as stack:
        head = (
            f"POST /v1/listen HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token {KEY}\r\nContent-Type: audio/wav\r\n"
            "Content-Length: {}\r\n\r\n")

        def post(size: int, body: bytes):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
            connection.sendall(head.format(size).encode() + body)
            return connection

        def answer(connection) -> http.client.HTTPResponse:
            response = http.client.HTTPResponse(connection)
            response.begin()
            return response

        def answered() -> list:
            return select.select(held, [], [], 0)[0]

        held = [post(60_000, b"x" * 30_000) for _ in range(6)]
        wait_until(lambda: len(answered()) == 3, "three are received, and the others refused")
        refused = answered()
        for connection in refused:
            response = answer(connection)
            assert (response.status, json.load(response)["err_code"]) == (402, "ASR_PAYMENT_REQUIRED")
        for connection in held:
            if connection not in refused:
                connection.sendall(b"x" * 30_000)
                assert answer(connection).status == 400, "it is no audio"
        assert answer(post(60_000, b"x" * 60_000)).status == 400, "they are gone"


class Place:
    """Holds a recording, leads elsewhere, and is told things."""

    def __init__(self, recording: bytes):
        place = self
        self.told = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                if self.path == "/moved":
                    self.send_response(302)
                    self.send_header("Location", "/visit.wav")
                    self.end_headers()
                elif self.path == "/visit.wav":
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(recording)))
                    self.end_headers()
                    self.wfile.write(recording)
                elif self.path == "/short":
                    self.send_response(200)
                    self.send_header("Content-Length", str(2 * len(recording)))
                    self.end_headers()
                    self.wfile.write(recording)
                else:
                    self.send_error(404)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                place.told.append((self.command, self.path, json.loads(body)))
                self.send_response(500 if self.path == "/broken" else 204)
                self.end_headers()

            do_PUT = do_POST

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://localhost:{self.server.server_port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@pytest.mark.covers("L-52", "L-53")
def test_the_deepgram_sdk_names_a_recording_and_whom_to_tell(server, tmp_path):
    from deepgram import DeepgramClient
    from deepgram.core.api_error import ApiError

    path = tmp_path / "visit.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(voice(6))
    media = DeepgramClient(api_key=KEY, environment=environment(server)).listen.v1.media
    with Place(path.read_bytes()) as place:
        answer = media.transcribe_url(url=f"{place.url}/visit.wav", punctuate=True)
        assert answer.metadata.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        accepted = media.transcribe_url(
            url=f"{place.url}/visit.wav", punctuate=True, callback=f"{place.url}/told?by=me", callback_method="PUT")
        [(method, address, told)] = wait_until(lambda: list(place.told), "the callback is called")
        assert (method, address) == ("PUT", "/told?by=me") and told["metadata"]["request_id"] == accepted.request_id
        assert told["results"] == answer.model_dump(exclude_none=True)["results"]

        def refusal(url, **options):
            with pytest.raises(ApiError) as refusal:
                media.transcribe_url(url=url, **options)
            assert refusal.value.status_code == 400
            return refusal.value.body["err_code"], refusal.value.body["err_msg"]

        for path, word in [("/moved", "302"), ("/nothing", "404"), ("/short", "in time")]:
            code, message = refusal(f"{place.url}{path}")
            assert code == "REMOTE_CONTENT_ERROR" and word in message
        # What is acknowledged is stored, and told until it is heard.
        accepted = media.transcribe_url(url=f"{place.url}/visit.wav", callback=f"{place.url}/broken")
        wait_until(lambda: len(place.told) == 2, "the callback is called")

        def delivery():
            answer = requests.get(f"{server.base_url}/__admin/deliveries?session_id={accepted.request_id}").json()
            [delivery] = answer["deliveries"]
            return delivery if "problem" in delivery else None

        waiting = wait_until(delivery, "the answer is written down")
        assert waiting["problem"] == "answered 500" and waiting["state"] == "pending" and "message" not in waiting
        code, message = refusal(f"{place.url}/visit.wav", callback="http://10.0.0.1/")
        assert code == "REMOTE_CONTENT_ERROR" and "outbound-allow" in message
    for url in ("http://169.254.169.254/", "http://10.0.0.1/"):
        assert "outbound-allow" in refusal(url)[1]
    for url in ("http://no-such-host.invalid/", "http://127.0.0.1:81/"):
        assert refusal(url)[0] == "REMOTE_CONTENT_ERROR"
    for url in ("", "visit.wav", "file:///etc/passwd"):
        assert refusal(url) [0] == "Bad Request"


def test_this_server_is_a_recogniser_for_another(server, tmp_path):
    with running(
        tmp_path, "--ephemeral", "--transcriber", f"deepgram:{server.base_url}",
        environment={"SCRIBE_STT_KEY": KEY},
    ) as other:
        header = {"Authorization": f"Token {KEY}"}
        query = {"encoding": "linear16", "sample_rate": RATE, "punctuate": "true"}
        texts = [
            requests.post(f"{each.base_url}/v1/listen", params=query, data=voice(5), headers=header, timeout=PATIENCE)
            .json()["results"]["channels"][0]["alternatives"][0]["transcript"] for each in (server, other)
        ]
    assert texts[0] and texts[0] == texts[1]


def test_the_examples_of_the_document_fit_it():
    for name, message in DOCUMENT["components"]["messages"].items():
        for example in message.get("examples", []):
            payload = example["payload"]
            schema = {"$ref": message["payload"]["$ref"], "components": DOCUMENT["components"]}
            jsonschema.Draft202012Validator(schema).validate(payload)


def test_the_document_is_served(server):
    answer = requests.get(f"{server.base_url}/listen.asyncapi.yaml")
    assert answer.status_code == 200 and yaml.safe_load(answer.text) == DOCUMENT
