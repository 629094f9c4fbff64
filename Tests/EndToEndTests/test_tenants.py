"""Two tenants with everything under the same names: each has its own, and a foreign id is an unknown id."""

import base64
import json
import random
import uuid
import wave

import pytest
import requests
from emulator import LONG, revealed, without_links

ID = "consultation-1"
API = "/voice/api"


class Tenant:
    def __init__(self, server, client: str, mark: str, folder):
        self.mark = mark
        self.base_url = server.base_url
        self.sdk = server.client(client, "dev-secret" + client.removeprefix("dev-client"))
        self.session = self.sdk.session
        body = {"title": f"Plan {mark}", "format": "B"}
        self.section = self.ok("POST", f"{API}/v1/template/section", body)["section_id"]
        body = {"title": f"Note {mark}", "desc": mark, "section_ids": [self.section]}
        self.template = self.ok("POST", f"{API}/v1/template", body)["template_id"]
        transaction = self.sdk.transaction(ID)
        started = transaction.init(
            [self.template], patient_details={"username": mark, "oid": "p-1"}, additional_data={"mark": mark}
        )
        assert started.status_code == 201, started.text
        with wave.open(str(folder / "1.wav"), "wb") as audio:
            audio.setparams((1, 2, 8000, 0, "NONE", ""))
            audio.writeframes(random.Random(mark).randbytes(16_000 * len(mark)))
        transaction.upload(self.sdk.s3(), folder / "1.wav", 0, len(mark))
        assert transaction.stop().status_code == 200
        assert transaction.commit().status_code == 200
        results = transaction.poll()
        assert results.status_code == 200, results.text
        self.note = results.json()["data"]["output"][0]["document_id"]
        medicine = {"lotus": "paracetamol", "marigolds": "ibuprofen"}[mark]
        edits = [
            {"template-id": "transcript", "data": f"Take {medicine} 400 mg twice daily. My name is {mark}."},
            {"document-id": self.note, "data": f"# Note {mark}"},
        ]
        self.ok("PATCH", f"{API}/v3/status/{ID}", edits)
        body = {"session_id": ID, "document_name": "Remarks", "markdown_data": f"Remarks {mark}"}
        self.document = self.ok("POST", f"{API}/v1/documents", body)["data"]["document_id"]
        rating = {"entity": "content", "ratingFeedback": {"min_rating": 1, "max_rating": 5, "rating": 4}}
        self.ok("POST", f"{API}/v1/transaction/{ID}/feedback", {**rating, "qualitative_comments": mark})
        self.ok("PUT", f"{API}/v2/config", {"data": {"my_templates": [self.template], "note": mark}})
        self.ok("PUT", f"{API}/v2/config", {"request_type": "workspace", "data": {"clinic": mark}})
        self.ok("PATCH", f"{API}/v1/sessions/{ID}/context", {"context": {"attachments": [mark]}})

    def call(self, method: str, path: str, body=None) -> requests.Response:
        return self.session.request(method, self.base_url + path, json=body)

    def ok(self, method: str, path: str, body=None) -> dict:
        answer = self.call(method, path, body)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def everything(self) -> dict:
        return without_links({path: self.ok("GET", path) for path in READS} | {
            "document": self.ok("GET", f"{API}/v1/documents/{self.document}"),
        })


READS = [
    f"{API}/v2/transaction/history", f"{API}/v2/transaction/{ID}", f"{API}/v3/status/{ID}",
    f"{API}/v3/transcript/{ID}/1.wav", f"{API}/v1/sessions/{ID}", f"{API}/v1/documents?session_id={ID}",
    f"{API}/v1/transaction/{ID}/feedback", f"{API}/v1/template", f"{API}/v1/template/section",
    f"{API}/v2/config", f"{API}/v2/config?my_templates=true", f"/voice/v1/session/{ID}/suggested-medications",
    f"/voice-record/api/status/{ID}",
    f"/health/api/v1/fhir/retrieve?identifier={ID}", "/connect-auth/v1/account/whoami",
]


