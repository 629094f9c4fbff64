"""Suki's ambient sessions on servers with settings of their own: a kill, a partner's webhook, and a real recogniser."""


import jsonschema
import pytest
import yaml
from ambient_samples import START, samples
from emulator import PATIENCE, ROOT, running, state_folder, wait_until
from http_recorder import Answer, HTTPRecorder
from suki_checks import verify_webhook
from suki_client import SukiClient

DOCUMENT = yaml.safe_load((ROOT / "openapi/scribe.yaml").read_text())


@pytest.mark.covers("U-20")
def test_streamed_audio_survives_a_kill(tmp_path):
    flags = ("--data-dir", "data", "--suki-shortest", "0s")
    with running(tmp_path, *flags) as server:
        client = SukiClient(server.base_url)
        client.initialize()
        session = client.create_session()
        stream = client.start(session, START)
        stream.audio(samples(45))
        # What is in no chunk yet is lost with the process; the device has it and sends it again.
        data = state_folder(server.folder / "data") / "objects"
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


@pytest.mark.covers("U-29", "U-32")
@pytest.mark.parametrize(("path", "attempts", "told"), [("/hook", 1, 3), ("/failing", 1, 3), ("/failing", 2, 6)])
def test_a_partner_webhook_is_signed_over_the_bytes_that_are_sent(tmp_path, path, attempts, told):
    receiver = HTTPRecorder(lambda request: Answer(500 if request.path == "/failing" else 204))
    secret = "shared sécret"
    hook = {"url": f"{receiver.url}{path}", "secret": secret, "attempts": attempts}
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
        wait_until(lambda: len(receiver.requests) >= told, "all is told")
        content = DOCUMENT["webhooks"]["ambient"]["post"]["requestBody"]["content"]["application/json"]
        validator = jsonschema.Draft202012Validator({**content["schema"], "components": DOCUMENT["components"]})
        messages = []
        for request in receiver.requests:
            assert verify_webhook(secret, request.headers, request.body)
            assert not verify_webhook(secret, request.headers, request.body + b" ")
            messages.append(request.json)
            validator.validate(messages[-1])
        by_session = {message["session_id"]: message for message in messages}
        assert set(by_session) == {good, failed, skipped} and len(messages) == told
        assert by_session[good]["status"] == by_session[skipped]["status"] == "success"
        assert by_session[failed]["error_code"] == "ERROR_CODE_TRANSCRIPTION" and by_session[failed]["error_detail"]
        for links in by_session[good]["_links"].values():
            for link in links:
                assert client.call(link["method"], link["href"]).headers["content-type"].startswith(link["type"])
    receiver.stop()


@pytest.mark.covers("U-13", "U-15", "U-22")
def test_real_speech_becomes_sections(listening, spoken, sentences):
    client = SukiClient(listening.base_url)
    client.initialize()
    session = client.create_session()
    client.set_session_context(session, {"sections": [{"loinc": code} for code in ("10164-2", "10160-0", "29545-1")]})
    with client.start(session, START) as stream:
        stream.audio(spoken.tobytes())
        stream.finish()
    client.end(session)
    assert client.wait(session, timeout=PATIENCE) == "completed"
    words = [word for item in client.transcript(session) for word in item.transcript.split()]
    assert words == " ".join(sentences).split()
    # No one speaks of an examination, so its section is absent.
    found = {item.loinc_code: item for item in client.content(session)}
    assert {code: item.content.splitlines() for code, item in found.items()} == {
        "10164-2": [
            "- fever for three days", "- dry cough since monday", "- headache for two days", "- history of asthma",
            "- allergic to penicillin",
        ],
        "10160-0": ["- ibuprofen 400 mg three times a day for five days"],
    }
    assert all(item.source_transcripts for item in found.values())
