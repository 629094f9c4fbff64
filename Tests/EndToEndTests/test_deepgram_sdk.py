"""Live recognition and recordings, driven by Deepgram's own SDK."""

import asyncio
import contextlib
import hashlib
import http.client
import json
import pathlib
import select
import socket
import subprocess
import threading
import wave

import pytest
import requests
import websockets.exceptions
from emulator import LIMITED, PATIENCE, wait_until
from http_recorder import Answer, HTTPRecorder, Request
from listen_client import KEY, RATE, SPEECH, environment, voice

#: Python with an older major of the SDK.
OLDER = pathlib.Path(__file__).resolve().parents[2] / ".venv/ekacare/bin/python"


@pytest.mark.covers("L-01", "L-34")
def test_the_deepgram_sdk_gets_live_results(server):
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
def test_the_asynchronous_deepgram_sdk_gets_live_results_with_a_token(server):
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
def test_the_deepgram_sdk_gets_an_error_for_a_wrong_key(server):
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
    assert (
        bare.transcript == " ".join(word.word for word in best.words)
        and not hasattr(bare.words[0], "punctuated_word"))
    assert samples.metadata.sha256 == hashlib.sha256(voice(8)).hexdigest()


@pytest.mark.covers("L-51")
def test_the_deepgram_sdk_gets_the_reason_for_a_refused_recording(server):
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


def test_recordings_count_while_they_are_received(served):
    """Six of them, each within the quota, took six times as much of the disk."""
    server = served(*LIMITED)
    # Recordings of another file's tests.
    requests.post(f"{server.base_url}/__admin/reset", timeout=PATIENCE).raise_for_status()
    with contextlib.ExitStack() as stack:
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


def place(recording: bytes) -> HTTPRecorder:
    """Service that holds a recording, redirects to it, cuts it off, and receives callbacks."""
    def answer(request: Request) -> Answer:
        if request.method in ("POST", "PUT"):
            return Answer(500 if request.path == "/broken" else 204)
        if request.path == "/moved":
            return Answer(302, headers={"Location": "/visit.wav"})
        if request.path == "/visit.wav":
            return Answer(200, recording, None)
        if request.path == "/short":
            return Answer(200, recording, None, length=2 * len(recording))
        return Answer(404, "nothing here")

    return HTTPRecorder(answer, host="localhost", version="HTTP/1.0")


@pytest.mark.covers("L-52", "L-53")
def test_the_deepgram_sdk_sends_the_url_of_a_recording_and_a_callback_address(server, tmp_path):
    from deepgram import DeepgramClient
    from deepgram.core.api_error import ApiError

    path = tmp_path / "visit.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(voice(6))
    media = DeepgramClient(api_key=KEY, environment=environment(server)).listen.v1.media
    with place(path.read_bytes()) as service:
        def callbacks() -> list[Request]:
            return [request for request in service.requests if request.method in ("POST", "PUT")]

        answer = media.transcribe_url(url=f"{service.url}/visit.wav", punctuate=True)
        assert answer.metadata.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        accepted = media.transcribe_url(
            url=f"{service.url}/visit.wav", punctuate=True, callback=f"{service.url}/told?by=me", callback_method="PUT")
        [callback] = wait_until(callbacks, "the callback is called")
        assert (callback.method, callback.path) == ("PUT", "/told?by=me")
        told = callback.json
        assert told["metadata"]["request_id"] == accepted.request_id
        assert told["results"] == answer.model_dump(exclude_none=True)["results"]

        def refusal(url, **options):
            with pytest.raises(ApiError) as refusal:
                media.transcribe_url(url=url, **options)
            assert refusal.value.status_code == 400
            return refusal.value.body["err_code"], refusal.value.body["err_msg"]

        for path, word in [("/moved", "302"), ("/nothing", "404"), ("/short", "in time")]:
            code, message = refusal(f"{service.url}{path}")
            assert code == "REMOTE_CONTENT_ERROR" and word in message
        # What is acknowledged is stored, and told until it is heard.
        accepted = media.transcribe_url(url=f"{service.url}/visit.wav", callback=f"{service.url}/broken")
        wait_until(lambda: len(callbacks()) == 2, "the callback is called")

        def delivery():
            answer = requests.get(f"{server.base_url}/__admin/deliveries?session_id={accepted.request_id}").json()
            [delivery] = answer["deliveries"]
            return delivery if "problem" in delivery else None

        waiting = wait_until(delivery, "the answer is written down")
        assert waiting["problem"] == "answered 500" and waiting["state"] == "pending" and "message" not in waiting
        code, message = refusal(f"{service.url}/visit.wav", callback="http://10.0.0.1/")
        assert code == "REMOTE_CONTENT_ERROR" and "outbound-allow" in message
    for url in ("http://169.254.169.254/", "http://10.0.0.1/"):
        assert "outbound-allow" in refusal(url)[1]
    for url in ("http://no-such-host.invalid/", "http://127.0.0.1:81/"):
        assert refusal(url)[0] == "REMOTE_CONTENT_ERROR"
    for url in ("", "visit.wav", "file:///etc/passwd"):
        assert refusal(url) [0] == "Bad Request"


def test_a_fault_rule_of_webhooks_applies_to_a_callback(server):
    control = f"{server.base_url}/__admin/faults"
    with place(b"") as service:
        for rule, count in (({"event": "callback", "twice": True}, 2), ({"wrong_signature": True}, 1)):
            requests.post(f"{control}/next", json={"operation": "webhook", **rule}).raise_for_status()
            told = f"{service.url}/{count}"
            accepted = requests.post(
                f"{server.base_url}/v1/listen?encoding=linear16&sample_rate={RATE}&callback={told}", data=voice(1),
                headers={"Authorization": f"Token {KEY}"})
            assert accepted.status_code == 200, accepted.text
            wait_until(lambda: sum(each.path == f"/{count}" for each in service.requests) == count, "it is told")
        assert [each["applied"] for each in requests.get(control).json()["faults"]] == [1, 0]
        requests.delete(control).raise_for_status()


def test_an_older_major_of_the_deepgram_sdk_hears_the_same(server, tmp_path):
    with wave.open(str(tmp_path / "speech.wav"), "wb") as recording:
        recording.setparams((1, 2, RATE, 0, "NONE", ""))
        recording.writeframes(SPEECH)
    script = pathlib.Path(__file__).with_name("older_deepgram.py")
    done = subprocess.run(
        [OLDER, script, server.base_url, tmp_path / "speech.wav", KEY], capture_output=True, timeout=PATIENCE,
        text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["recorded"]["transcript"]
    assert told["recorded"]["extra"] == {"visit": "7"} and told["recorded"]["warnings"] == ["search"]
    assert told["live"]["started"] and told["live"]["words"] == 10 and told["live"]["metadata"]
    assert told["refused"] is False
