"""The tables of error codes in docs/ are those of Tests/ScribeServerTests/errors.txt, and no other table has a code
that the server does not send."""

import re
import subprocess
import sys

import pytest
from emulator import ROOT

ERRORS = (ROOT / "Tests/ScribeServerTests/errors.txt").read_text()
#: Codes of results, which are no refusals: test_failures_page.py.
OF_RESULTS = {"output_not_available"}


def test_the_tables_of_error_codes_have_the_codes_of_every_refusal():
    checked = subprocess.run(
        [sys.executable, ROOT / "scripts/errors", "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("page", ["docs/protocol/eka.md", "docs/protocol/sessions.md"])
def test_the_codes_that_a_page_explains_are_sent_with_the_status_that_it_says(page):
    table = (ROOT / page).read_text().split("\n| code | status | when |\n")[1].split("\n\n")[0]
    rows = [row.split(" | ") for row in table.splitlines()[1:]]
    assert len(rows) > 2
    for cell, statuses, *_ in rows:
        for code in set(re.findall(r"`(\w+)`", cell)) - OF_RESULTS:
            sent = set(re.findall(rf' \| (\d{{3}}) \| .*"code":"{code}"', ERRORS))
            told = set(re.findall(r"\b\d{3}\b", statuses))
            assert sent & told and (len(told) > 1 or told <= sent), (code, sent, told)
