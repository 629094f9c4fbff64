"""The same requests are answered with the same bytes, where the clock is frozen
and identifiers come from a seed value."""

import concurrent.futures

import pytest
from emulator import LONG, run, running
from namespaces import Access, EkaClient, access, control, created
from visits import Run, recorded  # noqa: F401 (a fixture)

NOW = "2031-03-05T08:00:00Z"


@pytest.fixture(scope="module")
def server(served):
    return served(*LONG)


def frozen(server, name: str = "default"):
    control(server, "PUT", "clock", params={"namespace": name}, json={"mode": "frozen", "now": NOW}).raise_for_status()


def seeded(server, value="42") -> Access:
    answer = control(server, "POST", "namespaces", json={"seed_value": value})
    assert answer.status_code == 201 and answer.json()["seed_value"] == str(value), answer.text
    frozen(server, answer.json()["name"])
    return access(server, answer.json(), "credentials")


def whole(server, inside: Access) -> list:
    run = Run(server, inside)
    run.first()
    run.second()
    return run.answers


def same(one: list, other: list):
    assert len(one) == len(other)
    assert [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]] == []


def test_two_namespaces_at_once_and_one_after_a_reset_answer_with_the_same_bytes(server):
    both = [seeded(server, 42), seeded(server, "42")]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda inside: whole(server, inside), both)
    assert len(one) > 50
    same(one, other)
    control(server, "POST", "reset", params={"namespace": both[0].name}).raise_for_status()
    frozen(server, both[0].name)
    same(whole(server, both[0]), one)
    others = whole(server, seeded(server, "43"))
    assert len(others) == len(one) and others != one


def test_a_snapshot_keeps_the_counts_of_identifiers(server, tmp_path):
    inside = seeded(server)
    query = {"namespace": inside.name}
    before = Run(server, inside)
    before.first()
    control(server, "PUT", "snapshots/half", params=query).raise_for_status()
    exported = control(server, "GET", "snapshots/half/content", params=query).content
    before.answers = []
    before.second()
    control(server, "POST", "snapshots/half/restore", params=query).raise_for_status()
    frozen(server, inside.name)
    after = Run(server, inside)
    after.second()
    same(after.answers, before.answers)
    # In another namespace, and by way of a file.
    other = seeded(server)
    control(
        server, "PUT", "snapshots/half/content", params={"namespace": other.name}, data=exported,
        headers={"Content-Type": "application/octet-stream"}).raise_for_status()
    control(server, "POST", "snapshots/half/restore", params={"namespace": other.name}).raise_for_status()
    frozen(server, other.name)
    elsewhere = Run(server, other)
    elsewhere.second()
    same(elsewhere.answers, before.answers)


def test_two_servers_with_a_seed_value_answer_with_the_same_bytes(server, tmp_path):
    with running(tmp_path, "--ephemeral", *LONG, "--seed-value", "a-b") as other:
        # A new namespace has the server's seed value, unless it names another one.
        made = created(other)
        assert made["seed_value"] == "a-b"
        assert control(other, "POST", "namespaces", json={"seed_value": -7}).json()["seed_value"] == "-7"
        frozen(other, made["name"])
        one = whole(other, access(other, made, "credentials"))
        # The default namespace has it too, and has it again after a reset.
        runs = []
        for _ in range(2):
            frozen(other)
            runs.append(whole(other, Access(other.base_url)))
            control(other, "POST", "reset").raise_for_status()
    same(*runs)
    same(one, whole(server, seeded(server, "a-b")))


def test_credentials_never_come_from_the_seed_value(server):
    made = [control(server, "POST", "namespaces", json={"seed_value": "42"}).json() for _ in range(2)]
    seen = []
    for namespace in made:
        inside = access(server, namespace, "credentials")
        client = EkaClient(inside)
        device = client.session.post(f"{client.base_url}/connect-auth/v1/device/code", json={}).json()
        keys = client.keys()
        links = client.session.post(f"{client.base_url}/voice/v1/sessions", json={"upload_type": "stream"}).json()
        seen.append([
            namespace["client_secret"], namespace["api_key"], namespace["api_key_hex"], client.tokens["access_token"],
            client.tokens["refresh_token"], device["device_code"], device["user_code"],
            keys["AccessKeyId"], keys["SecretKey"], keys["SessionToken"], links["upload_url"],
        ])
        assert links["session_id"]
    assert all(one != other for one, other in zip(*seen, strict=True))


@pytest.mark.parametrize("value", ["", "a b", "é", "x" * 65, "a\u0000", None, True, 1.5, ["a"], {}, 10**30])
def test_an_invalid_seed_value_is_refused(server, value):
    answer = control(server, "POST", "namespaces", json={"seed_value": value})
    assert answer.status_code == 400 and "seed_value" in answer.text, answer.text


@pytest.mark.parametrize("verb", [
    pytest.param(("serve", "--port", "0"), marks=pytest.mark.full), ("config", "check")])
def test_a_data_folder_refuses_a_seed_value(tmp_path, verb):
    result = run(*verb, "--data-dir", str(tmp_path / "data"), "--seed-value", "42")
    assert result.returncode == 1 and "add --ephemeral" in result.stderr + result.stdout, result
    assert not (tmp_path / "data").exists()
    assert run(*verb, "--ephemeral", "--seed-value", "a b").returncode != 0
