"""docs/sdk-errors.md: the server accepts every rule of the page,
and every error code that a server can cause has a row."""

import re
import shlex

from emulator import ROOT
from namespaces import control, created

PAGE = (ROOT / "docs/sdk-errors.md").read_text()
ROWS = [row.split(" | ") for row in PAGE.splitlines() if row.startswith("| ") and "`" in row]
#: Each as a shell takes it apart.
RULES = [shlex.split(rule) for row in ROWS for rule in re.findall("`([^`]*=[^`]*)`", row[1])]


def test_every_rule_of_the_page_is_accepted(server):
    assert len(RULES) > 40
    for rule in RULES:
        # A namespace of its own: one rule may hide another.
        query = {"namespace": created(server)["name"]}
        body = dict(pair.split("=", 1) for pair in rule)
        answer = control(server, "POST", "faults/next", params=query, json=body)
        assert answer.status_code == 201, (rule, answer.text)


def test_every_code_of_the_ios_sdk_that_a_server_can_cause_has_a_row():
    failures, codes = PAGE.split("## Codes of the iOS SDK")
    named = re.findall(r"^\| `(\w+)` \|", codes, re.MULTILINE)
    assert len(named) == 10 and [code for code in named if f"`{code}`" not in failures] == []
