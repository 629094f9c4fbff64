"""docs/failures.md: each shipped fixture has a row, and each code of a result is on the page."""

import re

import yaml
from emulator import ROOT

PAGE = (ROOT / "docs/failures.md").read_text()


def test_the_page_has_the_shipped_fixtures_and_no_other():
    shipped = {fixture["name"] for fixture in yaml.safe_load((ROOT / "seed/fixtures.yaml").read_text())["fixtures"]}
    section = PAGE.split("\n## Choose an outcome\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`.+?) \|", section, re.MULTILINE)
    assert {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)} == shipped


def test_the_page_has_each_code_of_a_result():
    source = (ROOT / "Sources/ScribeDomain/Results/Diagnostic.swift").read_text()
    codes = re.findall(r'case \w+ = "(\w+)"', source)
    assert codes and [code for code in codes if f"`{code}`" not in PAGE] == []
