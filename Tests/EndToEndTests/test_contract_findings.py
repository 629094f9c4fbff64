"""Requests that do not fit the contract: told, refused on request, and judged as Python's jsonschema does."""

import copy
import json

import jsonschema
import pytest
import requests
import yaml
from emulator import PATIENCE, ROOT, run
from namespaces import EkaClient, access, control, created

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DOCUMENT = yaml.load((ROOT / "openapi/scribe.yaml").read_text(), LOADER)
#: Operations without effects that later ones would meet, each with a path.
OPERATIONS = {
    "login": "/connect-auth/v1/account/login", "initTransaction": "/voice/api/v2/transaction/init/{number}",
    "stopTransaction": "/voice/api/v2/transaction/stop/nobody",
    "commitTransaction": "/voice/api/v2/transaction/commit/nobody",
    "createSection": "/voice/api/v1/template/section", "createSession": "/voice/v1/sessions",
}
STRICT = ("--validate", "strict", "--long-poll", "3s")
OFF = ("--validate", "off", "--long-poll", "3s")


def schema_of(operation: str) -> tuple[dict, dict]:
    """The schema of an operation's body, and an example."""
    for item in DOCUMENT["paths"].values():
        for found in item.values():
            if isinstance(found, dict) and found.get("operationId") == operation:
                body = found["requestBody"]
                if "$ref" in body:
                    body = DOCUMENT["components"]["requestBodies"][body["$ref"].rsplit("/", 1)[1]]
                media = body["content"]["application/json"]
                examples = [one["value"] for one in media.get("examples", {}).values()] or [media["example"]]
                return {**media["schema"], "components": DOCUMENT["components"]}, examples[0]
    raise AssertionError(operation)


def changed(value, place=()):
    """The same value with one part less, one more, or another one in the place of one."""
    if isinstance(value, dict):
        yield {**value, "a member that nobody knows": 1}
        for name, member in value.items():
            yield {other: value[other] for other in value if other != name}
            for inner in changed(member):
                yield {**value, name: inner}
    elif isinstance(value, list):
        yield []
        yield value * 3
        for index, item in enumerate(value[:2]):
            for inner in changed(item):
                yield [*value[:index], inner, *value[index + 1:]]
    # No line break: before one at the end, Python's `$` matches too.
    yield from (other for other in (None, True, 7, -1.5, 3.0, "", "x" * 3000, ["x"], {"x": 1}) if other != value)


@pytest.fixture(scope="module")
def session(server):
    client = EkaClient(access(server, created(server), "prefix"))
    client.session.headers["Content-Type"] = "application/json"
    return client.session


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_body_has_findings_exactly_if_jsonschema_finds_an_error(server, session, operation):
    schema, example = schema_of(operation)
    validator = jsonschema.Draft202012Validator(schema)
    verdicts = set()
    for number, body in enumerate([copy.deepcopy(example), *changed(example)][:120]):
        path = OPERATIONS[operation].format(number=f"c-{number}")
        answer = session.post(f"{server.base_url}{path}", data=json.dumps(body), timeout=PATIENCE)
        if answer.status_code == 401:
            continue
        has_findings = "X-Scribe-Findings" in answer.headers
        is_valid = validator.is_valid(body)
        # A body that cannot be decoded is refused, and has no findings beside.
        if answer.status_code < 400 or is_valid:
            assert has_findings == (not is_valid), (body, answer.status_code, answer.text)
        verdicts.add(is_valid)
    assert True in verdicts


def test_a_finding_is_told_in_answer_journal_and_log_without_what_was_sent(server):
    inside = access(server, created(server), "prefix")
    client = EkaClient(inside)
    # The vendor takes any text as the place of the audio, and its pages do not.
    init = client.transaction("finding").init([], s3_url="lovelace")
    assert (init.status_code, init.headers["X-Scribe-Findings"]) == (201, "1"), init.headers
    [found] = control(server, "GET", "requests", params={
        "namespace": inside.name, "operation": "initTransaction"}).json()["requests"]
    assert found["findings"] == [{"place": "s3_url", "problem": "has another form"}], found
    line = server.logged("'s3_url' has another form")[0]
    assert "does not fit the contract" in line and "initTransaction" in line and "lovelace" not in line
    listed = run("requests", "list", "--url", server.base_url, "--namespace", inside.name).stdout
    assert "initTransaction  1 finding" in listed, listed


def test_strict_validation_refuses_in_the_familys_envelope_and_changes_nothing(served):
    server = served(*STRICT)
    client = EkaClient(access(server, created(server), "prefix"))
    refused = client.transaction("strict").init([], s3_url="lovelace")
    assert (refused.status_code, refused.headers["X-Scribe-Findings"]) == (400, "1"), refused.text
    assert refused.json()["status"] == "failed" and "'s3_url' has another form, by the contract" in refused.text
    polled = client.session.get(f"{client.base_url}/voice/api/v2/transaction/strict")
    assert polled.status_code == 404
    assert client.transaction("strict").init([]).status_code == 201


def test_strict_validation_comes_after_authentication(served):
    server = served(*STRICT)
    path = f"{server.base_url}/voice/api/v2/transaction/history?count=0"
    assert requests.get(path, timeout=PATIENCE).status_code == 401
    token = EkaClient(access(server, created(server), "prefix")).session.headers["Authorization"]
    assert requests.get(path, headers={"Authorization": token}, timeout=PATIENCE).status_code == 400


def test_without_validation_nothing_is_told(served):
    server = served(*OFF)
    client = EkaClient(access(server, created(server), "prefix"))
    init = client.transaction("off").init([], s3_url="lovelace")
    assert init.status_code == 201 and "X-Scribe-Findings" not in init.headers
    assert "does not fit the contract" not in server.log
