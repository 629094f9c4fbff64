"""The Python wheel, built from the binary that the tests use, installed where nothing else is."""

import pathlib
import subprocess
import sys
import zipfile

import pytest
from conftest import BINARY, running

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(["strip", "-o", folder / "scribe-emulator", BINARY], check=True)
    told = subprocess.run(
        [sys.executable, ROOT / "scripts/wheel", folder / "scribe-emulator", folder / "dist"], check=True,
        capture_output=True, text=True).stdout
    return pathlib.Path(told.strip())


def test_what_pip_has_installed_serves_to_a_first_note(wheel, tmp_path, chunks):
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip = [environment / "bin/pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", "--no-index", wheel], check=True)
    installed = environment / "bin/scribe-emulator"
    version = subprocess.run([installed, "version"], check=True, capture_output=True, text=True).stdout.split()[0]
    assert version in wheel.name
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


def test_a_wheel_says_for_what_it_is_and_lists_every_file(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [record] = [name for name in names if name.endswith("/RECORD")]
        assert sorted(line.split(",")[0] for line in archive.read(record).decode().splitlines()) == sorted(names)
        [about] = [name for name in names if name.endswith("/WHEEL")]
        tag = wheel.name.removesuffix(".whl").split("-", 2)[2]
        assert f"Tag: {tag}\n" in archive.read(about).decode()
        assert any(name.endswith("/LICENSE") for name in names)
