"""`serve --exit-with-parent`: the server ends with the process that it was started for, whatever ends that."""

import json
import signal
import socket
import subprocess
import sys

import pytest
from emulator import BINARY, PATIENCE, is_gone, wait_until
from test_test_runners import environment, suite  # noqa: F401  (fixtures)

#: Starts a server and dies by a signal, or by itself.
OWNER = """
import os, pathlib, subprocess, sys, time
ready = pathlib.Path("ready.json")
subprocess.Popen([sys.argv[1], "serve", "--port", "0", "--ephemeral", "--ready-file", ready, "--long-poll", "1h",
                  "--exit-with-parent", str(os.getpid())], stdout=2)
while not ready.exists(): time.sleep(0.01)
print(ready.read_text(), flush=True)
sys.stdin.readline()
os._exit(0)
"""


@pytest.mark.parametrize("end", [
    "SIGKILL", *(pytest.param(end, marks=pytest.mark.full) for end in ("SIGTERM", "SIGHUP", "exit"))])
def test_a_server_ends_with_its_owner_though_clients_are_in_the_midst_of_requests(tmp_path, end):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, BINARY], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(temporary)})
    ready = json.loads(owner.stdout.readline())
    port = int(ready["base_url"].rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"POST /connect-auth/v1/account/login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        if end == "exit":
            owner.stdin.close()
        else:
            owner.send_signal(getattr(signal, end))
        owner.wait(PATIENCE)
        wait_until(lambda: is_gone(ready["pid"]), "the server has ended")
    assert not (tmp_path / "ready.json").exists() and not list(temporary.iterdir())


def test_a_server_outlives_others_and_ends_with_its_owner_alone(tmp_path):
    """The owner is no parent of the server here."""
    owner = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    starter = subprocess.Popen(
        ["sh", "-c", '"$0" serve --port 0 --ephemeral --ready-file ready.json --exit-with-parent "$1" &',
         BINARY, str(owner.pid)], cwd=tmp_path)
    assert starter.wait(PATIENCE) == 0
    wait_until((tmp_path / "ready.json").exists, "the server is ready")
    server = json.loads((tmp_path / "ready.json").read_text())["pid"]
    assert not is_gone(server)
    owner.kill()
    # A zombie until its end is noticed.
    wait_until(lambda: is_gone(server), "the server has ended")
    owner.wait(PATIENCE)


KILLED = """
import os, pathlib, subprocess
def test_killed(scribe):
    children = subprocess.run(["pgrep", "-P", str(os.getpid()), "scribe"], capture_output=True, text=True).stdout
    for process in children.split():
        pathlib.Path(f"server-{process}").touch()
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["pytest", "a worker"])
def test_a_killed_pytest_leaves_no_server(suite, environment, tmp_path, workers):  # noqa: F811
    (tmp_path / "test_killed.py").write_text(KILLED)
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, "--rootdir", tmp_path, tmp_path],
        env={**environment, "PYTHONPATH": str(suite / "plugin")}, cwd=tmp_path, capture_output=True, timeout=PATIENCE)
    servers = [int(file.name.partition("-")[2]) for file in tmp_path.glob("server-*")]
    assert servers
    for server in servers:
        wait_until(lambda server=server: is_gone(server), "the server has ended")
