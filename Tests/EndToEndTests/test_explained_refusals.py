"""The log explains refused requests outside of strict mode, and holds no more of them than it may."""

import json

import pytest
import requests
from emulator import LOGGING, PLAIN, STRICT, wait_until

INIT = "/voice/api/v2/transaction/init"
SECRET = "unmistakable-secret"


def explanations(server) -> list[dict]:
    """The lines of refused requests: only they have a path."""
    lines = [json.loads(line) for line in server.log.splitlines()]
    return [line for line in lines if "path" in line and "host" in line]


def explanation(server, status: int) -> dict:
    """The line of the one request that was answered so."""
    wait_until(lambda: any(line["status"] == status for line in explanations(server)), f"a line about {status}")
    [line] = [line for line in explanations(server) if line["status"] == status]
    return line


class Since:
    """A running server, and its log since a test has begun."""

    def __init__(self, server):
        self.base_url, self.client, self.server, self.position = server.base_url, server.client, server, len(server.log)

    @property
    def log(self) -> str:
        return self.server.log[self.position:]


@pytest.fixture
def server(served):
    return Since(served(*LOGGING))


def test_a_wrong_base_path_that_ends_at_s3_names_the_route_that_was_meant(server):
    answer = requests.post(
        f"{server.base_url}/v2/transaction/init/t-1?token={SECRET}", data=SECRET,
        headers={"Authorization": f"Bearer {SECRET}"})
    line = explanation(server, answer.status_code)
    assert line["path"] == "/v2/transaction/init/…"
    assert (line["method"], line["host"], line["family"]) == ("POST", "127.0.0.1", "S3")
    assert line["claim"] == "no other family has its path"
    assert line["nearest"] == f"POST {INIT}/{{txn_id}}"
    assert SECRET not in server.log


@pytest.mark.parametrize("path, shown", [
    # Where a route has an identifier, the log shows no word.
    ("/voice/api/v2/transaction/inti/Asha-Rao-1975", "/voice/api/v2/transaction/…/…"),
    ("/voice/api/v2/transactoin/init/Asha-Rao-1975", "/voice/api/v2/transactoin/init/…"),
])
def test_a_path_that_no_route_has_names_the_nearest_and_no_patient(server, path, shown):
    answer = requests.post(f"{server.base_url}{path}", json={})
    assert answer.status_code == 404
    line = explanation(server, 404)
    assert line["path"] == shown
    assert line["nearest"] == f"POST {INIT}/{{txn_id}}"
    assert "words of the path" in line["claim"]
    assert "Asha" not in server.log


def test_a_refusal_has_its_own_text(server):
    client = server.client()
    answer = client.session.post(
        f"{server.base_url}{INIT}/t-1?name={SECRET}", json={"mode": "consultation", "s3_url": f"s3://b/{SECRET}"})
    assert answer.status_code == 400
    line = explanation(server, 400)
    assert "Field 'transfer'" in line["message"]
    assert line["path"] == f"{INIT}/{{txn_id}}"
    assert SECRET not in server.log


def test_the_log_names_a_refused_origin(server):
    requests.get(f"{server.base_url}/livez", headers={"Origin": "https://app.example"})
    line = explanation(server, 200)
    assert line["origin"] == "https://app.example"
    assert "--cors-origins" in line["message"]


def test_an_object_key_is_in_no_line(server):
    for path in ("/m-prod-voice-record/260510/unmistakable/1.m4a", "/any-bucket/unmistakable.m4a"):
        assert requests.put(f"{server.base_url}{path}", data=b"x").status_code == 403
    wait_until(lambda: len(explanations(server)) == 2, "two lines")
    assert [line["path"] for line in explanations(server)] == ["/m-prod-voice-record/…", "/any-bucket/…"]
    assert "unmistakable" not in server.log


@pytest.mark.parametrize("flags", [
    PLAIN, STRICT, pytest.param(("--auth", "strict", "--explain"), marks=pytest.mark.full),
])
def test_with_no_explain_and_in_strict_mode_the_log_has_route_names_only(served, flags):
    server = Since(served(*flags))
    requests.post(f"{server.base_url}/voice/api/v2/transaction/inti/unmistakable", json={})
    requests.get(f"{server.base_url}/livez", headers={"Origin": "https://refused.example"})
    wait_until(lambda: "NotFound 404" in server.log, "the request's line")
    assert explanations(server) == []
    assert "unmistakable" not in server.log and "refused.example" not in server.log


def test_the_front_page_shows_demo_credentials_except_in_strict_mode(server, strict):
    page = requests.get(f"{server.base_url}/docs", headers={"Accept": "text/html"})
    assert page.status_code == 200 and page.url == f"{server.base_url}/"
    assert f"BASE={server.base_url}" in page.text and "dev-secret" in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    page = requests.get(f"{strict.base_url}/", headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert "dev-secret" not in page.text and strict.base_url not in page.text
