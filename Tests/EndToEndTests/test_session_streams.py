"""Sessions of the session protocol whose audio is streamed."""

import io
import wave

import pytest
import speech
from emulator import PATIENCE, wait_until
from namespaces import AllianceClient, access, control
from namespaces import created as made
from session_client import SessionClient, form_of, recording, send
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect


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
def test_closing_a_socket_starts_no_processing_and_another_socket_continues(server):
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


def test_audio_buffered_by_a_socket_is_stored_at_the_end_and_before_the_next_sockets_audio(server):
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


@pytest.mark.covers("M-64")
@pytest.mark.parametrize("way", ["stopped", "open", "half closed"])
def test_audio_that_was_sent_before_the_end_counts_although_its_socket_is_open(server, way):
    client = SessionClient(server.base_url)
    audio = recording(3)[44:]
    for _ in range(5):
        created = client.create(upload_type="stream")
        with connect(created["upload_url"], max_size=None) as socket:
            socket.send(audio)
            if way == "stopped":
                socket.send('{"event":"stop"}')
            elif way == "half closed":
                socket.socket.shutdown(1)
            assert client.end(created["session_id"], 0) is None
            if way == "open":
                with pytest.raises(ConnectionClosed) as closed:
                    socket.recv(timeout=PATIENCE)
                assert closed.value.rcvd.code == 1000
        assert client.results(created["session_id"])["audio_files"] == ["1.wav"]


@pytest.mark.parametrize("way", ["cancelled", "expired"])
def test_a_socket_closes_when_its_session_takes_no_more_audio(server, way):
    inside = access(server, made(server), "prefix")
    client = AllianceClient(inside)
    created = client.create(upload_type="stream")
    with connect(created["upload_url"], max_size=None) as socket:
        socket.send(recording(2)[44:])
        socket.ping().wait(10)
        if way == "cancelled":
            client.call("PATCH", f"/sessions/{created['session_id']}", (200,), json={"user_status": "cancelled"})
        else:
            place = {"namespace": inside.name}
            control(server, "POST", "clock/advance", params=place, json={"by": "181m"}).raise_for_status()
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=PATIENCE)
    assert closed.value.rcvd.code == 1008


def test_a_text_that_is_no_json_closes_the_socket_and_keeps_the_earlier_audio(server):
    client = SessionClient(server.base_url)
    created = client.create(upload_type="stream")
    with connect(created["upload_url"], max_size=None) as socket:
        socket.send(recording(2)[44:])
        socket.send("no JSON")
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=PATIENCE)
    assert closed.value.rcvd.code == 1007
    assert client.call("GET", f"/sessions/{created['session_id']}", (202,)).json()["audio_files"] == ["1.wav"]


@pytest.mark.parametrize("style", ["chunked", "stream"])
def test_a_silent_session_has_no_text_unless_a_fixture_gives_it(server, style):
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
    problem = "No speech found: the audio is silent; for a transcript of silent test audio use fixture:follow-up"
    assert problem in str(silent)
    spoken = finished(additional_data={"fixture": "fixture:follow-up"})
    assert spoken["status"] == "completed" and spoken["transcript"]


@pytest.mark.parametrize("style, files", [("chunked", 4), ("single", 1), ("stream", 3)])
def test_a_real_recogniser_returns_every_word_of_a_session_once_and_in_order(
        listening, tmp_path, spoken, sentences, style, files):
    client = SessionClient(listening.base_url)
    if style == "stream":
        session = client.stream(spoken.tobytes(), templates=["clinical_notes_template"])
    else:
        session = client.create(upload_type=style, templates=["clinical_notes_template"])["session_id"]
        # Cuts within pauses, because a recogniser cannot tell half a word. Files of a session do not overlap.
        ends = [end - speech.OVERLAP / 2 for _, end in speech.cut_in_pauses(spoken)[:-1]]
        ends = [int(end * speech.RATE) for end in ends] if style == "chunked" else []
        for index, (begin, end) in enumerate(zip([0, *ends], [*ends, len(spoken)])):
            path = speech.encode(spoken[begin:end], tmp_path / f"{index}.wav")
            client.upload(session, index, path.read_bytes())
        client.end(session, index + 1)
    results = client.results(session)
    assert results["status"] == "completed" and len(results["audio_files"]) == files, results
    assert results["transcript"].split() == " ".join(sentences).split()
