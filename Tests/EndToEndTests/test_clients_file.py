"""The clients file of a running server: who comes and goes with it, and what SIGHUP means."""

import base64
import json
import os
import pty
import signal
import subprocess
import time

import pytest
import requests
import yaml
from emulator import BINARY, PATIENCE, Server, running, wait_until
from http_recorder import Answer, HTTPRecorder

FIRST = {"client_id": "first", "client_secret": "one", "business_id": "b-first", "user_id": "u-1", "doctor_id": "d-1"}
SECOND = {"client_id": "second", "client_secret": "two", "business_id": "b-second", "user_id": "u-2", "doctor_id": "d-2"}
STRICT = ("--auth", "strict", "--clients", "clients.yaml", "--ephemeral")


def write(folder, *clients, partners=(), name="clients.yaml"):
    """Swaps the file by rename, as a secret is swapped."""
    fresh = folder / f".{name}"
    fresh.write_text(yaml.safe_dump({"clients": list(clients), "partners": list(partners)}))
    os.replace(fresh, folder / name)


def log_in(server, client) -> requests.Response:
    body = {name: client[name] for name in ("client_id", "client_secret")}
    return requests.post(f"{server.base_url}/connect-auth/v1/account/login", json=body)


def status_of(server, token) -> int:
    return requests.get(f"{server.base_url}/credentials", headers={"Authorization": f"Bearer {token}"}).status_code


def test_a_changed_clients_file_is_read_again_and_removed_clients_cannot_log_in(tmp_path):
    write(tmp_path, FIRST)
    with running(tmp_path, *STRICT) as server:
        token = log_in(server, FIRST).json()["access_token"]
        assert status_of(server, token) == 200
        assert log_in(server, SECOND).status_code == 401
        write(tmp_path, FIRST, SECOND)
        wait_until(lambda: log_in(server, SECOND).status_code == 200, "the second client is known")
        assert status_of(server, token) == 200, "who stays keeps their token"
        write(tmp_path, SECOND)
        wait_until(lambda: status_of(server, token) == 401, "the first client's token counts no more")
        assert log_in(server, FIRST).status_code == 401
        assert "one" not in server.log.split("ready", 1)[1] and token not in server.log


@pytest.mark.parametrize(
    "content, why",
    [
        ("", "clients.yaml: "),
        ("clients: []\n", "names no client"),
        ("clients: [{client_id: x}]\n", "is missing"),
        ("clients: [\n", "clients.yaml: "),
        (None, "cannot be read"),
    ],
)
def test_an_invalid_clients_file_changes_nothing_and_is_logged_with_the_reason(tmp_path, content, why):
    write(tmp_path, FIRST)
    with running(tmp_path, *STRICT) as server:
        token = log_in(server, FIRST).json()["access_token"]
        if content is None:
            (tmp_path / "clients.yaml").unlink()
        else:
            (tmp_path / "clients.yaml").write_text(content)
        wait_until(lambda: "the clients stay as they are" in server.log, "the log says so")
        assert why in server.log
        assert status_of(server, token) == 200
        assert log_in(server, FIRST).status_code == 200
        time.sleep(5)
        assert server.log.count("the clients stay as they are") == 1
        write(tmp_path, FIRST, SECOND)
        wait_until(lambda: log_in(server, SECOND).status_code == 200, "a good file is read again")


def test_partners_and_their_webhooks_come_with_the_file(tmp_path):
    write(tmp_path, FIRST)
    with HTTPRecorder(lambda request: Answer(200)) as receiver, running(
        tmp_path, "--clients", "clients.yaml", "--ephemeral", "--suki-shortest", "0s"
    ) as server:
        def part(value):
            return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

        login = {"partner_id": "clinic", "partner_token": f"{part({'alg': 'RS256'})}.{part({'sub': 'dr-rao'})}.c2ln"}
        register = {**login, "provider_name": "Dr Rao", "provider_org_id": "o"}
        assert requests.post(f"{server.base_url}/api/v1/auth/register", json=register).status_code == 400
        hook = {"url": f"{receiver.url}/told", "secret": "s"}
        write(tmp_path, FIRST, partners=[{"partner_id": "clinic", "client_id": "first", "webhook": hook}])
        wait_until(
            lambda: requests.post(f"{server.base_url}/api/v1/auth/register", json=register).status_code < 300,
            "the partner is known")
        token = requests.post(f"{server.base_url}/api/v1/auth/login", json=login).json()["suki_token"]
        headers = {"sdp_suki_token": token}
        sessions = f"{server.base_url}/api/v1/ambient/session"
        session = requests.post(f"{sessions}/create", json={}, headers=headers).json()["ambient_session_id"]
        assert requests.post(f"{sessions}/{session}/end", json={}, headers=headers).status_code < 300
        wait_until(lambda: receiver.requests, "the webhook is told")
        assert session in json.dumps([request.json for request in receiver.requests])
        write(tmp_path, FIRST)
        wait_until(lambda: requests.post(sessions + "/create", json={}, headers=headers).status_code == 401,
                   "the partner is out")


# SIGHUP.


def test_without_a_terminal_sighup_reads_the_file_again_and_nothing_ends(tmp_path):
    """The same bytes in place, and so nothing to see for a look: only the request reads them."""
    write(tmp_path, FIRST)
    # Whoever runs the tests may have been started by nohup.
    with running(tmp_path, *STRICT, prefix=("env", "--default-signal=HUP", "setsid")) as server:
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "the clients file was read again" in server.log, "the file is read again")
        assert log_in(server, FIRST).status_code == 200


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
    server = Server(tmp_path, *STRICT, prefix=("setsid", "nohup"))
    server.process.send_signal(signal.SIGHUP)
    time.sleep(5)
    assert log_in(server, FIRST).status_code == 200
    assert "read again" not in server.log
    server.stop()
