"""The Python SDK from PyPI, unmodified: its fixed https hosts are led to the server's own TLS port."""

import base64
import json
import pathlib
import subprocess
import sys
import uuid

import client as scribe_client
import pytest
import speech
import tls
from emulator import PATIENCE, wait_until

PYTHON = pathlib.Path(sys.prefix) / "ekacare/bin/python"
WANTED = {
    "input_language": ["en-IN"],
    "output_template": [{"template_id": "clinical_notes_template"}, {"template_id": "transcript_template"}],
}


class SDKError(Exception):
    """What the SDK raised: the name of its exception and the text."""


class Ekacare:
    """The SDK, in a process with the versions of its dependencies that it pins."""

    def __init__(self, environment, **options):
        self.process = subprocess.Popen(
            [PYTHON, pathlib.Path(__file__).with_name("ekacare_calls.py"), json.dumps(options)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
        )

    def call(self, name, **arguments):
        print(json.dumps([name, arguments]), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        if "raised" in answer:
            raise SDKError(answer["raised"], answer["message"])
        return answer["result"]

    def poll(self, transaction, done, **arguments):
        """Asks until done(answer)."""
        def asked():
            answer = self.call("v2rx.get_session_status", session_id=transaction, **arguments)
            return answer if done(answer) else None

        return wait_until(asked, "the result")

    def result(self, transaction):
        return self.poll(transaction, lambda answer: answer["data"].get("output"), action="ekascribe-v2")["data"]


@pytest.fixture
def sdk(server, tmp_path):
    """Makes SDK clients of a server. Which fixed hosts they asked for is in the file `hosts`."""
    clients = []

    def make(server=server, **options):
        options = {"client_id": "dev-client", "client_secret": "dev-secret", "base_url": server.base_url, **options}
        clients.append(Ekacare(tls.environment(server, tmp_path / "hosts"), **options))
        return clients[-1]

    yield make
    for client in clients:
        client.process.stdin.close()
        client.process.wait(timeout=PATIENCE)
        client.process.stdout.close()


@pytest.fixture(scope="module")
def recordings(spoken, tmp_path_factory):
    """The consultation as two recordings, a clinic's files rather than an SDK's chunks."""
    folder = tmp_path_factory.mktemp("recordings")
    cuts = speech.cut_in_pauses(spoken)
    pause = int((cuts[len(cuts) // 2][0] + speech.OVERLAP / 2) * speech.RATE)
    parts = {"पहली मुलाकात.m4a": spoken[:pause], "second.mp3": spoken[pause:]}
    return [str(speech.encode(samples, folder / name)) for name, samples in parts.items()]


def statuses(data):
    return [(item["template_id"], item["status"], item["errors"], item["warnings"]) for item in data["output"]]


@pytest.mark.covers("C-79", "C-82", "C-84")
def test_login_and_refresh(sdk):
    client = sdk()
    tokens = client.call("auth.login")
    renewed = client.call("auth.refresh_token", refresh_token=tokens["refresh_token"])
    assert renewed["access_token"] and renewed["refresh_token"]
    client.call("set_access_token", token=renewed["access_token"])
    assert client.call("files.get_upload_location", txn_id="t-refreshed")["folderPath"]
    # What comes with the refreshed token goes on being refreshed.
    assert client.call("auth.refresh_token", refresh_token=renewed["refresh_token"])["access_token"]


def test_a_login_with_secret_and_api_key_works(sdk):
    assert sdk(api_key="key").call("auth.login")["access_token"]


def test_a_wrong_secret_is_an_error(sdk):
    with pytest.raises(SDKError, match="EkaCare(Auth|API)Error"):
        sdk(client_secret="wrong").call("auth.login")


def test_a_refused_refresh_is_no_authentication_error(sdk):
    """401 would send the older iOS SDK into an endless loop, so nobody gets it."""
    with pytest.raises(SDKError, match="EkaCareAPIError"):
        sdk().call("auth.refresh_token", refresh_token="nonsense")


def test_an_invalid_token_is_an_authentication_error(sdk):
    with pytest.raises(SDKError, match="EkaCareAuthError"):
        sdk(access_token="nonsense").call("v2rx.get_session_status", session_id="t", action="ekascribe-v2")


@pytest.mark.covers("C-67")
def test_a_forms_fields_are_strings_for_any_extra_data(sdk):
    told = {"mode": 7, "uhid": None, "hfid": {"nested": True}, "list": [1.5]}
    upload = sdk().call("files.get_upload_location", txn_id="t-told", extra_data=told)["uploadData"]
    assert all(isinstance(value, str) for value in upload["fields"].values())


FIXED = ["api.eka.care", "m-prod-ekascribe-batch.s3.amazonaws.com"]


@pytest.mark.covers("C-02", "C-14", "C-15", "C-31", "C-54", "C-60", "C-62", "C-64", "C-66", "C-68")
@pytest.mark.parametrize(
    "options, fixed", [({}, FIXED[:1]), ({"base_url": "https://api.eka.care"}, FIXED)], ids=["our URL", "its own URL"]
)
def test_recordings_become_transcript_and_note(sdk, recordings, tmp_path, options, fixed):
    """With our base URL the SDK still sends init to its fixed host; with its default everything goes to fixed ones."""
    client = sdk(**options)
    told = {"mode": "dictation", "uhid": "u-1", "output_language": "en-IN", "visit": {"number": 7, "new": True}}
    transaction = f"t-{uuid.uuid4()}"
    uploaded = client.call(
        "v2rx.upload", file_paths=recordings, txn_id=transaction, action="ekascribe-v2", output_format=WANTED,
        extra_data=told,
    )
    assert [item["key"].rsplit("/")[-1] for item in uploaded] == ["पहली मुलाकात.m4a", "second.mp3"]
    assert sorted(set((tmp_path / "hosts").read_text().split())) == fixed
    data = client.result(transaction)
    # Neither is the manifest taken for a recording, nor is a recording missed: nothing to warn of.
    assert statuses(data) == [
        ("clinical_notes_template", "success", [], []), ("transcript_template", "success", [], [])
    ]
    note, transcript = map(scribe_client.text, data["output"])
    assert "fever" in note
    assert transcript
    assert data["additional_data"] == told


def test_a_real_recogniser_returns_every_word_of_the_recordings_in_order(sdk, listening, recordings, sentences):
    client = sdk(listening)
    client.call(
        "v2rx.upload", file_paths=recordings, txn_id="t-heard", action="ekascribe-v2", output_format=WANTED,
        extra_data={"mode": "consultation"},
    )
    transcript = scribe_client.text(client.result("t-heard")["output"][1])
    assert transcript.split() == " ".join(sentences).split()


def test_an_upload_without_extra_data_gives_a_transcript(sdk, recordings):
    """Without extra data and output format, mode, languages and templates are null."""
    client = sdk()
    client.call("v2rx.upload", file_paths=recordings[:1], txn_id="t-bare", action="ekascribe-v2")
    transcript = client.poll(
        "t-bare", lambda answer: answer["data"].get("template_results", {}).get("transcript"), action="ekascribe-v2"
    )["data"]["template_results"]["transcript"][0]
    assert (transcript["status"], bool(scribe_client.text(transcript))) == ("success", True)


def test_a_failed_transaction_raises_an_sdk_error(sdk, recordings):
    client = sdk()
    client.call(
        "v2rx.upload", file_paths=recordings[:1], txn_id="t-silent", action="ekascribe-v2",
        extra_data={"fixture": "fixture:no-speech"},
    )
    with pytest.raises(SDKError, match="EkaCareAPIError.*API error 500.*no_speech"):
        client.result("t-silent")


def test_a_used_up_quota_is_reported_at_init(sdk, recordings):
    client = sdk(client_id="dev-limited", client_secret="dev-limited-secret")
    with pytest.raises(SDKError, match="EkaScribeError.*initialisation failed.*txn_limit_exceeded"):
        client.call("v2rx.upload", file_paths=recordings[:1], txn_id="t-quota", action="ekascribe-v2")


def test_the_first_generation_is_started_by_its_manifest_and_ends_in_a_bundle(sdk, recordings):
    client = sdk()
    transaction = f"t-{uuid.uuid4()}"
    client.call(
        "v2rx.upload", file_paths=recordings, txn_id=transaction, action="ekascribe", output_format=WANTED,
        extra_data={"mode": "consultation", "uhid": "u-1"},
    )
    answer = client.poll(transaction, lambda answer: answer["status"] not in ("queued", "inprogress"))
    assert answer["status"] == "completed"
    bundle = json.loads(base64.b64decode(answer["data"]["output"]["fhir"], validate=True))
    assert bundle["resourceType"] == "Bundle"
    assert "fever" in json.dumps(bundle)


@pytest.mark.covers("C-62")
def test_the_default_action_only_uploads(sdk, recordings):
    client = sdk()
    assert len(client.call("v2rx.upload", file_paths=recordings, txn_id="t-stored")) == 2
    with pytest.raises(SDKError, match="API error 400.*transaction_not_found"):
        client.call("v2rx.get_session_status", session_id="t-stored", action="ekascribe-v2")
