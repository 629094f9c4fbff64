"""Any value in any field, path or query of any operation gets a documented answer and nobody else's data.

The requests are derived from openapi/scribe.yaml: its schemas say which bodies are right and which are wrong. In
`make test` each field gets some of the values, by turns; in `make test-full` all of them.
"""

import uuid

import pytest
from emulator import PATIENCE, SHORT
from every_field.cases import bodies, forms, parameters, profiles
from every_field.judge import SECRET, Judge
from every_field.operations import OPERATIONS
from every_field.tenants import Exchange, Tenant
from every_field.values import CANARY
from namespaces import control


@pytest.fixture(scope="module")
def world(served, tmp_path_factory):
    """A server and two tenants. At the end it proves what holds after the requests of all tests that ran."""
    folder, server = tmp_path_factory.mktemp("fields"), served(*SHORT)
    position = len(server.log)
    control(server, "POST", "reset").raise_for_status()
    first = Tenant(server, "dev-client", "dev-secret", "first", folder)
    second = Tenant(server, "dev-client-2", "dev-secret-2", SECRET, folder)
    before = second.snapshot()
    assert sum(SECRET in str(body) for _, body in before.values()) > 1
    yield server, first, second
    requests_of_one_tenant_changed_no_data_of_another(second, before)
    the_log_has_no_sent_value_and_no_token(server.log[position:], first, second)


def requests_of_one_tenant_changed_no_data_of_another(second: Tenant, before: dict):
    after = second.snapshot()
    assert {key: value for key, value in after.items() if value != before[key]} == {}


def the_log_has_no_sent_value_and_no_token(text: str, first: Tenant, second: Tenant):
    # Beside what init asks for and the configuration does not offer: names of modes, models and languages.
    log = "\n".join(line for line in text.splitlines() if "init asks for" not in line)
    for word in (CANARY, SECRET, *first.tokens.values(), *second.tokens.values()):
        assert not isinstance(word, str) or len(word) < 10 or word not in log
    assert "unexpected error" not in text, [line for line in text.splitlines() if "unexpected" in line][:5]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_wrong_values_in_every_field_get_an_error_and_right_ones_an_answer(world, operation, request):
    server, first, second = world
    judge = Judge(operation, takes_all=request.config.option.markexpr != "not full")
    assert not operation.schema or operation.examples, "a body without an example"
    profiles(judge, first)
    parameters(judge, first, second)
    if operation.schema:
        bodies(judge, first, second)
    if operation.form:
        forms(judge, first)
    assert server.process.poll() is None
    judge.check("as it should be, in the end", Exchange(first, operation).send(), "good")
    if judge.problems:
        pytest.fail(f"{len(judge.problems)} problems\n" + "\n".join(judge.problems[:40]), pytrace=False)


@pytest.mark.parametrize("path, status", [
    ("/v1/file-upload", 200), ("/voice/api/v2/config", 200), ("/voice/api/v2/transaction/init/{id}", 201),
])
def test_deeply_nested_lists_are_accepted_like_flat_ones_of_the_same_length(world, path, status):
    _, first, _ = world
    # 43 KB each. Of a value that it stores, init counts half as much again for lists of one item.
    for lists in (["[]"] * 14_480, ["[" * 90 + "]" * 90] * 240):
        value = f"[{','.join(lists)}]"
        body = f'{{"transfer":"vaded","s3_url":"s3://b/f","data":{{"a":{value}}},"patient_details":{{"a":{value}}}}}'
        address = first.base_url + path.format(id=f"i-{uuid.uuid4()}")
        answer = first.session.request("PUT" if "config" in path else "POST", address, data=body, timeout=PATIENCE)
        assert answer.status_code == status, answer.text
