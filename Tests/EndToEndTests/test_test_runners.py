"""Test runners as docs/test-runners.md prints them: pytest with the plugin, Node's runner and JUnit."""

import os
import re
import subprocess
import sys

import pytest
from emulator import BINARY, PATIENCE, ROOT

PAGE = (ROOT / "docs/test-runners.md").read_text()
SUITE = '''
import json, urllib.request

def begin_consultation(url, client_id, client_secret, mode="consultation"):
    def post(path, body, token=None):
        headers = {"Content-Type": "application/json", **({"Authorization": "Bearer " + token} if token else {})}
        request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
        return json.load(urllib.request.urlopen(request))
    token = post("/connect-auth/v1/account/login", {"client_id": client_id, "client_secret": client_secret})["access_token"]
    body = {"mode": mode, "transfer": "vaded", "s3_url": "s3://bucket/260101/visit-1"}
    for _ in range(2):
        try:
            return post("/voice/api/v2/transaction/init/visit-1", body, token)
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise

EXAMPLE

def test_what_was_not_sent(scribe_namespace):
    begin_consultation(scribe_namespace.url, scribe_namespace.client_id, scribe_namespace.client_secret)
    try:
        urllib.request.urlopen(scribe_namespace.url + "/voice/api/v2/transaktion/visit-1")
    except urllib.error.HTTPError:
        pass
    assert scribe_namespace.unmatched()[0]["nearest"]["operation"] == "readTransaction"
    assert scribe_namespace.wait("50ms", operation="initTransaction") == [each["id"] for each in scribe_namespace.requests(operation="initTransaction")]
    scribe_namespace.verify(operation="initTransaction", body={"mode": "dictation"})

def test_an_unknown_operation(scribe_namespace):
    scribe_namespace.verify(operation="initTransactoin")
'''


def blocks(section: str, language: str) -> list[str]:
    (text,) = re.findall(rf"(?ms)^## {section}\n(.*?)(?=^## |\Z)", PAGE)
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """With the program on the path, as an installed one is."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "scribe-emulator").symlink_to(BINARY)
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("SCRIBE_", "PYTEST_"))}
    return {**plain, "PATH": f"{folder}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}


def shell(script: str, environment: dict, folder) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["sh", "-e", "-c", script], env=environment, cwd=folder, capture_output=True, text=True, timeout=4 * PATIENCE)


@pytest.fixture(scope="module")
def suite(environment, tmp_path_factory):
    """A suite with the example of the page, and the plugin as pip installs it."""
    folder = tmp_path_factory.mktemp("suite")
    (install,) = blocks("pytest", "sh")
    (example,) = blocks("pytest", "python")
    source = folder / "source"
    # A build writes beside its source.
    subprocess.run(["cp", "-R", ROOT / "testing/pytest-scribe", source], check=True)
    install = install.replace("./testing/pytest-scribe", f"{source}").replace(
        "pip install", f"{sys.executable} -m pip install --quiet --no-deps --no-build-isolation --target plugin")
    result = shell(install, environment, folder)
    assert result.returncode == 0, result.stderr
    (folder / "test_suite.py").write_text(SUITE.replace("EXAMPLE", example))
    return folder


def run_suite(suite, environment, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, "test_suite.py"],
        env={**environment, "PYTHONPATH": str(suite / "plugin")}, cwd=suite, capture_output=True, text=True, timeout=4 * PATIENCE)


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_pytest_gives_each_test_a_namespace_and_reports_its_requests(suite, environment, workers):
    result = run_suite(suite, environment, *workers)
    assert "1 passed" in result.stdout and "2 failed" in result.stdout, result.stdout + result.stderr
    assert '-body={"mode":"dictation"}' in result.stdout and '+body=mode: "consultation"' in result.stdout
    assert "scribe requests" in result.stdout
    assert re.search(r"POST  /voice/api/v2/transaction/init/visit-1  201  initTransaction", result.stdout)
    assert "meant: GET /voice/api/v2/transaction/{txn_id}?" in result.stdout
    assert "the nearest name is initTransaction" in result.stdout


def test_pytest_says_why_no_server_starts(suite, environment):
    result = run_suite(suite, {**environment, "SCRIBE_BINARY": "no-such-program"})
    assert "no-such-program is not there" in result.stdout, result.stdout


def test_node_and_junit_run_as_the_page_prints_them(environment, tmp_path):
    (node,), (junit,) = blocks("Node", "sh"), blocks("JUnit", "sh")
    for path in ("testing/node/", "testing/junit/"):
        node, junit = node.replace(path, f"{ROOT}/{path}"), junit.replace(path, f"{ROOT}/{path}")
    result = shell(node, environment, tmp_path)
    assert result.returncode == 0 and "# pass 2" in result.stdout and "# fail 0" in result.stdout, result.stdout + result.stderr
    result = shell(junit, environment, tmp_path)
    assert result.returncode == 0 and "2 tests successful" in result.stdout, result.stdout + result.stderr


def test_a_failed_node_test_shows_the_diff(environment, tmp_path):
    text = (ROOT / "testing/node/scribe.test.mjs").read_text().replace("times: 2", "times: 3")
    (tmp_path / "scribe.test.mjs").write_text(text)
    result = shell("scribe-emulator exec -- node --test .", environment, tmp_path)
    assert result.returncode != 0 and "Expected 3 of operation=initTransaction" in result.stdout, result.stdout
