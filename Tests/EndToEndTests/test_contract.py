"""Every answer of a whole consultation fits the OpenAPI document, judged by jsonschema."""

import json

import pytest
import requests
from schemas import document, validator

DOCUMENT = document("scribe.yaml")


def schema_of(method: str, path: str, status: int):
    operation = DOCUMENT["paths"][path][method.lower()]
    response = operation["responses"][str(status)]
    if "$ref" in response:
        response = DOCUMENT["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    return response["content"]["application/json"]["schema"]


def check(answer: requests.Response, method: str, path: str):
    validator("scribe.yaml", schema_of(method, path, answer.status_code)).validate(answer.json())
    assert answer.headers["content-type"].startswith("application/json")
    return answer


def test_every_example_fits_its_schema():
    def walk(node, path):
        if isinstance(node, dict):
            if isinstance(node.get("schema"), dict):
                judge = validator("scribe.yaml", node["schema"])
                named = [each["value"] for each in node.get("examples", {}).values()]
                for example in [*named, *([node["example"]] if "example" in node else [])]:
                    errors = list(judge.iter_errors(example))
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
def test_the_answers_of_a_consultation_fit_the_openapi_document(server, chunks, fixture, flavour):
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
def test_the_answers_of_held_polls_fit_the_openapi_document(server):
    transaction = server.client().transaction()
    transaction.init()
    answer = check(transaction.poll(), "get", "/voice/api/v3/status/{txn_id}")
    assert answer.status_code == 202


@pytest.mark.covers("C-82", "C-84", "C-111")
def test_the_answers_of_login_and_refresh_fit_the_openapi_document(server):
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
