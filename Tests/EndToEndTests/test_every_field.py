"""Any value in any field, path or query of any operation gets a documented answer and nobody else's data.

The requests are derived from openapi/scribe.yaml: its schemas say which bodies are right and which are wrong.
"""

import pytest
from emulator import TLS, running
from every_field.cases import bodies, forms, parameters, profiles
from every_field.judge import SECRET, Judge
from every_field.operations import OPERATIONS
from every_field.tenants import Exchange, Tenant
from every_field.values import CANARY


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A server, two tenants, and what the second could read before anything happened."""
    folder = tmp_path_factory.mktemp("fields")
    flags = (
        "--ephemeral", "--long-poll", "50ms", "--object-wait", "50ms", "--log-level", "debug", "--suki-shortest", "0s",
    )
    with running(folder, *flags, *TLS) as server:
        first = Tenant(server, "dev-client", "dev-secret", "first", folder)
        second = Tenant(server, "dev-client-2", "dev-secret-2", SECRET, folder)
        yield server, first, second, second.snapshot()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_wrong_values_in_every_field_get_an_error_and_right_ones_an_answer(world, operation):
    server, first, second, _ = world
    judge = Judge(operation)
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


@pytest.mark.parametrize("path", ["/v1/file-upload", "/voice/api/v2/config", "/voice/api/v2/transaction/init/i-deep"])
def test_depth_costs_no_more_than_length(world, path):
    """100 KB of nested lists take about as long as 100 KB of flat ones."""
    _, first, _, _ = world

    def seconds(value: str) -> float:
        body = f'{{"transfer":"vaded","s3_url":"s3://b/f","data":{{"a":{value}}},"patient_details":{{"a":{value}}}}}'
        answer = first.session.request("PUT" if "config" in path else "POST", first.base_url + path, data=body)
        assert answer.status_code < 500
        return answer.elapsed.total_seconds()

    flat = seconds("[" + ",".join(["[]"] * 16_000) + "]")
    nested = seconds("[" + ",".join(["[" * 90 + "]" * 90] * 270) + "]")
    assert nested < 5 * flat + 0.5


def test_requests_of_one_tenant_change_no_data_of_another(world):
    _, _, second, before = world
    after = second.snapshot()
    assert sum(SECRET in str(body) for _, body in before.values()) > 1
    assert {key: value for key, value in after.items() if value != before[key]} == {}


def test_the_log_has_no_sent_value_and_no_token(world):
    server, first, second, _ = world
    # Beside what init asks for and the configuration does not offer: names of modes, models and languages.
    log = "\n".join(line for line in server.log.splitlines() if "init asks for" not in line)
    for word in (CANARY, SECRET, *first.tokens.values(), *second.tokens.values()):
        assert not isinstance(word, str) or len(word) < 10 or word not in log
    assert "unexpected error" not in server.log, [line for line in server.log.splitlines() if "unexpected" in line][:5]
