"""Suki's ambient sessions on servers with settings of their own: partners' webhooks, and a real recogniser."""

import jsonschema
import pytest
import yaml
from ambient_samples import START, samples
from emulator import PATIENCE, ROOT, running, wait_until
from http_recorder import Answer, HTTPRecorder
from suki_checks import verify_webhook
from suki_client import SukiClient

DOCUMENT = yaml.safe_load((ROOT / "openapi/scribe.yaml").read_text())


SECRET = "shared sécret"
#: Attempts of each partner's webhook by its path. Each consultation has three messages.
ATTEMPTS = {"/hook": 1, "/failing-once": 1, "/failing-twice": 2}


@pytest.fixture(scope="module")
def partners(tmp_path_factory):
    """A server with a partner for each path, named like it, and the receiver of their webhooks."""
    folder = tmp_path_factory.mktemp("partners")
    with HTTPRecorder(lambda request: Answer(204 if request.path == "/hook" else 500)) as receiver:
        clients, listed = [], []
        for path, attempts in ATTEMPTS.items():
            name = path.strip("/")
            clients.append({
                "client_id": f"c-{name}", "client_secret": "secret", "business_id": f"b-{name}", "user_id": "u",
                "doctor_id": "o"})
            hook = {"url": f"{receiver.url}{path}", "secret": SECRET, "attempts": attempts}
            listed.append({"partner_id": name, "client_id": f"c-{name}", "webhook": hook})
        (folder / "clients.yaml").write_text(yaml.safe_dump({"clients": clients, "partners": listed}))
        flags = ("--ephemeral", "--clients", "clients.yaml", "--suki-shortest", "0s", "--webhook-pauses", "20ms")
        with running(folder, *flags) as server:
            yield server, receiver


@pytest.mark.covers("U-29", "U-32")
@pytest.mark.parametrize("path", ATTEMPTS)
def test_a_partner_webhook_is_signed_over_the_bytes_that_are_sent(partners, path):
    server, receiver = partners
    client = SukiClient(server.base_url, partner_id=path.strip("/"))
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

    def told() -> list:
        return [request for request in receiver.requests if request.path == path]

    wait_until(lambda: len(told()) >= 3 * ATTEMPTS[path], "all is told")
    content = DOCUMENT["webhooks"]["ambient"]["post"]["requestBody"]["content"]["application/json"]
    validator = jsonschema.Draft202012Validator({**content["schema"], "components": DOCUMENT["components"]})
    messages = []
    for request in told():
        assert verify_webhook(SECRET, request.headers, request.body)
        assert not verify_webhook(SECRET, request.headers, request.body + b" ")
        messages.append(request.json)
        validator.validate(messages[-1])
    by_session = {message["session_id"]: message for message in messages}
    assert set(by_session) == {good, failed, skipped} and len(messages) == 3 * ATTEMPTS[path]
    assert by_session[good]["status"] == by_session[skipped]["status"] == "success"
    assert by_session[failed]["error_code"] == "ERROR_CODE_TRANSCRIPTION" and by_session[failed]["error_detail"]
    for links in by_session[good]["_links"].values():
        for link in links:
            assert client.call(link["method"], link["href"]).headers["content-type"].startswith(link["type"])


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
