"""Every answer of a whole consultation fits the OpenAPI document, judged by jsonschema."""

import base64
import json
import re
import time

import jsonschema
import pytest
import requests
import yaml
from conftest import ROOT

DOCUMENT = yaml.safe_load((ROOT / "openapi/scribe.yaml").read_text())


def schema_of(method: str, path: str, status: int):
    operation = DOCUMENT["paths"][path][method.lower()]
    response = operation["responses"][str(status)]
    if "$ref" in response:
        response = DOCUMENT["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    return response["content"]["application/json"]["schema"]


def check(answer: requests.Response, method: str, path: str):
    schema = {**schema_of(method, path, answer.status_code), "components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(schema).validate(answer.json())
    assert answer.headers["content-type"].startswith("application/json")
    return answer


def operations():
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            if method in ("get", "post", "put", "patch", "delete"):
                yield path, method, operation


def url(server, path: str) -> str:
    return server.base_url + re.sub(r"\{[^}]+\}", "t", path)


def test_every_example_fits_its_schema():
    def walk(node, path):
        if isinstance(node, dict):
            if "schema" in node and "example" in node:
                schema = {**node["schema"], "components": DOCUMENT["components"]}
                errors = list(jsonschema.Draft202012Validator(schema).iter_errors(node["example"]))
                assert not errors, f"{path}: {errors[0].message}"
            for key, value in node.items():
                walk(value, f"{path}/{key}")
        elif isinstance(node, list):
            for index, value in enumerate(node):
                walk(value, f"{path}/{index}")

    walk(DOCUMENT["paths"], "")
    walk(DOCUMENT["components"], "components")


TRANSACTION = "/voice/api/v2/transaction"


@pytest.mark.covers("C-06", "C-27", "C-36", "C-38", "C-40", "C-43", "C-53", "C-98")
@pytest.mark.parametrize("fixture", ["", "fixture:partial", "fixture:no-speech"])
@pytest.mark.parametrize("flavour", ["ScribeIOS", "android", "io", "web", ""])
def test_a_consultation_fits(server, chunks, fixture, flavour):
    client = server.client(flavour=flavour)
    transaction = client.transaction()
    init = transaction.init(
        ["clinical_notes_template", "eka_emr_template", "soap", "unknown"],
        patient_details={"visit_id": fixture, "age": 45, "username": "A"}, additional_data={"a": [1, None]},
    )
    check(init, "post", TRANSACTION + "/init/{txn_id}")
    check(transaction.init(mode="dictation"), "post", TRANSACTION + "/init/{txn_id}")
    transaction.upload(client.s3(), *chunks[0])
    early = check(transaction.poll(dlp="true"), "get", "/voice/api/v3/status/{txn_id}")
    assert early.status_code == 200
    check(transaction.stop(), "post", TRANSACTION + "/stop/{txn_id}")
    check(transaction.commit(), "post", TRANSACTION + "/commit/{txn_id}")
    final = check(transaction.poll(), "get", "/voice/api/v3/status/{txn_id}")
    assert final.status_code == {"": 200, "fixture:partial": 206}.get(
        fixture, 200 if flavour in ("ScribeIOS", "android") else 500
    )
    check(transaction.poll(template_id="nope"), "get", "/voice/api/v3/status/{txn_id}")
    check(client.transaction("unknown").poll(), "get", "/voice/api/v3/status/{txn_id}")
    check(client.transaction("unknown").stop(), "post", TRANSACTION + "/stop/{txn_id}")
    check(client.session.get(f"{server.base_url}{TRANSACTION}/history"), "get", TRANSACTION + "/history")
    check(client.session.get(f"{server.base_url}{TRANSACTION}/history?count=0"), "get", TRANSACTION + "/history")
    check(requests.get(f"{server.base_url}/credentials"), "get", "/credentials")
    check(client.session.get(f"{server.base_url}/credentials"), "get", "/credentials")


@pytest.mark.covers("C-28", "C-44", "C-46")
def test_waiting_fits(server):
    transaction = server.client().transaction()
    transaction.init()
    answer = check(transaction.poll(), "get", "/voice/api/v3/status/{txn_id}")
    assert answer.status_code == 202


@pytest.mark.covers("C-82", "C-84", "C-111")
def test_login_and_refresh_fit(server):
    base = "/connect-auth/v1/account"
    tokens = server.client().tokens
    for path, body, status in [
        ("/login", {"client_id": "dev-client", "client_secret": "dev-secret"}, 200),
        ("/login", {"client_id": "dev-client", "client_secret": "x"}, 401),
        ("/login", {}, 400),
        ("/refresh-token", {"refresh_token": tokens["refresh_token"]}, 200),
        ("/refresh-token", {"refresh_token": "x"}, 403),
        ("/refresh", {"refresh_token": tokens["refresh_token"]}, 200),
        ("/refresh", {"refresh_token": None}, 400),
    ]:
        answer = requests.post(f"{server.base_url}{base}{path}", data=json.dumps(body))
        assert answer.status_code == status
        check(answer, "post", base + path)


@pytest.mark.parametrize(
    "path,method", [(path, method) for path, method, what in operations() if "security" not in what]
)
def test_a_request_without_a_token_is_refused_as_documented(server, path, method):
    answer = check(requests.request(method, url(server, path)), method, path)
    assert answer.status_code == 401


@pytest.mark.parametrize(
    "path,method,limit",
    [
        (path, method, what.get("x-max-bytes", 1 << 20)) for path, method, what in operations()
        if "413" in what["responses"] and path != "/voice/upload"
    ],
)
def test_a_body_that_is_too_large_is_refused_as_documented(server, path, method, limit):
    client = server.client()
    answer = check(client.session.request(method, url(server, path), data=bytes(limit + 1)), method, path)
    assert answer.status_code == 413


class Caller:
    """Sends requests by the document's paths and holds each answer against it."""

    def __init__(self, server, **names):
        self.session = server.client(flavour=names.pop("flavour", "")).session
        self.base_url = server.base_url
        self.names = names

    def __call__(self, status: int, method: str, path: str, body=None, query="", **options):
        names = {**self.names, **options.pop("names", {})}
        if body is not None:
            options["data"] = json.dumps(body)
        address = self.base_url + re.sub(r"\{([^}]+)\}", lambda name: names[name[1]], path) + query
        answer = self.session.request(method, address, **options)
        assert answer.status_code == status, f"{method} {address}: {answer.status_code} {answer.text}"
        return check(answer, method, path).json()


VERSION_1 = "/voice/api/v1"
CONVERSION = VERSION_1 + "/transaction/{txn_id}/convert-to-template"
FEEDBACK = VERSION_1 + "/transaction/{txn_id}/feedback"
SESSION = VERSION_1 + "/sessions/{txn_id}"
DOCUMENTS = VERSION_1 + "/documents"
STATUS = "/voice/api/v3/status/{txn_id}"
CHUNK = "/voice/api/v3/transcript/{txn_id}/{chunk}"
MEDICATIONS = "/voice/v1/session/{txn_id}/suggested-medications"
BUNDLE = "/health/api/v1/fhir/retrieve"


def test_all_that_can_be_done_with_a_transaction_fits(server, chunks):
    client = server.client()
    transaction = client.transaction()
    transaction.init(["clinical_notes_template"], patient_details={"age": 45.0})
    call = Caller(server, txn_id=transaction.id, chunk="1.m4a", template_id="soap")
    row = TRANSACTION + "/{txn_id}"

    assert call(200, "get", row)["data"]["patient_details"] == {"age": 45}
    patch = {"user_status": "stopped", "additional_data": {"a": 1}, "processing_error": {"b": None}, "mode": "x"}
    assert call(200, "patch", row, patch)["data"]["additional_data"] == {"a": 1}
    call(400, "patch", row, {"user_status": "nonsense"})
    call(400, "post", CONVERSION, {"template_id": "soap"})
    assert call(202, "get", SESSION)["data"]["committed_at"] is None
    assert call(200, "get", MEDICATIONS)["medications"] == []
    assert call(200, "get", "/voice-record/api/status/{txn_id}")["status"] == "queued"
    call(404, "get", BUNDLE, query=f"?identifier={transaction.id}")

    transaction.upload(client.s3(), *chunks[0])
    transaction.stop()
    transaction.commit()
    while transaction.poll().status_code == 202:
        pass
    assert "processed_at" in call(200, "get", row)["data"]
    assert "fever" in call(200, "get", CHUNK)["text"]
    call(404, "get", CHUNK, names={"chunk": "none.m4a"})
    call(400, "get", CHUNK, names={"chunk": "%01"})
    assert call(200, "get", BUNDLE, query=f"?identifier={transaction.id}")["id"] == transaction.id
    call(400, "get", BUNDLE)
    bundle = call(200, "get", "/voice-record/api/status/{txn_id}")["data"]["output"]["fhir"]
    assert json.loads(base64.b64decode(bundle))["resourceType"] == "Bundle"

    call(200, "patch", STATUS, [{"template-id": "transcript", "data": "Take cetirizine 10 mg once daily."}])
    call(400, "patch", STATUS, [{"document_id": "none", "data": ""}])
    call(400, "patch", STATUS, [])
    assert call(200, "get", MEDICATIONS)["medications"][0]["extracted"]["name"] == "cetirizine"
    call(200, "post", CONVERSION)
    call(200, "post", CONVERSION + "/{template_id}", {"target_language": "hi"})
    call(400, "post", CONVERSION + "/{template_id}", {"target_language": "nonsense"})
    call(400, "post", CONVERSION, {"transcript": "Too late."})
    while (answer := transaction.poll()).status_code == 202:
        pass
    assert answer.status_code == 206
    check(answer, "get", STATUS)
    session = call(200, "get", SESSION)["data"]
    assert {"code": "not_translated"}.items() <= session["documents"][-1]["warnings"][0].items()

    call(200, "delete", row)
    call(404, "get", row)


def test_a_text_in_place_of_a_recording_fits(server):
    transaction = server.client().transaction()
    transaction.init()
    call = Caller(server, txn_id=transaction.id, template_id="soap")
    call(202, "post", CONVERSION + "/{template_id}", {"transcript": "I have a fever for three days."})
    while transaction.poll().status_code == 202:
        pass
    other = server.client().transaction()
    other.init()
    call(202, "post", CONVERSION, {"transcript": "I have a fever."}, names={"txn_id": other.id})
    call(200, "patch", TRANSACTION + "/{txn_id}", {"processing_status": "cancelled"}, names={"txn_id": other.id})


@pytest.mark.parametrize("step", ["init", "stop", "commit"])
def test_a_refusal_that_a_fixture_asks_for_fits(server, step):
    transaction = server.client().transaction()
    init = transaction.init(additional_data={"fixture": f"fixture:{step}-refused"})
    answer = init if step == "init" else transaction.call(step, {"audio_files": []})
    assert answer.status_code == 500
    check(answer, "post", f"{TRANSACTION}/{step}/{{txn_id}}")


BY_TRANSACTION = [
    ("get", TRANSACTION + "/{txn_id}", None),
    ("patch", TRANSACTION + "/{txn_id}", {}),
    ("delete", TRANSACTION + "/{txn_id}", None),
    ("patch", STATUS, [{"template-id": "t", "data": ""}]),
    ("get", CHUNK, None),
    ("post", CONVERSION, {}),
    ("post", CONVERSION + "/{template_id}", {}),
    ("post", FEEDBACK, {"entity": "e", "ratingFeedback": {"min_rating": 0, "max_rating": 1, "rating": 1}}),
    ("get", FEEDBACK, None),
    ("get", SESSION, None),
    ("patch", SESSION + "/context", {"context": {}}),
    ("delete", SESSION + "/context", {"context": {}}),
    ("post", SESSION + "/documents/{document_id}/publish", None),
    ("get", MEDICATIONS, None),
    ("get", "/voice-record/api/status/{txn_id}", None),
]


@pytest.mark.parametrize("method,path,body", BY_TRANSACTION)
def test_refusals_of_ids_fit(server, method, path, body):
    call = Caller(server, chunk="1.m4a", template_id="soap", document_id="none")
    # A conversion refuses everything with 400.
    call(400 if "convert" in path else 404, method, path, body, names={"txn_id": "unknown"})
    call(400, method, path, body, names={"txn_id": "%01"})


def test_feedback_fits(server):
    transaction = server.client().transaction()
    transaction.init()
    call = Caller(server, txn_id=transaction.id)
    rating = {"min_rating": 1, "max_rating": 5, "rating": 4}
    call(200, "post", FEEDBACK, {"entity": "content", "ratingFeedback": rating})
    call(200, "post", FEEDBACK, {"entity": "form", "ratingFeedback": rating, "qualitative_comments": "Good."})
    call(409, "post", FEEDBACK, {"entity": "form", "ratingFeedback": rating})
    call(400, "post", FEEDBACK, {"entity": "other", "ratingFeedback": {**rating, "rating": 6}})
    assert [item["qualitative_comments"] for item in call(200, "get", FEEDBACK)["data"]] == [None, "Good."]


def test_sessions_and_documents_fit(server):
    transaction = server.client().transaction()
    transaction.init()
    call = Caller(server, txn_id=transaction.id)
    context = {"past_sessions": ["a", {"b": 1}], "documents": None}
    assert len(call(200, "patch", SESSION + "/context", {"context": context})["data"]["context"]["past_sessions"]) == 2
    rest = call(200, "delete", SESSION + "/context", {"context": {"past_sessions": ["a"]}})["data"]["context"]
    assert rest == {"past_sessions": [{"b": 1}], "documents": [], "attachments": []}
    call(400, "patch", SESSION + "/context", {"context": {"documents": 1}})

    new = {"session_id": transaction.id, "document_type": "notes", "document_name": "Remarks", "markdown_data": "# A"}
    document = call(201, "post", DOCUMENTS, new)["data"]["document_id"]
    call.names["document_id"] = document
    call(200, "post", DOCUMENTS, {"document_id": document, "data": "# B"})
    call(400, "post", DOCUMENTS, {"session_id": transaction.id, "document_type": "nonsense"})
    call(404, "post", DOCUMENTS, {"session_id": "unknown"})
    assert call(200, "get", DOCUMENTS + "/{document_id}")["data"]["markdown_data"] == "# B"
    assert call(200, "post", SESSION + "/documents/{document_id}/publish")["data"]["publish"]
    listed = call(200, "get", DOCUMENTS, query=f"?session_id={transaction.id}")["data"]
    assert [item["document_type"] for item in listed] == ["transcript", "custom", "notes"]
    call(400, "get", DOCUMENTS)
    call(404, "get", DOCUMENTS, query="?session_id=unknown")
    call(400, "delete", DOCUMENTS + "/{document_id}", names={"document_id": listed[0]["document_id"]})
    call(200, "delete", DOCUMENTS + "/{document_id}")
    call(404, "get", DOCUMENTS + "/{document_id}")
    call(200, "delete", DOCUMENTS + "/{document_id}")
    call(404, "delete", DOCUMENTS + "/{document_id}", names={"document_id": "unknown"})


def test_templates_and_sections_fit(server):
    call = Caller(server)
    legacy = Caller(server, flavour="io")
    template, section = VERSION_1 + "/template", VERSION_1 + "/template/section"
    new = call(201, "post", section, {"title": "Diet", "format": "B"})["section_id"]
    change = {"desc": "Meals", "format": None}
    changed = call(200, "patch", section + "/{section_id}", change, names={"section_id": new})
    assert changed["action"] == "updated"
    fork = call(200, "patch", section + "/{section_id}", {"format": "P"}, names={"section_id": "allergies"})
    assert fork["action"] == "created_custom"
    assert "allergies" in [item.get("parent_section_id") for item in call(200, "get", section)["items"]]
    call(400, "post", section, {"title": "Diet", "format": "X"})
    call(400, "patch", section + "/{section_id}", {}, names={"section_id": "unknown"})

    message = "Template archived successfully"
    for caller, answer in [(call, {"msg": message}), (legacy, message)]:
        created = caller(201, "post", template, {"title": "Cough", "section_ids": [new, "allergies"]})["template_id"]
        caller.names["template_id"] = created
        caller(200, "put", template + "/{template_id}", {"title": "Cold"})
        caller(200, "patch", template + "/{template_id}", {"desc": "For winter.", "section_ids": None})
        assert caller(200, "get", template)["items"][0]["title"] == "Cold"
        caller(400, "put", template + "/{template_id}", {"section_ids": ["unknown"]})
        caller(400, "patch", template + "/{template_id}", {"title": " "})
        assert caller(200, "delete", template + "/{template_id}") == answer
        caller(400, "delete", template + "/{template_id}")
    call(400, "post", template, {"section_ids": []})
    call(200, "delete", section + "/{section_id}", names={"section_id": new})
    call(400, "delete", section + "/{section_id}", names={"section_id": "allergies"})

    draft = template + "/ai-create-template"
    assert call(200, "post", draft, {"instruction": "A note with allergies"})["sections"][0]["id"] == "allergies"
    call(200, "post", draft, files={"file": ("a.txt", b"Assessment: \xe2\x80\xa6", "text/plain")})
    call(200, "post", draft, {"file_base64": "data:image/png;base64,/w==", "media_type": "image/png"})
    call(400, "post", draft, {"file_base64": "no base64"})


def test_configurations_fit(server):
    config = "/voice/api/v2/config"
    for flavour in ["", "ScribeIOS", "io"]:
        call = Caller(server, flavour=flavour)
        change = {
            "my_templates": ["soap"], "consultation_mode": "dictation", "input_languages": [{"id": "hi"}],
            "output_format_template": [{"id": "soap", "name": "SOAP"}], "auto_download": True, "clinic_name": "Demo",
        }
        assert isinstance(call(200, "put", config, {"data": change}), str) == (flavour == "io")
        shape = call(200, "get", config)["data"]["supported_languages"]
        assert isinstance(shape, dict) == (flavour == "ScribeIOS")
    call(200, "put", config, {"data": {"my_templates": ["soap"]}, "request_type": "workspace"})
    call(400, "put", config, {"data": {"auto_download": 1}})
    assert call(200, "get", config, query="?my_templates=true")["data"]["my_templates"][0]["id"] == "soap"
    assert call(200, "get", config, query="?timezone=Asia/Kolkata")["timestamp"] > time.time() - 60
    call(400, "get", config, query="?timezone=nowhere")
    assert call(200, "get", "/connect-auth/v1/account/whoami")["username"] == "Asha"


def test_whole_files_fit(server, chunks):
    call = Caller(server)
    assert call(200, "post", "/v1/file-upload")["txn_id"]
    form = call(200, "post", "/v1/file-upload", {"mode": "dictation", "uhid": 5}, query="?txn_id=f-1&action=ekascribe")
    assert form["uploadData"]["fields"]["x-amz-meta-mode"] == "dictation"
    call(400, "post", "/v1/file-upload", query="?txn_id=%01")
    call(400, "post", "/v1/file-upload", [])

    recording = {"file": chunks[0][0].read_bytes()}
    transaction = call(200, "post", "/voice/upload", query="?mode=dictation", files=recording)["txn_id"]
    call(409, "post", "/voice/upload", query=f"?txnid={transaction}", files=recording)
    call(400, "post", "/voice/upload", {})
    call(413, "post", "/voice/upload", files={"file": bytes(100 << 20)})
    call.names["txn_id"] = transaction
    while (status := call(200, "get", "/voice-record/api/status/{txn_id}")["status"]) == "inprogress":
        time.sleep(0.05)
    assert status == "completed"
    row = call(200, "get", TRANSACTION + "/{txn_id}")["data"]
    assert row["transfer"] == "non-vaded" and row["batch_s3_url"].startswith("s3://")
