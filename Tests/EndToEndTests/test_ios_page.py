"""The Swift of the iOS page, type-checked against declarations that were written from the vendors' own pages."""

import re
import subprocess

from emulator import ROOT

STUBS = ROOT / "Tests/EndToEndTests/stubs"


def test_the_swift_of_the_ios_page_compiles_against_what_the_sdks_declare(tmp_path):
    page = (ROOT / "docs/recipes/ios.md").read_text()
    blocks = re.findall(r"```swift\n(.*?)```", page, re.DOTALL)
    imported = [re.search(r"^import (\w+)$", block, re.MULTILINE)[1] for block in blocks]
    assert imported == ["EkaScribeSDK", "SubQ", "SukiAmbientCore"]
    for name, block in zip(imported, blocks):
        module = ["swiftc", "-emit-module", "-module-name", name, "-o", tmp_path / f"{name}.swiftmodule"]
        subprocess.run([*module, STUBS / f"{name}.swift"], check=True)
        (tmp_path / "Page.swift").write_text(block)
        checked = subprocess.run(
            ["swiftc", "-typecheck", "-swift-version", "5", "-I", tmp_path, tmp_path / "Page.swift"],
            capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr
