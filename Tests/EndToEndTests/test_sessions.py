"""Sessions over the wire: the clients' sequences, in all three styles of upload, and what goes wrong."""

import concurrent.futures
import io
import random
import threading
import time
import wave

import pytest
import requests
from conftest import DEMO, PATIENCE, Server, running, wait_until
from session_client import SessionClient
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect


def recording(seconds: float, seed=1) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as audio:
        audio.setparams((1, 2, 16_000, 0, "NONE", ""))
        audio.writeframes(random.Random(seed).randbytes(int(32_000 * seconds)))
    return file.getvalue()


@pytest.mark.covers("M-24", "M-30", "M-37", "M-45", "M-51")
def test_the_python_sdks_sequence(server):
    client = SessionClient(server.base_url)
    session = client.create(templates=["soap"], language_hint=["auto_detect"])["session_id"]
    for index in range(11):
        client.upload(session, index, recording(1, index))
    client.end(session, 11)
    results = client.results(session)
    assert results["status"] == "completed" and results["transcript"]
    assert results["audio_files"] == [f"{index}.wav" for index in range(11)]
    made = client.call("POST", f"/sessions/{session}/process/template/soap", (200, 202)).json()
    assert made["document_id"] in str(client.results(session)["templates"])
    patched = client.call("PATCH", f"/sessions/{session}", (200,), json={"additional_data": {"a": 1}}).json()
    assert patched["session_id"] == session
    ended = client.call("POST", f"/sessions/{session}/end", (400,), json={"audio_files_sent": 11}).json()
    assert ended["error"]["code"] == "session_ended"


@pytest.mark.covers("M-17", "M-18", "M-34", "M-35", "M-38")
def test_the_web_sdks_sequence(server):
    """Discovery, create with a flavour, presigned forms without a token, end with both counters, poll."""
    client = SessionClient(server.base_url)
    client.session.headers.update({"flavour": "ekascribe-web", "client-id": "web"})
    body = {"upload_type": "chunked", "templates": ["clinical_notes_template"], "model": "pro", "language_hint": ["en"]}
    created = client.call("POST", "/sessions?version=v2", (201,), json=body).json()
    link = created["upload_url"]
    assert created["storage_provider"] == "aws" and link["txn_id"] == created["session_id"]
    for number in (1, 2):
        if number == 2:
            # After a failed upload it asks for a fresh form.
            link = client.call("GET", f"/sessions/{created['session_id']}?version=v2", (202,)).json()["upload_url"]
        fields = {**link["uploadData"]["fields"]}
        assert fields["key"].endswith("${filename}") and all(isinstance(value, str) for value in fields.values())
        fields["key"] = fields["key"].replace("${filename}", f"{number}.mp3")
        fields["Content-Type"] = "audio/mp3"
        files = {"file": (f"{number}.mp3", recording(2, number), "audio/mp3")}
        answer = requests.post(link["uploadData"]["url"], data=fields, files=files)
        assert answer.status_code == 204 and answer.text == ""
    counters = {"audio_files_sent": 2, "audio_files_uploaded": 2}
    ended = client.call("POST", f"/sessions/{created['session_id']}/end", (202,), json=counters).json()
    assert ended["audio_files"] == ["1.mp3", "2.mp3"] and ended["audio_files_received"] == 2 and ended["message"]
    results = client.results(created["session_id"])
    assert results["status"] == "completed" and list(results["templates"][0]) == ["clinical_notes_template"]
    fields["key"] = fields["key"].replace("2.mp3", "3.mp3")
    late = requests.post(link["uploadData"]["url"], data=fields, files={"file": ("3.mp3", b"late", "audio/mp3")})
    assert late.status_code >= 400


@pytest.mark.covers("M-57", "M-58", "M-59", "M-60", "M-61", "M-62", "M-64")
@pytest.mark.parametrize("envelope", [False, True])
@pytest.mark.parametrize("piece", [999, 64_000, 2 << 20])
def test_a_stream_is_in_the_session_before_it_ends(server, envelope, piece):
    client = SessionClient(server.base_url)
    audio = recording(45)[44:]
    session = client.stream(audio, envelope, piece, templates=["soap"])
    results = client.results(session)
    assert results["status"] == "completed" and results["transcript"]
    # Cut where it is quietest, and nothing of it lost.
    assert len(results["audio_files"]) >= 3
    s3 = server.client().s3()
    bodies = [
        s3.get_object(Bucket="m-prod-ekascribe-batch", Key=f"sessions/{session}/{name}")["Body"].read()
        for name in results["audio_files"]
    ]
    assert b"".join(body[44:] for body in bodies) == audio


@pytest.mark.covers("M-63")
def test_a_socket_that_closes_starts_nothing_and_another_goes_on(server):
    client = SessionClient(server.base_url)
    created = client.create(upload_type="stream")
    session, url = created["session_id"], created["upload_url"]
    client.send(url, recording(3)[44:], stops=False)
    wait_until(lambda: client.call("GET", f"/sessions/{session}", (202,)).json()["audio_files"], "the audio is kept")
    assert client.call("GET", f"/sessions/{session}", (202,)).json()["status"] == "initialized"
    client.send(url, recording(3, 2)[44:])
    read = client.call("GET", f"/sessions/{session}", (202,)).json()
    assert read["audio_files"] == ["1.wav", "2.wav"] and read["status"] == "initialized"
    client.end(session, 0)
    assert client.results(session)["status"] == "completed"
    with pytest.raises(InvalidStatus) as refused:
        connect(url)
    assert refused.value.response.status_code == 400
    with pytest.raises(InvalidStatus) as refused:
        connect(url.replace("/sessions/", "/sessions/x"))
    assert refused.value.response.status_code == 403


def test_what_a_socket_holds_counts_when_the_session_ends_and_comes_before_the_next_socket(server):
    client = SessionClient(server.base_url)
    created = client.create(upload_type="stream")
    session, url = created["session_id"], created["upload_url"]
    first, second = recording(5)[44:], recording(6, 2)[44:]
    with connect(url, max_size=None) as old:
        old.send(first)
        old.ping().wait(10)
        with connect(url, max_size=None) as new:
            new.send(second)
            new.ping().wait(10)
            # Both are open still.
            client.end(session, 0)
    results = client.results(session)
    assert results["status"] == "completed" and results["audio_files"] == ["1.wav", "2.wav"]
    s3 = server.client().s3()
    bodies = [
        s3.get_object(Bucket="m-prod-ekascribe-batch", Key=f"sessions/{session}/{name}")["Body"].read()[44:]
        for name in results["audio_files"]
    ]
    assert bodies == [first, second]


def test_what_was_streamed_survives_a_stop(tmp_path):
    with running(tmp_path, "--data-dir", "data") as server:
        client = SessionClient(server.base_url)
        created = client.create(upload_type="stream")
        socket = connect(created["upload_url"], max_size=None)
        socket.send(recording(8)[44:])
        socket.ping().wait(10)
    with running(tmp_path, "--data-dir", "data") as again:
        client.base = client.base.replace(server.base_url, again.base_url)
        assert client.call("GET", f"/sessions/{created['session_id']}", (202,)).json()["audio_files"] == ["1.wav"]


def test_what_is_no_audio_closes_the_socket_and_keeps_what_came(server):
    client = SessionClient(server.base_url)
    created = client.create(upload_type="stream")
    with connect(created["upload_url"], max_size=None) as socket:
        socket.send(recording(2)[44:])
        socket.send("no JSON")
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=PATIENCE)
    assert closed.value.rcvd.code == 1007
    assert client.call("GET", f"/sessions/{created['session_id']}", (202,)).json()["audio_files"] == ["1.wav"]


@pytest.mark.covers("M-31", "M-40")
def test_two_ends_at_once_and_uploads_beside_them(server):
    client = SessionClient(server.base_url)
    session = client.create()["session_id"]
    url = f"{client.base}/sessions/{session}"
    kept = []

    def upload(index):
        answer = client.session.post(f"{url}/audio/{index}.wav", data=recording(1, index), headers={"Content-Type": "audio/wav"})
        if answer.status_code == 200:
            kept.append(f"{index}.wav")
        else:
            assert answer.status_code == 400 and answer.json()["error"]["code"].startswith("session_"), answer.text

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        uploads = [pool.submit(upload, index) for index in range(20)]
        ends = [pool.submit(client.session.post, f"{url}/end") for _ in range(4)]
        statuses = sorted(end.result().status_code for end in ends)
        [each.result() for each in uploads]
    assert statuses == [202, 400, 400, 400]
    # Whatever was acknowledged is processed, and nothing else.
    assert sorted(client.results(session)["audio_files"]) == sorted(kept)


def test_expiry_in_the_middle_of_an_upload(tmp_path):
    with running(tmp_path, "--ephemeral", "--session-lifetime", "2s", "--webhook-pauses", "") as server:
        client = SessionClient(server.base_url)
        client.call("POST", "/webhooks", (201,), json={"url": "inbox", "events": ["session.started", "session.expired"]})
        created = client.create()
        session = created["session_id"]
        begun, deadline = threading.Event(), time.time() + 60

        def body():
            yield recording(1)[:2000]
            begun.set()
            while client.call("GET", f"/sessions/{session}", (202, 410)).status_code == 202:
                assert time.time() < deadline
                time.sleep(0.1)
            yield b"late"

        answer = requests.post(
            f"{client.base}/sessions/{session}/audio/1.wav", data=body(),
            headers={**client.session.headers, "Content-Type": "audio/wav"})
        assert answer.status_code == 410 and answer.json()["error"]["code"] == "session_expired"
        expired = client.results(session)
        assert expired["status"] == "expired" and expired["templates"] == [] and expired["audio_files"] == []
        deliveries = lambda: requests.get(f"{server.base_url}/__admin/deliveries?session_id={session}").json()["deliveries"]
        wait_until(lambda: len(deliveries()) == 2, "its end is told")
        assert [each["event"] for each in deliveries()] == ["session.expired", "session.started"]


def test_nothing_acknowledged_is_lost_by_a_kill(tmp_path):
    server = Server(tmp_path, "--data-dir", "data")
    client = SessionClient(server.base_url)
    chunked, streamed = client.create(templates=["soap"])["session_id"], client.create(upload_type="stream")
    for index in range(3):
        client.upload(chunked, index, recording(1, index))
    client.send(streamed["upload_url"], recording(25)[44:])
    client.end(chunked, 3)
    server.kill()
    with running(tmp_path, "--data-dir", "data") as again:
        client.base = client.base.replace(server.base_url, again.base_url)
        results = client.results(chunked)
        assert results["status"] == "completed" and len(results["audio_files"]) == 3
        client.end(streamed["session_id"], 0)
        assert len(client.results(streamed["session_id"])["audio_files"]) == 2


def test_links_follow_the_public_url_and_trusted_proxies_only(tmp_path):
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "scribe.example"}

    def discovered(server) -> str:
        url = f"{server.base_url}/voice/v1/.well-known/medscribealliance"
        return requests.get(url, headers=forwarded).json()["endpoints"]["base_url"]

    with running(tmp_path, "--ephemeral") as server:
        assert discovered(server) == f"{server.base_url}/voice/v1"
    with running(tmp_path, "--ephemeral", "--trusted-proxies", "127.0.0.0/8") as server:
        assert discovered(server) == "https://scribe.example/voice/v1"
    with running(tmp_path, "--ephemeral", "--public-url", "https://public.example/") as server:
        assert discovered(server) == "https://public.example/voice/v1"


def form_of(client: SessionClient, **options) -> tuple[str, dict]:
    """A session as the web SDK creates one, and the form that it is given for its audio."""
    body = {"upload_type": "chunked", "templates": ["soap"], "language_hint": ["en"], **options}
    created = client.call("POST", "/sessions?version=v2", (201,), json=body).json()
    return created["session_id"], created["upload_url"]["uploadData"]


def send(form: dict, name: str, audio: bytes) -> requests.Response:
    """Exactly as the form was given: the key is still the folder with `${filename}`."""
    return requests.post(form["url"], data=form["fields"], files={"file": (name, audio, "audio/wav")})


@pytest.mark.covers("M-30", "M-77")
def test_audio_counts_under_whatever_name_a_form_gives_it(server):
    client = SessionClient(server.base_url)
    session, form = form_of(client)
    # By the number before the last dot, then by name; what has none comes last.
    ordered = [
        "chunk_0.wav", "audio_2.mp3", "take3_a.wav", "8_b.wav", "9.wav", "a9.5_10.mp3", "b_10.wav", "again.webm", "visit.wav",
    ]
    others = ["info.json", "9.json", "full.m4a_"]
    for name in reversed(ordered + others):
        assert send(form, name, recording(1, len(name))).status_code == 204
    ended = client.call("POST", f"/sessions/{session}/end", (202,), json={"audio_files_sent": len(ordered)}).json()
    assert ended["audio_files"] == ordered and ended["audio_files_received"] == len(ordered)
    results = client.results(session)
    assert results["status"] == "completed" and results["transcript"]
    assert results["audio_files"] == ordered and results["audio_files_processed"] == len(ordered)


@pytest.mark.covers("M-30")
def test_a_session_of_one_chunk_numbered_0_lacks_nothing(server):
    client = SessionClient(server.base_url)

    def finished(*numbers: int) -> str:
        session, form = form_of(client)
        for number in numbers:
            assert send(form, f"{number}.wav", recording(1, number)).status_code == 204
        client.end(session, len(numbers))
        return str(client.results(session))

    for whole in ((0,), (0, 1, 2), (1, 2)):
        assert "Chunks were not committed" not in finished(*whole), whole
    assert "Chunks were not committed: 1, 2'" in finished(0, 3)
    assert "Chunks were not committed: 1'" in finished(2)


