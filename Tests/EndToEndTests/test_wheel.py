"""The Python wheel, built from the binary that the tests use, installed where nothing else is."""

import hashlib
import importlib.machinery
import importlib.util
import os
import pathlib
import struct
import subprocess
import sys
import zipfile

import pytest
from emulator import BINARY, running

ROOT = pathlib.Path(__file__).parents[2]
MANUAL = "share/man/man1/scribe-emulator.1"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    tree = folder / "tree"
    for path in ("bin", "share/man/man1"):
        (tree / path).mkdir(parents=True)
    subprocess.run(["strip", "-o", tree / "bin/scribe-emulator", BINARY], check=True)
    (tree / MANUAL).write_text('.Dd "November 24, 2026"\n')
    told = subprocess.run(
        [sys.executable, ROOT / "scripts/wheel", tree, folder / "dist"], check=True, capture_output=True, text=True,
        env={**os.environ, "WHEEL_LEVEL": "1"}).stdout
    return pathlib.Path(told.strip())


def test_the_server_installed_by_pip_writes_a_first_note(wheel, tmp_path, chunks):
    environment = tmp_path / "environment"
    # Copying pip into it takes seconds.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    pip = [sys.executable, "-m", "pip", "--python", environment, "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", "--no-index", wheel], check=True)
    installed = environment / "bin/scribe-emulator"
    version = subprocess.run([installed, "version"], check=True, capture_output=True, text=True).stdout.split()[0]
    assert version in wheel.name and (environment / MANUAL).exists()
    with running(tmp_path, "--ephemeral", binary=installed) as server:
        client = server.client()
        transaction = client.transaction("installed")
        assert transaction.init().status_code == 201
        s3 = client.s3()
        for chunk in chunks:
            transaction.upload(s3, *chunk)
        transaction.stop()
        transaction.commit()
        while (answer := transaction.poll()).status_code == 202:
            pass
        assert answer.status_code == 200 and answer.json()["data"]["output"]
    subprocess.run([*pip, "uninstall", "--yes", "scribe-emulator"], check=True)
    assert not installed.exists()


def test_a_wheel_has_its_platform_tag_and_lists_every_file(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [record] = [name for name in names if name.endswith("/RECORD")]
        assert sorted(line.split(",")[0] for line in archive.read(record).decode().splitlines()) == sorted(names)
        [about] = [name for name in names if name.endswith("/WHEEL")]
        tag = wheel.name.removesuffix(".whl").split("-", 2)[2]
        assert f"Tag: {tag}\n" in archive.read(about).decode()
        assert any(name.endswith("/LICENSE") for name in names)


def icu_data():
    path = str(ROOT / "scripts/icu-data")
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("icu_data", importlib.machinery.SourceFileLoader("icu_data", path)))
    module.__loader__.exec_module(module)
    return module


def items(data: bytes) -> dict[str, bytes]:
    """What ICU finds in its data, each item to the beginning of the next one."""
    [base] = struct.unpack_from("<H", data)
    [count] = struct.unpack_from("<I", data, base)
    places = [struct.unpack_from("<II", data, base + 4 + 8 * index) for index in range(count)]
    ends = [start for _, start in places[1:]] + [len(data) - base]
    assert all(start % 16 == 0 for _, start in places)
    return {
        data[base + name:data.index(b"\0", base + name)].decode(): data[base + start:base + end]
        for (name, start), end in zip(places, ends)}


def test_the_wheel_has_no_data_of_unused_locales():
    names = [
        "icu/brkitr/ja.dict", "icu/brkitr/word.brk", "icu/coll/root.res", "icu/coll/zh.res", "icu/de.res", "icu/en.res",
        "icu/en_IN.res", "icu/gb18030.cnv", "icu/pool.res", "icu/supplementalData.res", "icu/translit/root.res",
        "icu/unames.icu", "icu/zone/en.res"]
    content = {name: bytes([index + 1]) * 32 for index, name in enumerate(names)}
    table, texts, first = struct.pack("<I", len(names)), b"", 4 + 8 * len(names)
    begin = -(-(first + sum(len(name) + 1 for name in names)) // 16) * 16
    for index, name in enumerate(names):
        table += struct.pack("<II", first + len(texts), begin + 32 * index)
        texts += name.encode() + b"\0"
    whole = struct.pack("<H", 32).ljust(32, b"h") + (table + texts).ljust(begin, b"\0") + b"".join(content.values())
    assert items(whole) == content
    left = {"icu/brkitr/ja.dict", "icu/coll/zh.res", "icu/de.res", "icu/gb18030.cnv", "icu/translit/root.res"}
    smaller = icu_data().trim(whole)
    assert smaller[:32] == whole[:32]
    assert items(smaller) == {name: value for name, value in content.items() if name not in left}


def test_the_formula_of_homebrew_names_each_tarball_with_its_digest(tmp_path):
    for platform in ["macos-arm64", "macos-x86_64", "linux-x86_64", "linux-aarch64"]:
        (tmp_path / f"scribe-emulator-0.1.0-{platform}.tar.gz").write_text(platform)
    formula = [ROOT / "scripts/formula", tmp_path, "https://example.com/v0.1.0/"]
    subprocess.run(formula, check=True)
    text = (tmp_path / "scribe-emulator.rb").read_text()
    for file in tmp_path.glob("*.tar.gz"):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        assert f'url "https://example.com/v0.1.0/{file.name}"\n      sha256 "{digest}"' in text
    assert text.count("do\n") == text.count("  end\n") - 1, "the class ends too, without spaces"
    (tmp_path / "scribe-emulator-0.1.0-macos-arm64.tar.gz").unlink()
    refused = subprocess.run(formula, capture_output=True, text=True)
    assert refused.returncode == 1 and "four platforms" in refused.stderr
