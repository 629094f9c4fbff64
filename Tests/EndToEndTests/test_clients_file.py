"""The clients file of a running server: that it is read again, and what SIGHUP means.

`Tests/ScribeServerTests/ClientsFileTests.swift` has invalid files, and when a file is read.
"""

import os
import pathlib
import pty
import re
import signal
import subprocess

import requests
import yaml
from emulator import BINARY, PATIENCE, running, wait_until

FIRST = {"client_id": "first", "client_secret": "one", "business_id": "b-1", "user_id": "u-1", "doctor_id": "d-1"}
SECOND = {"client_id": "second", "client_secret": "two", "business_id": "b-2", "user_id": "u-2", "doctor_id": "d-2"}
STRICT = ("--auth", "strict", "--clients", "clients.yaml", "--ephemeral")


def write(folder, *clients):
    """Swaps the file by rename, as a secret is swapped."""
    fresh = folder / ".clients.yaml"
    fresh.write_text(yaml.safe_dump({"clients": list(clients)}))
    os.replace(fresh, folder / "clients.yaml")


def log_in(server, client) -> requests.Response:
    body = {name: client[name] for name in ("client_id", "client_secret")}
    return requests.post(f"{server.base_url}/connect-auth/v1/account/login", json=body)


def status_of(server, token) -> int:
    return requests.get(f"{server.base_url}/credentials", headers={"Authorization": f"Bearer {token}"}).status_code


def test_a_changed_clients_file_is_read_again_and_without_a_terminal_at_sighup_too(tmp_path):
    """Removed clients cannot log in, and SIGHUP ends nothing."""
    write(tmp_path, FIRST)
    # Whoever runs the tests may have been started by nohup.
    with running(tmp_path, *STRICT, prefix=("env", "--default-signal=HUP", "setsid")) as server:
        token = log_in(server, FIRST).json()["access_token"]
        assert status_of(server, token) == 200
        assert log_in(server, SECOND).status_code == 401
        write(tmp_path, SECOND)
        server.logged("the clients file was read again")
        assert log_in(server, SECOND).status_code == 200
        assert status_of(server, token) == 401
        assert log_in(server, FIRST).status_code == 401
        assert "one" not in server.log.split("ready", 1)[1] and token not in server.log
        # The same bytes in place, and so nothing to see for a look: only the request reads them.
        assert server.log.count("the clients file was read again") == 1
        server.process.send_signal(signal.SIGHUP)
        server.logged("the clients file was read again", times=2)
        assert log_in(server, SECOND).status_code == 200


# SIGHUP.


def test_with_a_terminal_sighup_stops_and_leaves_nothing_behind(tmp_path):
    main, terminal = pty.openpty()
    temporary = tmp_path / "tmp"
    temporary.mkdir()

    def take_terminal():
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        os.setsid()
        import fcntl
        import termios

        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        [BINARY, "serve", "--port", "0", "--ephemeral", "--ready-file", tmp_path / "ready.json"],
        stdin=terminal, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path, preexec_fn=take_terminal,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(temporary)})
    try:
        wait_until((tmp_path / "ready.json").exists, "the server is ready")
        assert any(temporary.iterdir())
        os.close(terminal)
        # The terminal goes, as a window is closed: the kernel sends the signal.
        os.close(main)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
    assert not (tmp_path / "ready.json").exists() and not list(temporary.iterdir())


def test_a_server_started_with_nohup_ignores_sighup(tmp_path):
    write(tmp_path, FIRST)
    with running(tmp_path, *STRICT, prefix=("setsid", "nohup")) as server:
        # When a changed file has been read, whatever handles signals has started too.
        write(tmp_path, FIRST, SECOND)
        server.logged("the clients file was read again")
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
        ignored = int(re.search(r"^SigIgn:\s+(\w+)", status, re.MULTILINE)[1], 16)
        assert ignored & 1 << signal.SIGHUP - 1, "the kernel drops the signal"
        server.process.send_signal(signal.SIGHUP)
        assert log_in(server, FIRST).status_code == 200
        assert server.log.count("read again") == 1