@pytest.fixture
def tenants(served, tmp_path):
    server = served(*LONG)
    # The tenants have the same ids in each test.
    requests.post(f"{server.base_url}/__admin/reset").raise_for_status()
    return Tenant(server, "dev-client", "lotus", tmp_path), Tenant(server, "dev-client-2", "marigolds", tmp_path)


def test_the_same_ids_of_two_tenants_are_different_resources(tenants):
    first, second = tenants
    for path in READS:
        mine, theirs = first.ok("GET", path), second.ok("GET", path)
        assert mine != theirs, path
        for tenant, other, answer in [(first, second, mine), (second, first, theirs)]:
            text = revealed(json.dumps(answer))
            for word in (other.mark, other.note, other.document, other.template, other.section):
                assert word not in text, f"{path} of {tenant.mark} has {word}"
    marked = [path for path in READS if first.mark in revealed(json.dumps(first.ok("GET", path)))]
    assert len(marked) >= 10, "or there is nothing to be told apart"
    assert first.note != second.note


def test_changes_of_one_tenant_do_not_change_the_same_ids_of_another(tenants):
    """Edits, configuration, feedback, conversion, cancelling and deleting under the names that both have."""
    first, second = tenants
    before = second.everything()
    for method, path, body in [
        ("PATCH", f"{API}/v3/status/{ID}", [{"template-id": "transcript", "data": "edited"}]),
        ("PATCH", f"{API}/v3/status/{ID}", [{"document-id": first.note, "data": "edited"}]),
        ("POST", f"{API}/v1/documents", {"document_id": first.document, "markdown_data": "edited"}),
        ("POST", f"{API}/v1/sessions/{ID}/documents/{first.document}/publish", None),
        ("DELETE", f"{API}/v1/sessions/{ID}/context", {"context": {"attachments": [first.mark, second.mark]}}),
        ("PUT", f"{API}/v2/config", {"request_type": "workspace", "data": {"clinic": "changed", "model_type": "lite"}}),
        ("PUT", f"{API}/v2/config", {"data": {"my_templates": ["soap"], "consultation_mode": "dictation"}}),
        ("POST", f"{API}/v1/transaction/{ID}/convert-to-template/soap", None),
        ("PUT", f"{API}/v1/template/{first.template}", {"title": "changed"}),
        ("PATCH", f"{API}/v1/template/section/{first.section}", {"title": "changed"}),
        ("PATCH", f"{API}/v2/transaction/{ID}", {"patient_details": {"username": "changed"}, "mode": "changed"}),
        ("DELETE", f"{API}/v1/documents/{first.document}", None),
        ("DELETE", f"{API}/v1/template/{first.template}", None),
        ("DELETE", f"{API}/v1/template/section/{first.section}", None),
        ("DELETE", f"{API}/v2/transaction/{ID}", None),
    ]:
        first.ok(method, path, body)
        assert second.everything() == before, f"{method} {path}"


