"""The live server against its OpenAPI document, by schemathesis: examples, random data and call chains.

What its phase of edge cases does, test_every_field.py does for every field.
"""

import pathlib
import subprocess
import sys

import pytest
from emulator import ROOT, running
from suki_client import SukiClient


@pytest.fixture(scope="module")
def brief(tmp_path_factory):
    with running(tmp_path_factory.mktemp("brief"), "--ephemeral", "--long-poll", "50ms", "--log-level", "error", "--admin-token", "operator") as server:
        yield server


@pytest.mark.parametrize("document", ["scribe", "control"])
def test_schemathesis_finds_nothing(brief, document):
    clinician = SukiClient(brief.base_url)
    clinician.initialize()
    token = "operator" if document == "control" else brief.client().tokens["access_token"]
    result = subprocess.run(
        [
            pathlib.Path(sys.executable).parent / "schemathesis", "--config-file",
            ROOT / "Tests/EndToEndTests/schemathesis.toml", "run", ROOT / f"openapi/{document}.yaml", "--url", brief.base_url,
            "-H", f"Authorization: Bearer {token}", "-H", f"sdp_suki_token: {clinician.sdp_suki_token}", "--phases", "examples,fuzzing,stateful", "--max-examples", "5", "--seed", "1",
        ],
        capture_output=True, text=True, cwd=brief.folder,
    )
    assert result.returncode == 0, result.stdout[max(0, result.stdout.find("FAILURES")):][:6000]
    assert "unexpected_error" not in brief.log, brief.log