@pytest.mark.parametrize("style", ["chunked", "stream"])
def test_a_silent_session_says_nothing_unless_a_fixture_speaks_for_it(server, style):
    client = SessionClient(server.base_url)
    file = io.BytesIO()
    with wave.open(file, "wb") as audio:
        audio.setparams((1, 2, 16_000, 0, "NONE", ""))
        audio.writeframes(bytes(32_000 * 3))

    def finished(**options) -> dict:
        if style == "stream":
            return client.results(client.stream(bytes(32_000 * 3), templates=["soap"], **options))
        session, form = form_of(client, **options)
        assert send(form, "1.wav", file.getvalue()).status_code == 204
        client.end(session, 1)
        return client.results(session)

    silent = finished()
    assert silent["status"] == "failed" and not silent["transcript"]
    assert "No speech found: the audio is silent; for a transcript of silent test audio use fixture:follow-up" in str(silent)
    spoken = finished(additional_data={"fixture": "fixture:follow-up"})
    assert spoken["status"] == "completed" and spoken["transcript"]


@pytest.mark.covers("M-23")
@pytest.mark.parametrize("headers", [
    {}, {"flavour": "ekascribe-web"}, {"flavour": "web"}, {"flavour": "ScribeIOS"}, {"flavour": "ios"}, {"flavour": "android"},
    {"User-Agent": "okhttp/4.12.0"}, {"User-Agent": "EkaCare-DotNet-SDK"}, {"User-Agent": "something else"},
], ids=str)
def test_a_used_up_quota_is_400_to_whoever_asks(server, headers):
    """Not 429: the web SDK takes that for a rate limit before it reads the code."""
    client = SessionClient(server.base_url, "dev-limited", "dev-limited-secret")
    refused = client.call("POST", "/sessions", (400,), json={"upload_type": "chunked"}, headers=headers).json()
    assert refused["error"]["code"] == "txn_limit_exceeded" and refused["error"]["message"]


@pytest.mark.covers("M-78")
def test_used_up_storage_is_told_at_uploads_and_before_anything_is_recorded(tmp_path):
    with running(tmp_path, "--ephemeral", "--storage-quota", "200KB") as server:
        client = SessionClient(server.base_url)
        session = client.create()["session_id"]
        noise = random.Random(1).randbytes(1 << 18)
        refusals = 0
        # By halves, so that not a byte is left at the end.
        for index in range(19):
            path = f"/sessions/{session}/audio/chunk_{index}.wav"
            answer = client.call("POST", path, (200, 400), data=noise[:1 << 18 - index], headers={"Content-Type": "audio/wav"})
            if answer.status_code == 400:
                assert answer.json()["error"]["code"] == "storage_limit_exceeded"
                refusals += 1
        assert 0 < refusals < 19
        refused = client.call("POST", "/sessions", (400,), json={"upload_type": "chunked"}).json()
        assert refused["error"]["code"] == "storage_limit_exceeded" and refused["error"]["message"]


@pytest.mark.covers("M-22")
def test_a_template_that_was_deleted_is_unknown(server):
    client = SessionClient(server.base_url)
    templates = f"{server.base_url}/voice/api/v1/template"
    made = client.session.post(templates, json={"title": "Cough", "section_ids": ["chief_complaints"]})
    own = made.json()["template_id"]
    assert made.status_code == 201
    client.create(templates=[own])
    assert client.session.delete(f"{templates}/{own}").ok
    refused = client.call("POST", "/sessions", (400,), json={"upload_type": "chunked", "templates": [own]}).json()
    assert refused["error"]["code"] == "invalid_template"


@pytest.mark.parametrize("style", ["chunked", "single", "stream"])
def test_real_speech_through_a_real_recogniser(tmp_path, spoken, style):
    flags = ("--transcriber", f"command:{DEMO / 'recognise.sh'} {{wav}}", "--ephemeral")
    with running(tmp_path, *flags) as server:
        client = SessionClient(server.base_url)
        samples = spoken.tobytes() if hasattr(spoken, "tobytes") else bytes(spoken)
        if style == "stream":
            session = client.stream(samples, templates=["clinical_notes_template"])
        else:
            session = client.create(upload_type=style, templates=["clinical_notes_template"])["session_id"]
            size = len(samples) if style == "single" else 32_000 * 15
            for index, begin in enumerate(range(0, len(samples), size)):
                file = io.BytesIO()
                with wave.open(file, "wb") as audio:
                    audio.setparams((1, 2, 16_000, 0, "NONE", ""))
                    audio.writeframes(samples[begin:begin + size])
                client.upload(session, index, file.getvalue())
            client.end(session, index + 1)
        results = client.results(session)
        assert results["status"] in ("completed", "partial"), results
        words = results["transcript"].lower()
        assert sum(word in words for word in ("doctor", "fever", "blood", "pressure", "cough", "days", "pain")) >= 3, words
