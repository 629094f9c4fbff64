"""Suki's ambient sessions, driven by a client that was written from the vendor's pages alone (suki_client.py)."""

import base64
import datetime
import http.server
import json
import random
import subprocess
import sys
import threading
import uuid

import jsonschema
import pytest
import requests
import yaml
from conftest import DEMO, PATIENCE, ROOT, running, wait_until
from suki_client import LOINC, Offline, SukiClient, verify_webhook

DOCUMENT = yaml.safe_load((ROOT / "openapi/scribe.yaml").read_text())
MESSAGES = yaml.safe_load((ROOT / "openapi/ambient.asyncapi.yaml").read_text())["components"]["messages"]
START = datetime.datetime(2026, 5, 10, 9, 12, 33, 123456, tzinfo=datetime.UTC)


@pytest.fixture(scope="module")
def ambient(tmp_path_factory):
    flags = ("--ephemeral", "--suki-shortest", "0s")
    with running(tmp_path_factory.mktemp("ambient"), *flags) as server:
        yield server


@pytest.fixture
def client(ambient):
    client = SukiClient(ambient.base_url, subject=f"dr-{uuid.uuid4()}")
    client.initialize()
    return client


def samples(seconds: float, seed=1) -> bytes:
    return random.Random(seed).randbytes(int(32_000 * seconds))


def later(seconds: float) -> datetime.datetime:
    return START + datetime.timedelta(seconds=seconds)


@pytest.mark.covers("U-01", "U-05", "U-09", "U-14", "U-15", "U-22", "U-24", "U-25", "U-26", "U-27", "U-33")
@pytest.mark.parametrize("headers", [True, False])
def test_a_whole_visit(client, headers):
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
def test_three_sockets_out_of_order_one_repeated_one_late_and_two_ends(client):
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
    # The fake says what it says by the number of the chunk, and so the same of both, as far as the pieces are cut alike.
    assert transcript[0].transcript == client.transcript(whole)[0].transcript


