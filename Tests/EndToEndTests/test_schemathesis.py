"""The live server against its OpenAPI document, by schemathesis: examples, random data and call chains.

What its phase of edge cases does, test_every_field.py does for every field.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from emulator import ROOT, running
from schemas import document

PAGE = (ROOT / "docs/ci.md").read_text()


@pytest.fixture(scope="module")
def brief(tmp_path_factory):
    with running(
        tmp_path_factory.mktemp("brief"), "--ephemeral", "--long-poll", "50ms", "--log-level", "error",
        "--admin-token", "operator"
    ) as server:
        yield server


def environment(server) -> dict:
    return {
        **os.environ, "SCRIBE_BASE_URL": server.base_url, "SCRIBE_CLIENT_ID": "dev-client",
        "SCRIBE_CLIENT_SECRET": "dev-secret", "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
    }


def count_operations() -> int:
    """Operations of the document, with those of path items that are components."""
    contract = document("scribe.yaml")
    items = [*contract["paths"].values(), *contract["components"]["pathItems"].values()]
    return sum(method in item for item in items for method in ("get", "post", "put", "patch", "delete"))


def passes(server, result: subprocess.CompletedProcess):
    assert result.returncode == 0, result.stdout[max(0, result.stdout.find("FAILURES")):][:6000] + result.stderr
    assert "unexpected_error" not in server.log, server.log


#: Phases and examples of `make test`, where the page has `examples,fuzzing,stateful` and 5.
FEWER = ("--phases examples,fuzzing --max-examples 1", "--phases examples,fuzzing,stateful --max-examples 5")


@pytest.mark.parametrize("is_short", [True, pytest.param(False, marks=pytest.mark.full)], ids=["short", "as printed"])
def test_schemathesis_finds_nothing_as_the_page_runs_it(brief, is_short):
    (script,) = re.findall(r"## Random requests: schemathesis.*?```sh\n(.*?)```", PAGE, re.DOTALL)
    # The document of this tree, and the same requests each time.
    script = script.replace("scribe-emulator/Tests", f"{ROOT}/Tests").replace(
        '"$SCRIBE_BASE_URL/openapi.yaml"', f"{ROOT}/openapi/scribe.yaml --seed 1")
    assert FEWER[1] in script
    script = script.replace(FEWER[1], FEWER[0]) if is_short else script
    result = subprocess.run(
        ["sh", "-e", "-c", script], env=environment(brief), capture_output=True, text=True, cwd=brief.folder)
    passes(brief, result)
    assert f"Tested: {count_operations()}" in result.stdout, result.stdout


@pytest.mark.parametrize("phases", [FEWER[0], pytest.param(FEWER[1], marks=pytest.mark.full)], ids=["short", "long"])
def test_schemathesis_finds_nothing_in_the_operators_api(brief, phases):
    # Without the logins of the other documents.
    text = pathlib.Path(__file__).with_name("schemathesis.toml").read_text()
    configuration = brief.folder / "control.toml"
    configuration.write_text(text[text.index("[[operations]]"):])
    result = subprocess.run(
        ["schemathesis", "--config-file", configuration, "run", ROOT / "openapi/control.yaml", "--url", brief.base_url,
         "-H", "Authorization: Bearer operator", *phases.split(),
         "--seed", "1",
         # They last, or take lines of JSON, which schemathesis cannot make: test_journal.py and
         # test_journal_streams.py.
         "--exclude-operation-id-regex", "^(streamRequests|waitForRequests|addPlayback)"],
        env=environment(brief), capture_output=True, text=True, cwd=brief.folder)
    passes(brief, result)
