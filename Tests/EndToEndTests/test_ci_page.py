"""Runs what docs/ci.md prints, as it is printed."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import requests
import yaml
from emulator import BINARY, PATIENCE, ROOT, running, wait_until

PAGE = (ROOT / "docs/ci.md").read_text()
BLOCKS = {
    found["name"]: found["text"]
    for found in re.finditer(r"```\w+\n(?P<text>(?:#|//) (?P<name>[\w./-]+)\n.*?)```", PAGE, re.DOTALL)
}


def run(folder, command) -> subprocess.CompletedProcess:
    environment = {**os.environ, "SCRIBE_BINARY": str(BINARY), "TMPDIR": str(folder)}
    for name in ("PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE)


def test_the_server_in_node_runs_as_printed_and_ends_with_its_tests(tmp_path):
    shutil.copy(ROOT / "testing/node/emulator.mjs", tmp_path)
    (tmp_path / "login.test.mjs").write_text(BLOCKS["login.test.mjs"])
    passed = run(tmp_path, ["node", "--test"])
    assert passed.returncode == 0, passed.stdout + passed.stderr
    right = "assert.ok((await answer.json()).access_token)"
    assert right in BLOCKS["login.test.mjs"]
    (tmp_path / "login.test.mjs").write_text(BLOCKS["login.test.mjs"].replace(right, "assert.ok(false)"))
    failed = run(tmp_path, ["node", "--test"])
    assert failed.returncode != 0 and "fail 1" in failed.stdout, failed.stdout + failed.stderr
    wait_until(
        lambda: not subprocess.run(["pgrep", "-f", f"serve.*{tmp_path}"], capture_output=True).stdout,
        "no server is left behind")


def test_the_step_that_starts_the_server_runs_as_printed(tmp_path):
    job = yaml.safe_load(BLOCKS[".github/workflows/contract.yaml"])["jobs"]["contract"]
    checkouts = [step.get("with", {}) for step in job["steps"] if step.get("uses", "").startswith("actions/checkout")]
    assert checkouts[0] == {} and checkouts[1]["path"] == "scribe-emulator", "the user's own repository comes first"
    (script,) = [step["run"] for step in job["steps"] if "serve" in step.get("run", "")]
    folder = tmp_path / "scribe-emulator/.build"
    folder.mkdir(parents=True)
    (folder / "debug").symlink_to(BINARY.parent)
    exported = tmp_path / "exported"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GITHUB_ENV": str(exported)}
    subprocess.run(
        ["sh", "-e", "-c", script + "\necho $! >pid"], cwd=tmp_path, env=environment, check=True, timeout=PATIENCE)
    try:
        values = dict(line.split("=", 1) for line in exported.read_text().splitlines())
        login = {"client_id": values["SCRIBE_CLIENT_ID"], "client_secret": values["SCRIBE_CLIENT_SECRET"]}
        assert requests.post(
            f"{values['SCRIBE_BASE_URL']}/connect-auth/v1/account/login", json=login).status_code == 200
    finally:
        os.kill(int((tmp_path / "pid").read_text()), 15)


def test_the_environment_of_the_service_starts_a_server_that_lets_its_client_in(tmp_path):
    job = yaml.safe_load(BLOCKS[".github/workflows/contract-image.yaml"])["jobs"]["contract"]
    image = {"SCRIBE_HOST": "0.0.0.0", "SCRIBE_EPHEMERAL": "true"}
    with running(tmp_path, environment={**image, **job["services"]["scribe"]["env"]}) as server:
        login = {"client_id": job["env"]["SCRIBE_CLIENT_ID"], "client_secret": job["env"]["SCRIBE_CLIENT_SECRET"]}
        assert requests.post(f"{server.base_url}/connect-auth/v1/account/login", json=login).status_code == 200


LIVE = {"method": "GET", "path": "/livez", "status": 200, "type": "application/json", "body": '{"status":"alive"}'}


@pytest.mark.parametrize("exchange, options, problem", [
    (LIVE, [], None),
    ({**LIVE, "body": '{"status":"dead"}'}, [], "'alive' was expected"),
    ({**LIVE, "status": 500}, [], "not documented"),
    (LIVE, ["--coverage"], "no test gets it"),
])
@pytest.mark.parametrize("kind", ["jsonl", "har"])
def test_a_recording_of_one_exchange_is_checked(tmp_path, exchange, options, problem, kind):
    content = {"mimeType": exchange["type"], "text": exchange["body"]}
    entry = {
        "request": {"method": exchange["method"], "url": f"http://127.0.0.1:8087{exchange['path']}"},
        "response": {"status": exchange["status"], "content": content},
    }
    file = tmp_path / f"exchanges.{kind}"
    file.write_text(json.dumps(exchange if kind == "jsonl" else {"log": {"entries": [entry]}}))
    script = ROOT / "Tests/EndToEndTests/check_exchanges.py"
    # Away from this folder's modules: the script needs nothing beside it.
    checked = run(tmp_path, [sys.executable, "-P", script, *options, file])
    assert checked.returncode == (1 if problem else 0), checked.stdout + checked.stderr
    assert (problem or "1 exchanges, 0 problems") in checked.stdout