def test_a_foreign_id_is_an_unknown_id(tenants):
    """In the path, in the query and in the body: the same answer but for the id itself, and nothing is changed."""
    first, second = tenants
    theirs = second.sdk.transaction("theirs")
    theirs.init(patient_details={"username": second.mark})
    before = second.everything()
    edit = [{"data": "x", "document-id": "ID"}]
    rating = {"entity": "other", "ratingFeedback": {"min_rating": 1, "max_rating": 5, "rating": 4}}
    files = {"audio_files": ["1.wav"], "chunk_info": []}
    note = {"markdown_data": "x"}
    calls = [
        ("transaction", method, path.replace("TXN", "ID"), body)
        for method, path, body in [
            ("POST", f"{API}/v2/transaction/stop/TXN", files), ("POST", f"{API}/v2/transaction/commit/TXN", files),
            ("GET", f"{API}/v2/transaction/TXN", None), ("PATCH", f"{API}/v2/transaction/TXN", {"mode": "x"}),
            ("PATCH", f"{API}/v2/transaction/TXN", {"processing_status": "cancelled"}),
            ("DELETE", f"{API}/v2/transaction/TXN", None), ("GET", f"{API}/v3/status/TXN", None),
            ("GET", f"{API}/v3/status/TXN?dlp=true", None), ("GET", f"{API}/v3/status/TXN?transcript=true", None),
            ("PATCH", f"{API}/v3/status/TXN", [{"template-id": "transcript", "data": "x"}]),
            ("GET", f"{API}/v3/transcript/TXN/1.wav", None), ("GET", f"{API}/v1/sessions/TXN", None),
            ("PATCH", f"{API}/v1/sessions/TXN/context", {"context": {"attachments": ["x"]}}),
            ("DELETE", f"{API}/v1/sessions/TXN/context", {"context": {"attachments": [second.mark]}}),
            ("POST", f"{API}/v1/sessions/TXN/documents/{first.document}/publish", None),
            ("POST", f"{API}/v1/transaction/TXN/feedback", rating), ("GET", f"{API}/v1/transaction/TXN/feedback", None),
            ("POST", f"{API}/v1/transaction/TXN/convert-to-template", {}),
            ("POST", f"{API}/v1/transaction/TXN/convert-to-template/soap", None),
            ("POST", f"{API}/v1/transaction/TXN/convert-to-template", {"transcript": "x"}),
            ("GET", f"{API}/v1/documents?session_id=TXN", None),
            ("POST", f"{API}/v1/documents", {"session_id": "TXN", **note}),
            ("GET", "/voice/v1/session/TXN/suggested-medications", None), ("GET", "/voice-record/api/status/TXN", None),
            ("GET", "/health/api/v1/fhir/retrieve?identifier=TXN", None),
        ]
    ] + [
        ("document", "GET", f"{API}/v1/documents/ID", None), ("document", "DELETE", f"{API}/v1/documents/ID", None),
        ("document", "POST", f"{API}/v1/documents", {"document_id": "ID", **note}),
        ("document", "POST", f"{API}/v1/sessions/{ID}/documents/ID/publish", None),
        ("document", "PATCH", f"{API}/v3/status/{ID}", edit), ("note", "PATCH", f"{API}/v3/status/{ID}", edit),
        ("note", "GET", f"{API}/v3/status/{ID}?document_id=ID", None), ("note", "GET", f"{API}/v1/documents/ID", None),
        ("note", "DELETE", f"{API}/v1/documents/ID", None),
        ("note", "POST", f"{API}/v1/documents", {"document_id": "ID", **note}),
        ("template", "PUT", f"{API}/v1/template/ID", {"title": "x"}),
        ("template", "PATCH", f"{API}/v1/template/ID", {}), ("template", "DELETE", f"{API}/v1/template/ID", None),
        ("template", "GET", f"{API}/v3/status/{ID}?template_id=ID", None),
        ("template", "PATCH", f"{API}/v3/status/{ID}", [{"template-id": "ID", "data": "x"}]),
        ("section", "PATCH", f"{API}/v1/template/section/ID", {"title": "x"}),
        ("section", "DELETE", f"{API}/v1/template/section/ID", None),
        ("section", "POST", f"{API}/v1/template", {"title": "x", "section_ids": ["ID"]}),
        ("section", "PUT", f"{API}/v1/template/{first.template}", {"section_ids": ["ID"]}),
    ]
    ids = {
        "transaction": theirs.id, "document": second.document, "note": second.note, "template": second.template,
        "section": second.section,
    }
    for kind, method, path, body in calls:
        answers = []
        for identifier in (ids[kind], str(uuid.uuid4())):
            text = json.dumps(body).replace('"ID"', json.dumps(identifier)).replace('"TXN"', json.dumps(identifier))
            target = path.replace("/ID", f"/{identifier}").replace("=ID", f"={identifier}")
            answer = first.call(method, target, json.loads(text))
            answers.append((answer.status_code, json.loads(answer.text.replace(identifier, "ID"))))
        assert answers[0] == answers[1], f"{method} {path}"
        assert 400 <= answers[0][0] < 500, f"{method} {path}: {answers[0]}"
    assert second.everything() == before
    assert theirs.poll(dlp="true").status_code == 200