@pytest.mark.covers("U-21", "U-36")
def test_silence_is_skipped_unless_a_fixture_speaks_for_it(client):
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
def test_sessions_recorded_offline_are_finished_each(client):
    offline = Offline()
    sections = {"sections": [{"loinc": "10164-2"}]}
    ids = [
        offline.record([(later(-86_400 * day), samples(20, day)), (later(60 - 86_400 * day), samples(5, day))], sections)
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
def test_a_dropped_stream_goes_on_and_abort_and_cancel_end_what_they_say(client):
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


@pytest.mark.covers("U-20")
def test_what_was_streamed_survives_a_kill(tmp_path):
    flags = ("--data-dir", "data", "--suki-shortest", "0s")
    with running(tmp_path, *flags) as server:
        client = SukiClient(server.base_url)
        client.initialize()
        session = client.create_session()
        stream = client.start(session, START)
        stream.audio(samples(45))
        # What is in no chunk yet is lost with the process; the device has it and sends it again.
        data = server.folder / "data/objects"
        wait_until(lambda: sum(path.is_file() for path in data.rglob("*")) >= 2, "two chunks are kept")
        server.kill()
    with running(tmp_path, *flags) as server:
        again = SukiClient(server.base_url)
        again.initialize()
        with again.start(session, START) as stream:
            stream.audio(samples(45))
            stream.finish()
        again.end(session)
        assert again.wait(session) == "completed"
        (recording,) = again.recordings(session)
        assert again.fetch(recording).content[44:] == samples(45)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append((dict(self.headers), body))
        self.send_response(500 if self.path == "/failing" else 204)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.mark.covers("U-29", "U-32")
@pytest.mark.parametrize(("path", "attempts", "told"), [("/hook", 1, 3), ("/failing", 1, 3), ("/failing", 2, 6)])
def test_a_partner_is_told_with_a_signature_over_the_very_bytes(tmp_path, path, attempts, told):
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    receiver.heard = []
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    secret = "shared sécret"
    hook = {"url": f"http://127.0.0.1:{receiver.server_port}{path}", "secret": secret, "attempts": attempts}
    client_entry = {"client_id": "c", "client_secret": "secret", "business_id": "b", "user_id": "u", "doctor_id": "o"}
    partners = [{"partner_id": "clinic", "client_id": "c", "webhook": hook}]
    (tmp_path / "clients.yaml").write_text(yaml.safe_dump({"clients": [client_entry], "partners": partners}))
    flags = ("--ephemeral", "--clients", tmp_path / "clients.yaml", "--suki-shortest", "0s", "--webhook-pauses", "20ms")
    with running(tmp_path, *map(str, flags)) as server:
        client = SukiClient(server.base_url, partner_id="clinic")
        client.initialize()
        good = client.create_session(encounter_id="visit 7")
        with client.start(good, START) as stream:
            stream.audio(samples(3))
            stream.finish()
        client.end(good)
        client.end(good)
        assert client.wait(good) == "completed"
        failed = client.create_session(encounter_id="fixture:recogniser-down")
        with client.start(failed, START) as stream:
            stream.audio(samples(3))
            stream.finish()
        client.end(failed)
        assert client.wait(failed) == "failed"
        skipped = client.create_session(encounter_id="visit 7")
        client.end(skipped)
        assert client.wait(skipped) == "skipped"
        wait_until(lambda: len(receiver.heard) >= told, "all is told")
        content = DOCUMENT["webhooks"]["ambient"]["post"]["requestBody"]["content"]["application/json"]
        validator = jsonschema.Draft202012Validator({**content["schema"], "components": DOCUMENT["components"]})
        messages = []
        for headers, body in receiver.heard:
            assert verify_webhook(secret, headers, body)
            assert not verify_webhook(secret, headers, body + b" ")
            messages.append(json.loads(body))
            validator.validate(messages[-1])
        by_session = {message["session_id"]: message for message in messages}
        assert set(by_session) == {good, failed, skipped} and len(messages) == told
        assert by_session[good]["status"] == by_session[skipped]["status"] == "success"
        assert by_session[failed]["error_code"] == "ERROR_CODE_TRANSCRIPTION" and by_session[failed]["error_detail"]
        for links in by_session[good]["_links"].values():
            for link in links:
                assert client.call(link["method"], link["href"]).headers["content-type"].startswith(link["type"])
    receiver.shutdown()


@pytest.mark.covers("U-13", "U-15", "U-22")
def test_real_speech_becomes_sections(tmp_path, spoken):
    flags = ("--ephemeral", "--suki-shortest", "0s", "--transcriber", f"command:'{DEMO}/recognise.sh' {{wav}}")
    with running(tmp_path, *flags) as server:
        client = SukiClient(server.base_url)
        client.initialize()
        session = client.create_session()
        client.set_session_context(session, {"sections": [{"loinc": code} for code in ("10164-2", "10160-0", "29545-1")]})
        with client.start(session, START) as stream:
            stream.audio(spoken.tobytes())
            stream.finish()
        client.end(session)
        assert client.wait(session, timeout=PATIENCE) == "completed"
        text = " ".join(item.transcript for item in client.transcript(session)).lower()
        words = ("doctor", "fever", "blood", "pressure", "cough", "days", "pain")
        assert sum(word in text for word in words) >= 3, text
        content = client.content(session)
        assert content and all(item.source_transcripts for item in content)


@pytest.mark.covers("U-04")
def test_node_verifies_a_token_with_the_published_key(client):
    (key,) = requests.get(f"{client.base_url}/api/auth/.well-known/jwks-pub.json").json()["keys"]
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


def test_the_document_says_what_is_said(ambient):
    for name, message in MESSAGES.items():
        assert message["examples"], name
        for example in message["examples"]:
            jsonschema.Draft202012Validator(message["payload"]).validate(example["payload"])
    assert requests.get(f"{ambient.base_url}/ambient.asyncapi.yaml").text == (
        ROOT / "openapi/ambient.asyncapi.yaml").read_text()


@pytest.mark.covers("U-16", "U-20")
def test_nothing_that_is_said_on_the_socket_ends_the_server(client, ambient):
    """What nobody should say, in any order, on sockets of one session."""
    session = client.create_session()
    start = {"type": "START_TIME", "data": base64.b64encode(b"2026-05-10T09:12:33Z").decode()}
    audio = {"type": "AUDIO", "data": base64.b64encode(samples(0.1)).decode()}
    odd = [
        "", "{", "null", "7", "[]", "{}", '{"type":null}', '{"type":"AUDIO","data":null}', '{"type":"AUDIO","data":"===="}',
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


def test_the_recipe_works(ambient, tmp_path):
    page = (ROOT / "docs/recipes.md").read_text().split("## Record an ambient session")[1].split("\n## ")[0]
    code = page.split("```python\n")[1].split("```")[0]
    (tmp_path / "speech.raw").write_bytes(samples(70))
    code = code.replace("127.0.0.1:8087", ambient.base_url.removeprefix("http://"))
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("HISTORY OF PRESENT ILLNESS\n- fever for three days"), told.stdout
