"""Every fenced block of the pages: run as it is printed, with what it prints, or named with the test or the reason.

`SCRIBE_WRITE_PAGES=1` writes the snapshots in blocks/. Read them afterwards as a new user does: they have what the
commands of the pages print, and an error there is a wrong page or a wrong server.
"""

import os
import pathlib
import subprocess

import pytest
import yaml
from emulator import ROOT
from page_blocks import BLOCKS, ELSEWHERE, FOLDER, PAGES, TABLE, TYPED, is_printed, output, shown

WRITES = os.environ.get("SCRIBE_WRITE_PAGES") == "1"
ALL = [block for page in PAGES for block in BLOCKS[page]]


def snapshot(page: str) -> pathlib.Path:
    return FOLDER / (page.removeprefix("docs/").removesuffix(".md").replace("/", "-") + ".txt")


@pytest.mark.parametrize("page", [
    pytest.param(page, marks=[pytest.mark.full] if TABLE.get(page, {}).get("full") else []) for page in TYPED])
def test_the_commands_of_a_page_print_what_its_snapshot_has(page, tmp_path):
    typed = output(page, tmp_path)
    told, wrong = "", []
    for block in BLOCKS[page]:
        told = "\n".join(each[1] for other, commands in typed for each in commands if other == block) or told
        if "printed" in block.entry and not is_printed(block, told, tmp_path):
            wrong.append(block.text)
    assert not wrong, f"{page} prints what its commands do not:\n{''.join(wrong)}\n{shown(typed)}"
    if WRITES:
        snapshot(page).write_text(shown(typed))
    assert shown(typed) == snapshot(page).read_text(), f"{page}: if that is right, SCRIBE_WRITE_PAGES=1 writes it"


def test_each_block_is_run_here_or_by_another_test_or_has_a_reason():
    lost = [block for block in ALL if not block.is_run and not ELSEWHERE & block.entry.keys()]
    assert lost == [], "not in blocks/pages.yaml"


def test_each_name_in_the_table_is_that_of_a_block():
    named = [(page, first) for page, table in TABLE.items() for first in table.get("blocks", {})]
    firsts = [(block.page, block.first) for block in ALL]
    assert [name for name in named if name not in firsts] == []
    alike = [name for name in named if firsts.count(name) > 1]
    assert [block for block in ALL if block.is_run and (block.page, block.first) in alike] == []
    assert [page for page in TABLE if page not in PAGES] == []
    assert sorted(FOLDER.glob("*.txt")) == sorted(map(snapshot, TYPED))


def test_the_test_that_runs_a_block_names_its_page():
    elsewhere = {(block.page, block.entry["test"]) for block in ALL if "test" in block.entry}
    assert [(page, test) for page, test in elsewhere if page not in (ROOT / test).read_text()] == []


def test_code_that_no_test_runs_can_be_parsed(tmp_path):
    scripts = []
    for number, block in enumerate(block for block in ALL if "reason" in block.entry):
        if block.language == "python":
            compile(block.text, block.page, "exec")
        elif block.language == "yaml":
            yaml.load(block.text, Compose)
        elif block.language in ("js", "ts"):
            scripts.append(tmp_path / f"{number}.mjs")
            scripts[-1].write_text(block.text)
    checked = subprocess.run(
        ["node", "--experimental-vm-modules", "--no-warnings", "--input-type=module", "-e", PARSER, *scripts],
        capture_output=True, text=True)
    assert scripts and checked.returncode == 0, checked.stderr


PARSER = """
import { readFileSync } from "node:fs";
import { SourceTextModule } from "node:vm";
for (const path of process.argv.slice(1)) new SourceTextModule(readFileSync(path, "utf8"), { identifier: path });
"""


class Compose(yaml.SafeLoader):
    """Reads the tags of compose files."""


Compose.add_constructor("!override", lambda loader, node: loader.construct_sequence(node))