def test_a_foreign_template_id_reveals_no_title_section_or_text(tenants):
    """Where an unknown template is taken for one of that name, so is a foreign one: no title, no section, no text."""
    first, second = tenants
    before = second.everything()
    transaction = first.sdk.transaction("borrowed")
    assert transaction.init([second.template]).status_code == 201
    path = f"{API}/v1/transaction/borrowed/convert-to-template"
    body = {"transcript": "I have a fever.", "template_id": second.template}
    assert first.call("POST", path, body).status_code == 202
    answers = [transaction.poll(), first.call("POST", f"{path}/{second.template}"), transaction.poll()]
    first.ok("PUT", f"{API}/v2/config", {"data": {"my_templates": [second.template]}})
    body = {"session_id": "borrowed", "template_id": second.template, "markdown_data": "x"}
    answers += [first.call("POST", f"{API}/v1/documents", body)]
    answers += [first.call("GET", path.replace(ID, "borrowed")) for path in READS if "/transcript/" not in path]
    for answer in answers:
        assert answer.status_code < 500
        assert second.mark not in revealed(answer.text)
        assert second.section not in answer.text
    unknown = first.sdk.transaction("unknown")
    unknown.init(["none-of-mine"])
    first.call("POST", f"{API}/v1/transaction/unknown/convert-to-template", {"transcript": "I have a fever."})
    borrowed, other = (
        base64.b64decode(each.poll().json()["data"]["output"][0]["value"]).decode() for each in (transaction, unknown)
    )
    assert borrowed.replace(second.template, "none-of-mine") == other
    assert second.everything() == before


def test_whole_files_of_two_tenants_under_one_id_stay_separate(tenants):
    """Forms and direct uploads: an id that the other tenant has is free, and what is uploaded is its owner's alone."""
    first, second = tenants
    before = second.everything()
    identifier = str(uuid.uuid4())
    for tenant in tenants:
        audio = {"file": ("a.wav", random.Random(tenant.mark).randbytes(2000))}
        answer = tenant.session.post(f"{tenant.base_url}/voice/upload?txnid={identifier}", files=audio)
        assert answer.status_code == 200, answer.text
        assert answer.json()["b_id"] in ("b-demo", "b-demo-2")
    form = first.ok("POST", f"/v1/file-upload?txn_id={identifier}", {})
    fields = form["uploadData"]["fields"]
    target = second.ok("POST", f"/v1/file-upload?txn_id={identifier}", {})
    assert form["folderPath"] != target["folderPath"]
    # Another folder than the signed one.
    stolen = {**fields, "key": target["uploadData"]["fields"]["key"]}
    answer = requests.post(form["uploadData"]["url"], data=stolen, files={"file": ("a.wav", b"x")})
    assert answer.status_code == 403, answer.text
    # One's policy with the other's session token.
    mixed = {**fields, "x-amz-security-token": target["uploadData"]["fields"]["x-amz-security-token"]}
    answer = requests.post(form["uploadData"]["url"], data=mixed, files={"file": ("a.wav", b"x")})
    assert answer.status_code in (400, 403), answer.text
    after = second.everything()
    history = f"{API}/v2/transaction/history"
    assert {key: value for key, value in after.items() if key != history} == {
        key: value for key, value in before.items() if key != history
    }
    assert len(after[history]["data"]) == len(before[history]["data"]) + 1
