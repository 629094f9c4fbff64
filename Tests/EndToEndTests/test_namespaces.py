"""The control API of namespaces: make, list, read, reset and delete them, and every refusal of these calls."""

import concurrent.futures
import json
import pathlib
import re

import pytest
import requests
from emulator import PATIENCE, wait_until
from faults import FLAGS
from listen_client import voice
from namespaces import HEADER, Access, EkaClient, access, control, counts, created
from webhooks import KEY, Receiver

PUBLIC = {"name", "path", "url", "created_at", "last_used_at", "state", "client_id", "partner_id"}
SECRET = {"client_secret", "api_key", "api_key_hex"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
#: No names of namespaces.
WRONG = [
    "", "A", "Visit", "a/b", "/a", "a/", "a\0b", "\0", "a" * 64, "ä", "a b", " a", "a\n", "a_b", "a.b", "..", "a%2Fb",
    "\u0660"]


@pytest.fixture(scope="module")
def server(served):
    return served(*FLAGS)


def listed(server, **options) -> dict:
    answer = control(server, "GET", "namespaces", **options)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(answer: requests.Response, status: int, code: str):
    """Checks an error of the control API."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"].startswith("application/problem+json")
    problem = answer.json()
    assert (problem["code"], problem["status"]) == (code, status) and problem["detail"], problem
    assert problem["request_id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize("name", ["t-1", "a", "0", "-", "a" * 63, None])
def test_a_namespace_is_made_listed_read_and_deleted(server, name):
    made = created(server, name)
    name = made["name"] if name is None else name
    assert re.fullmatch(r"[a-z0-9-]{1,63}", name)
    public = {key: value for key, value in made.items() if key in PUBLIC}
    try:
        assert made.keys() == PUBLIC | SECRET
        assert made["name"] == name and made["path"] == f"/ns/{name}" and made["url"] == f"{server.base_url}/ns/{name}"
        assert (made["client_id"], made["partner_id"]) == (f"ns_{name}_client", f"ns_{name}_partner")
        assert made["state"] == 1 and len(made["client_secret"]) >= 20
        assert made["api_key"].startswith(f"ns_{name}_") and len(made["api_key"]) >= len(f"ns_{name}_") + 20
        assert re.fullmatch("[0-9a-f]{40}", made["api_key_hex"])
        assert TIME.fullmatch(made["created_at"]) and TIME.fullmatch(made["last_used_at"])
        read = control(server, "GET", f"namespaces/{name}")
        assert read.status_code == 200 and {**read.json(), "last_used_at": made["last_used_at"]} == public
        found = listed(server)
        assert found.keys() == {"namespaces", "max"} and found["max"] == 1000
        assert [each.keys() for each in found["namespaces"] if each["name"] == name] == [PUBLIC]
    finally:
        answer = control(server, "DELETE", f"namespaces/{name}")
    assert answer.status_code == 204 and answer.content == b""
    refused(control(server, "GET", f"namespaces/{name}"), 404, "not_found")
    refused(control(server, "DELETE", f"namespaces/{name}"), 404, "not_found")
    assert name not in [each["name"] for each in listed(server)["namespaces"]]


def test_an_empty_body_or_object_creates_a_namespace_with_a_generated_name(server):
    names = set()
    for body in ({}, {"data": b""}, {"json": {}}, {"data": b"{}", "headers": {"Content-Type": "application/json"}}):
        answer = control(server, "POST", "namespaces", **body)
        assert answer.status_code == 201, answer.text
        names.add(answer.json()["name"])
    assert len(names) == 4 <= len(listed(server)["namespaces"])


def test_namespaces_are_listed_by_name_without_secrets(server):
    made = [created(server, f"sorted-{name}") for name in ("b", "a", "10", "9", "-")]
    answer = control(server, "GET", "namespaces")
    names = [each["name"] for each in answer.json()["namespaces"]]
    assert names == sorted(names) and len([name for name in names if name.startswith("sorted-")]) == 5
    for each in made:
        for secret in SECRET:
            assert each[secret] not in answer.text
            assert each[secret] not in control(server, "GET", f"namespaces/{each['name']}").text


@pytest.mark.parametrize("body", [
    *({"name": name} for name in WRONG), {"name": 7}, {"name": True}, {"name": ["a"]}, {"name": {}}, {"name": 1.5},
    {"name": "fresh", "idle": "1h"}, {"Name": "fresh"}, {"name": "fresh", "": 1}, [], ["fresh"], "fresh", 7, True,
], ids=lambda body: json.dumps(body)[:30])
def test_an_invalid_name_is_refused_and_creates_no_namespace(server, body):
    before = listed(server)["namespaces"]
    refused(control(server, "POST", "namespaces", json=body), 400, "invalid_request")
    assert [each["name"] for each in listed(server)["namespaces"]] == [each["name"] for each in before]


@pytest.mark.parametrize("body", [b"{", b"name=fresh", b'{"name": "fresh"', b"\xff", b'{"name": "\xff"}', b"[" * 5000])
def test_a_body_that_is_no_json_is_refused_and_makes_none(server, body):
    before = listed(server)["namespaces"]
    answer = control(server, "POST", "namespaces", data=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400 and answer.json()["status"] == 400, answer.text
    assert len(listed(server)["namespaces"]) == len(before)


def test_a_taken_name_is_refused_and_its_namespace_stays_as_it_is(server):
    made = created(server, "taken")
    client = EkaClient(access(server, made, "credentials"))
    assert client.transaction("mine").init().status_code == 201
    for name in ("taken", "default"):
        refused(control(server, "POST", "namespaces", json={"name": name}), 409, "namespace_exists")
    assert client.history() == ["mine"]
    again = EkaClient(access(server, made, "credentials"))
    assert again.history() == ["mine"] and control(server, "GET", "namespaces/taken").json()["state"] == 1


def test_of_simultaneous_calls_with_one_name_exactly_one_creates_the_namespace(server):
    def attempt(_):
        return control(server, "POST", "namespaces", json={"name": "contested"})

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(attempt, range(12)))
    assert sorted(answer.status_code for answer in answers) == [201] + 11 * [409]
    [made] = [answer.json() for answer in answers if answer.status_code == 201]
    assert EkaClient(access(server, made, "credentials")).history() == []


@pytest.mark.parametrize("name", [
    "unknown", "UNKNOWN", "default", "a" * 64, "%00", "a%2Fb", "..%2Finfo", "%C3%A4", "a%20b", "%FF"])
def test_an_unknown_name_is_not_found(server, name):
    before = [each["name"] for each in listed(server)["namespaces"]]
    for method in ("GET", "DELETE"):
        refused(control(server, method, f"namespaces/{name}"), 404, "not_found")
    if name != "default":
        for way in ({"params": f"namespace={name}"}, {"headers": {HEADER: name}}):
            for method, path in (("POST", "reset"), ("GET", "info"), ("GET", "deliveries"), ("GET", "webhooks")):
                refused(control(server, method, path, **way), 404, "not_found")
    assert [each["name"] for each in listed(server)["namespaces"]] == before


def test_a_reset_takes_no_fields_and_the_default_namespace_too(server):
    made = created(server, "reset-me")
    client = EkaClient(access(server, made, "prefix"))
    assert client.transaction("mine").init().status_code == 201
    default = EkaClient(Access(server.base_url))
    assert default.transaction("default's").init().status_code == 201
    chosen = {"params": {"namespace": "reset-me"}}
    for body in ({"namespace": "reset-me"}, {"x": None}, [], "x"):
        refused(control(server, "POST", "reset", json=body, **chosen), 400, "invalid_request")
    different = {**chosen, "headers": {HEADER: "reset-you"}}
    created(server, "reset-you")
    refused(control(server, "POST", "reset", **different), 409, "namespaces_differ")
    assert client.history() == ["mine"] and default.history() == ["default's"]
    assert control(server, "GET", "namespaces/reset-me").json()["state"] == 1
    ways = [chosen, {"headers": {HEADER: "reset-me"}}, {**chosen, "headers": {HEADER: "reset-me"}, "json": {}}]
    for state, way in enumerate(ways, 2):
        answer = control(server, "POST", "reset", **way)
        assert answer.status_code == 200 and answer.json() == {"namespace": "reset-me", "state": state}
    assert control(server, "GET", "namespaces/reset-me").json()["state"] == 4
    assert default.history() == ["default's"] and client.history() == []
    assert client.transaction("mine").init().status_code == 201
    # The server keeps its rows in memory: with a data folder it takes --allow-reset.
    for none in ({}, {"params": {"namespace": "default"}}, {"headers": {HEADER: "default"}}):
        answer = control(server, "POST", "reset", **none)
        assert answer.status_code == 200 and answer.json()["namespace"] == "default"
        assert default.history() == [] and client.history() == ["mine"]


def test_a_deleted_name_can_be_created_again_and_old_credentials_do_not_open_it(server):
    old = created(server, "again")
    inside = access(server, old, "credentials")
    client = EkaClient(inside)
    assert client.transaction("mine").init().status_code == 201
    s3 = client.s3()
    s3.put_object(Bucket="kept", Key="a", Body=b"x")
    assert control(server, "DELETE", "namespaces/again").status_code == 204

    def opened() -> list[int]:
        query = {"encoding": "linear16", "sample_rate": 16000}
        calls = [
            client.get("/voice/api/v2/transaction/history"),
            requests.post(f"{server.base_url}/connect-auth/v1/account/login", json={
                "client_id": inside.client, "client_secret": inside.secret}),
            requests.post(f"{server.base_url}/connect-auth/v1/account/refresh-token", json={
                "refresh_token": client.tokens["refresh_token"]}),
            requests.post(f"{server.base_url}/v1/listen", voice(1), params=query, headers={
                "Authorization": f"Token {inside.key}"}),
        ]
        link = requests.get(s3.generate_presigned_url("get_object", {"Bucket": "kept", "Key": "a"}))
        assert re.search(
            "<Code>(ExpiredToken|InvalidToken|InvalidAccessKeyId|AccessDenied)</Code>", link.text), link.text
        return [answer.status_code for answer in calls]

    gone = opened()
    assert all(status in (401, 403) for status in gone), gone
    fresh = created(server, "again")
    assert fresh["client_secret"] != old["client_secret"] and fresh["api_key"] != old["api_key"] and fresh["state"] == 1
    after = opened()
    assert all(status in (401, 403) for status in after), after
    assert EkaClient(access(server, fresh, "credentials")).history() == []


def test_the_other_calls_of_the_operator_choose_a_namespace_too(server):
    """A webhook of one namespace is in no other, and neither are its deliveries."""
    first, second = created(server), created(server)
    client = EkaClient(access(server, first, "prefix"))
    with Receiver() as receiver:
        hook = {"url": f"{receiver.url}/good", "events": ["session.started"], "secret": KEY}
        answer = client.session.post(f"{client.base_url}/voice/v1/webhooks", json=hook, timeout=PATIENCE)
        assert answer.status_code == 201, answer.text
        EkaClient(access(server, second, "prefix")).transaction("other").init()
        client.transaction("mine").init()
        wait_until(lambda: receiver.heard["/good"], "the webhook is called")
        assert receiver.heard["/good"] == [("mine", "session.started")]
        for way in (lambda name: {"params": {"namespace": name}}, lambda name: {"headers": {HEADER: name}}):
            for call in ("webhooks", "deliveries"):
                found = [control(server, "GET", call, **way(each["name"])).json()[call] for each in (first, second)]
                assert [len(rows) for rows in found] == [1, 0], call
            assert control(server, "GET", "webhooks", **way("default")).json()["webhooks"] == []
        assert control(server, "GET", "webhooks").json()["webhooks"] == []
        assert counts(server, first["name"])["webhooks"] == 1 and counts(server)["webhooks"] == 0
    different = {"params": {"namespace": first["name"]}, "headers": {HEADER: second["name"]}}
    for call in ("webhooks", "deliveries", "info"):
        refused(control(server, "GET", call, **different), 409, "namespaces_differ")


def test_an_idle_namespace_holds_no_thread_and_no_descriptor(server):
    def held(server) -> tuple[int, int]:
        process = pathlib.Path(f"/proc/{server.process.pid}")
        return len(list((process / "task").iterdir())), len(list((process / "fd").iterdir()))

    # The first namespaces start the threads that all of them share.
    for _ in range(4):
        control(server, "DELETE", f"namespaces/{created(server)['name']}")
    before = held(server)
    for _ in range(50):
        created(server)
    wait_until(
        lambda: all(now <= then for now, then in zip(held(server), before)), f"no more than {before} are held")
