"""Suki's ambient sessions, driven by a client that was written from the vendor's pages alone (suki_client.py)."""

import base64
import json
import subprocess
import sys
import uuid

import jsonschema
import pytest
import requests
from ambient_samples import START, later, samples
from emulator import PATIENCE, ROOT
from schemas import document
from suki_client import SukiClient
from suki_offline import Offline
from suki_results import LOINC

MESSAGES = document("ambient.asyncapi.yaml")["components"]["messages"]


@pytest.fixture
def client(ambient):
    client = SukiClient(ambient.base_url, subject=f"dr-{uuid.uuid4()}")
    client.initialize()
    return client


@pytest.mark.covers("U-01", "U-05", "U-09", "U-14", "U-15", "U-22", "U-24", "U-25", "U-26", "U-27", "U-33")
@pytest.mark.parametrize("headers", [True, False])
def test_a_streamed_visit_becomes_a_note(client, headers):
    session = client.create_session(multilingual=True)
    client.set_session_context(session, {"patient": {"dob": "1979-02-28", "sex": "FEMALE"}})
    context = client.set_session_context(
        session,
        {
            "provider": {"specialty": "CARDIOLOGY"}, "sections": [{"loinc": code} for code in LOINC],
            "diagnoses": {"values": [{"codes": [{"type": "ICD-10", "code": "I10", "description": "Hypertension"}]}]},
        },
    )
    assert context["patient"] == {"dob": "1979-02-28", "sex": "female"}
    assert client.status(session) == "created"
    pcm = samples(160)
    with client.start(session, START, headers=headers) as stream:
        stream.audio(pcm[: 32_000 * 90])
        stream.pause()
        stream.keep_alive()
        stream.resume()
        stream.audio(pcm[32_000 * 90 :])
        stream.finish()
    assert client.status(session) == "running"
    client.end(session)
    client.end(session)
    assert client.wait(session) == "completed"
    content = client.content(session)
    assert {"48765-2", "10160-0", "8716-3"} <= {item.loinc_code for item in content}
    transcript = client.transcript(session)
    spoken = " ".join(item.transcript for item in transcript)
    for item in content:
        assert item.content and item.source_transcripts
        assert all(source.rstrip(".") in spoken for source in item.source_transcripts)
    assert transcript[-1].end_offset.total <= 160 * 10**9
    assert ("ICD10", "I10", "Hypertension") in [code for each in client.structured_data(session) for code in each.codes]
    (recording,) = client.recordings(session)
    assert client.fetch(recording).content[44:] == pcm
    assert client.fetch(recording, byte_range="40-143").content[4:] == pcm[:100]
    assert client.submit_feedback(session, 5, comments="Alles da")
    # What is cleared is cleared on the device.
    assert client.content(session) == content


@pytest.mark.covers("U-20", "U-30", "U-31", "U-32")
def test_stretches_sent_out_of_order_and_twice_give_the_same_transcript_as_in_order(client):
    pieces = [samples(30, seed) for seed in (1, 2, 3)]
    whole = client.create_session()
    with client.start(whole, START) as stream:
        stream.audio(b"".join(pieces))
        stream.finish()
    client.end(whole)
    assert client.wait(whole) == "completed"
    session = client.create_session()
    for index in (2, 0, 2, 1):
        with client.start(session, later(30 * index)) as stream:
            stream.audio(pieces[index])
            stream.finish()
    client.end(session)
    client.end(session)
    assert client.wait(session) == "completed"
    recordings = client.recordings(session)
    assert [client.fetch(each).content[44:] for each in recordings] == pieces
    transcript = client.transcript(session)
    assert list(dict.fromkeys(each.recording_id for each in transcript)) == [each.recording_id for each in recordings]
    assert [each.start_offset for each in transcript] == sorted(each.start_offset for each in transcript)
    assert transcript[0].start_time.startswith("2026-05-10T09:12:33.123")
    # The fake says what it says by the number of the chunk, and so the same of both,
    # as far as the pieces are cut alike.
    assert transcript[0].transcript == client.transcript(whole)[0].transcript


@pytest.mark.covers("U-21", "U-36")
def test_a_silent_session_is_skipped_unless_a_fixture_gives_its_text(client):
    def finished(**options):
        session = client.create_session(**options)
        with client.start(session, START) as stream:
            stream.audio(bytes(32_000 * 65))
            stream.finish()
        client.end(session)
        return session, client.wait(session)

    silent, status = finished()
    assert status == "skipped"
    assert client.content(silent) == [] and client.transcript(silent) == []
    spoken, status = finished(encounter_id="fixture:follow-up")
    assert status == "completed"
    assert client.content(spoken) and client.transcript(spoken)


@pytest.mark.covers("U-30")
def test_each_session_recorded_offline_is_finished(client):
    offline = Offline()
    sections = {"sections": [{"loinc": "10164-2"}]}
    ids = [
        offline.record(
            [(later(-86_400 * day), samples(20, day)), (later(60 - 86_400 * day), samples(5, day))], sections)
        for day in (3, 2, 1)
    ]
    assert sorted(offline.upload(client, keep=True)) == sorted(ids)
    for session in ids:
        assert client.wait(session) == "completed"
        assert [item.loinc_code for item in client.content(session)] == ["10164-2"]
        assert len(client.recordings(session)) == 2
    # Again, because nobody told the device.
    offline.upload(client)
    assert all(client.status(session) == "completed" for session in ids)


