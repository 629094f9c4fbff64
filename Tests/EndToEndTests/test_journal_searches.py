"""Searches of the journal by the command line: what is there twice, what is absent, and what is unknown."""

import http.client

import pytest
import requests
from client import BUCKET
from emulator import LONG, run, running
from faults import CONFIG
from namespaces import EkaClient, access, control, created


@pytest.fixture(scope="module")
def server(served):
    return served(*LONG)


@pytest.fixture
def inside(server):
    return access(server, created(server), "prefix")


@pytest.fixture
def verb(server, inside):
    def verb(*arguments, code=0):
        result = run(*arguments, "--url", server.base_url, "--namespace", inside.name)
        assert result.returncode == code, result
        return result.stdout or result.stderr

    return verb


def sent(server, path: str, *fields: tuple[str, str]) -> int:
    """Sends a request with these fields, also those that are there twice."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.putrequest("GET", path)
    for name, value in fields:
        connection.putheader(name, value)
    connection.endheaders()
    return connection.getresponse().status


def test_each_value_of_a_repeated_field_is_searched_and_the_host_is_one(server, inside, verb):
    path = f"/ns/{inside.name}/nowhere?a=1&a=2"
    sent(server, path, ("X-Part", "one"), ("X-Part", "two"))
    verb("requests", "verify", "header=X-Part: one", "header=X-Part: two", "no_header=X-Whole", "times=1")
    verb("requests", "verify", "header=X-Part: one, two", code=1)
    verb("requests", "verify", "query=a=1", "query=a=2", "no-query=b", "no_body=true")
    missed = verb("requests", "verify", "query=a=1", "query=a=3", code=1)
    assert "-query=a=3\n+query=a=1, a=2" in missed, missed
    verb("requests", "verify", f"header=Host: 127.0.0.1:{server.port}")
    number = control(server, "GET", "requests", params={"namespace": inside.name}).json()["requests"][0]["id"]
    assert f'"value" : "127.0.0.1:{server.port}"' in verb("requests", "show", str(number))
    assert "can be there only once" in verb("requests", "list", "status=404", "status=405", code=1)


def test_fault_rules_take_the_same_conditions(server, inside, verb):
    where = f"/ns/{inside.name}{CONFIG}"
    verb(
        "fault", "add", "header=X-Part: two", "query=a=1", "query=b", "no_header=X-Whole", "no_body=true",
        "status=418", "code=x")
    assert "header=X-Part: two" in (listed := verb("fault", "list")) and "query=a=1 query=b" in listed, listed
    parts = (("X-Part", "one"), ("X-Part", "two"))
    assert sent(server, f"{where}?a=2&a=1&b=", *parts) == 418
    assert sent(server, f"{where}?a=2&b=", *parts) != 418
    assert sent(server, f"{where}?a=1&b=", *parts, ("X-Whole", "")) != 418
    body = requests.post(f"{server.base_url}{where}?a=1&b=", data="x", headers={"X-Part": "two"})
    assert body.status_code != 418
    verb("fault", "clear")
    verb("fault", "add", f"header=Host: 127.0.0.1:{server.port}", "method=get", "status=418", "code=x")
    assert sent(server, where) == 418


def test_a_request_that_a_rule_refused_is_not_unmatched(server, inside, verb):
    verb("fault", "next", "path=/voice/*", "status=503")
    requests.get(f"{inside.base_url}{CONFIG}")
    assert verb("requests", "list", "--unmatched") == "no requests\n"
    assert "meant:" not in (listed := verb("requests", "list")) and "fault fault-1" in listed


def test_a_body_that_was_not_read_whole_is_unknown(inside, verb):
    body = ['{"note": "' + "fever and cough " * 2000, "and " * 50_000, 'zebra", "refresh_token": "x"}']
    answer = requests.post(
        f"{inside.base_url}/connect-auth/v1/account/refresh", data=map(str.encode, body),
        headers={"Content-Type": "application/json"})
    assert answer.status_code == 413, answer.text
    refused = ("requests", "verify", "method=post", "path=*/refresh")
    assert "only the first" in verb(*refused, "body=*zebra*", "times=0", code=1)
    verb(*refused, "body=*cough*", "times=1", code=0)
    verb(*refused, "no_body=true", "times=0")


def test_json_is_shown_as_json_and_an_unknown_value_is_named_as_one(server, inside, verb):
    EkaClient(inside).transaction("t-1").init([])
    number = control(server, "GET", "requests", params={"namespace": inside.name}).json()["requests"][-1]["id"]
    shown = verb("requests", "show", str(number))
    assert '"mode" : "consultation"' in shown and '"json" : {' in shown, shown
    assert r'{\"mode\"' in verb("requests", "show", str(number), "--json")
    for call in (("requests", "verify"), ("requests", "list"), ("fault", "add", "status=500")):
        told = verb(*call, "operation=initTransction", code=1)
        assert "no operation is called 'initTransction'; nearest: initTransaction" in told, told
    assert "the nearest name is operation" in verb("requests", "verify", "operatoin=x", code=1)
    helped = run("fault", "next", "--help").stdout
    for line in ("Conditions:", "Effects on sockets:", "no_body:", "retry_after: seconds in Retry-After"):
        assert line in helped, helped


def test_the_nearest_miss_is_a_request_and_not_a_delivery(server, inside, verb):
    client = EkaClient(inside)
    hook = client.session.post(f"{client.base_url}/voice/v1/webhooks", json={
        "url": "http://127.0.0.1:60009/", "events": ["session.started"], "secret": "s"})
    assert hook.status_code in (200, 201), hook.text
    client.transaction("t-1").init([])
    verb("requests", "verify", "kind=delivery", "--timeout", "10s")
    missed = verb("requests", "verify", "method=POST", "status=299", code=1)
    assert "POST /voice/" in missed.split("+++")[1], missed


def test_an_upper_bound_is_not_met_once_requests_are_dropped(served):
    server = served("--journal-max", "3")
    bound = ("requests", "verify", "operation=commitTransaction", "times=0", "--url", server.base_url)
    assert run(*bound).returncode == 0
    for number in range(5):
        requests.get(f"{server.base_url}/{BUCKET}/{number}")
    failed = run(*bound)
    assert failed.returncode == 1
    assert "found 0; 2 earlier exchanges are gone from the journal" in failed.stdout, failed.stdout
    assert "journal-max" in failed.stdout
    last = control(server, "GET", "requests").json()["requests"][-1]["id"]
    assert run(*bound, f"after={last}").returncode == 0
    assert run("requests", "clear", "--url", server.base_url).returncode == 0
    assert run(*bound).returncode == 0


def test_what_the_journal_does_not_keep_is_no_condition(served):
    server = served("--journal", "metadata")
    for condition in ("body=x", "header=X", "query=a", "path=/x", "client=c", "transaction=t", "no_body=true"):
        refused = run("requests", "verify", condition, "--url", server.base_url)
        assert refused.returncode == 1 and "--journal full" in refused.stderr, refused
    assert run("requests", "verify", "operation=commitTransaction", "times=0", "--url", server.base_url).returncode == 0
    for arguments in (("reset",), ("clock", "freeze")):
        assert run(*arguments, "--url", server.base_url).returncode == 0, "rows are in memory"


def test_a_refusal_names_the_flag_of_the_command_line(tmp_path):
    with running(tmp_path, "--data-dir", "data") as server:
        for arguments in (("reset",), ("clock", "freeze")):
            refused = run(*arguments, "--url", server.base_url)
            assert refused.returncode != 0
            assert "--namespace NAME" in refused.stderr and "X-Scribe-Namespace" not in refused.stderr, refused
            assert "--ephemeral or --allow-reset" in refused.stderr