@pytest.mark.covers("U-18", "U-19", "U-20")
def test_a_dropped_stream_can_continue_abort_ends_the_stream_and_cancel_ends_the_session(client):
    session = client.create_session()
    with client.start(session, START) as stream:
        stream.audio(samples(3))
        stream.drop()
    with client.start(session, later(15)) as stream:
        stream.audio(samples(4))
        stream.abort()
    with client.start(session, later(30)) as stream:
        stream.audio(samples(5))
        stream.finish()
    client.end(session)
    assert client.wait(session) == "completed"
    # Of what was dropped, all that had come.
    sizes = [len(client.fetch(each).content) - 44 for each in client.recordings(session)]
    assert sizes == [3 * 32_000, 4 * 32_000, 5 * 32_000]
    given_up = client.create_session()
    with client.start(given_up, START) as stream:
        stream.audio(samples(3))
        stream.cancel()
    assert client.status(given_up) == "aborted"
    client.cancel(given_up)
    client.end(given_up, expected=(412,))


@pytest.mark.covers("U-04")
def test_node_verifies_a_token_with_the_published_key(client):
    # Those of other tests' namespaces come behind it.
    key = requests.get(f"{client.base_url}/api/auth/.well-known/jwks-pub.json").json()["keys"][0]
    script = """
        const [key, token] = process.argv.slice(1);
        const [header, claims, signature] = token.split(".");
        const published = require("crypto").createPublicKey({ key: JSON.parse(key), format: "jwk" });
        const data = Buffer.from(`${header}.${claims}`);
        console.log(require("crypto").verify("sha256", data, published, Buffer.from(signature, "base64url")));
        console.log(Buffer.from(header, "base64url").toString());
        console.log(Buffer.from(claims, "base64url").toString());
    """
    told = subprocess.check_output(["node", "-e", script, json.dumps(key), client.sdp_suki_token], text=True)
    verdict, header, claims = told.splitlines()
    assert verdict == "true" and json.loads(header)["alg"] == "RS256" and json.loads(header)["kid"] == key["kid"]
    assert json.loads(claims)["exp"] - json.loads(claims)["iat"] == 3600


def test_the_examples_of_the_ambient_document_fit_its_schemas(ambient):
    for name, message in MESSAGES.items():
        assert message["examples"], name
        for example in message["examples"]:
            jsonschema.Draft202012Validator(message["payload"]).validate(example["payload"])
    assert requests.get(f"{ambient.base_url}/ambient.asyncapi.yaml").text == (
        ROOT / "openapi/ambient.asyncapi.yaml").read_text()


@pytest.mark.covers("U-16", "U-20")
def test_no_message_on_the_socket_ends_the_server(client, ambient):
    """What nobody should say, in any order, on sockets of one session."""
    session = client.create_session()
    start = {"type": "START_TIME", "data": base64.b64encode(b"2026-05-10T09:12:33Z").decode()}
    audio = {"type": "AUDIO", "data": base64.b64encode(samples(0.1)).decode()}
    odd = [
        "", "{", "null", "7", "[]", "{}", '{"type":null}', '{"type":"AUDIO","data":null}',
        '{"type":"AUDIO","data":"===="}',
        json.dumps({"type": "AUDIO", "data": "A" * 600_001}), json.dumps({"type": "START_TIME", "data": "A" * 600_000}),
        "[" * 5000, '{"type":"START_TIME","data":"%s"}' % base64.b64encode(b"99999-99-99T99:99:99Z").decode(),
        '{"type":"START_TIME","data":"%s"}' % base64.b64encode(b"2026-05-10T09:12:33." + b"9" * 60 + b"Z").decode(),
        '{"type":"EVENT","event":"%s"}' % ("PAUSE" * 1000), '{"type":"EVENT","event":1e400}', "\u0301" * 1000,
        '{"type":"AUDIO","type":"EVENT","data":"AA=="}', "x" * 1_100_000,
    ]
    for text in odd:
        for first in ([], [start], [start, audio]):
            stream = client.start(session)
            for message in first:
                stream.send(json.dumps(message))
            stream.send(text)
            code = stream.wait_closed(PATIENCE)
            assert code in (1000, 1003, 1007, 1008, 1009), (text[:60], code)
    client.end(session)
    assert client.wait(session) in ("completed", "skipped")
    assert ambient.process.poll() is None


@pytest.mark.covers("U-21")
@pytest.mark.parametrize("fixture, rule, expected", [
    ("undecodable", None, "failed"), ("typo", None, "failed"),
    (None, {"operation": "transcription", "fail": "processing_failed"}, "failed"),
    (None, {"operation": "transcription", "fail": "undecodable_audio"}, "failed"),
    (None, {"operation": "transcription", "fail": "no_speech"}, "skipped"),
    (None, {"operation": "note", "fail": "note_failed"}, "failed"),
])
def test_a_session_that_failed_is_not_called_skipped_or_completed(ambient, client, fixture, rule, expected):
    session = client.create_session(encounter_id=f"fixture:{fixture}" if fixture else None)
    if rule:
        added = requests.post(f"{ambient.base_url}/__admin/faults/next", json={**rule, "transaction": session})
        assert added.status_code == 201, added.text
    with client.start(session, START) as stream:
        stream.audio(samples(3))
        stream.finish()
    client.end(session)
    assert client.wait(session) == expected
    if expected == "failed":
        client.call("GET", f"/api/v1/ambient/session/{session}/content", expected=412)
    else:
        assert client.content(session) == []


def test_the_code_of_the_page_prints_a_note(ambient, tmp_path):
    page = (ROOT / "docs/protocol/suki.md").read_text()
    code = page.split("```python\n")[1].split("```")[0]
    (tmp_path / "speech.pcm").write_bytes(samples(70))
    code = code.replace("127.0.0.1:8087", ambient.base_url.removeprefix("http://"))
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("HISTORY OF PRESENT ILLNESS\n- fever for three days"), told.stdout
