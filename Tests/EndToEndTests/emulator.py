"""Starts the built server, each time with data of its own, and holds what all tests share: paths, waits and flags."""

import base64
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import requests
from cost_counters import COSTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("SCRIBE_BINARY", ROOT / ".build/debug/scribe-emulator"))
DEMO = ROOT / "demo"
sys.path.insert(0, str(DEMO))

import client as scribe_client  # noqa: E402  (in demo/)


def revealed(text: str) -> str:
    """An answer, followed by what its base64 stands for."""
    values = re.findall(r'"((?:[A-Za-z0-9+/]{4}){2,}(?:[A-Za-z0-9+/]{2}(?:==|[A-Za-z0-9+/]=))?)"', text)
    return "\n".join([text, *(base64.b64decode(value).decode(errors="replace") for value in values)])


#: Members that are another link each time they are asked for, and how long it can be used.
LINKS = {
    "upload_url", "presigned_url", "presigned_url_expires_at", "download_url", "download_url_expires_at", "edit_url",
    "audio_url", "expires_in",
}


def without_links(answer):
    """What an answer says beside its links."""
    if isinstance(answer, dict):
        return {name: without_links(value) for name, value in answer.items() if name not in LINKS}
    return [without_links(item) for item in answer] if isinstance(answer, list) else answer


#: What makes a server listen for TLS too, on a free port.
TLS = ("--tls", "--tls-port", "0")

#: Of a server that ends nothing for being idle or late: what ends, ends for what was sent.
PATIENT = ("--request-timeout", "1h", "--long-poll", "1h", "--listen-idle", "1h", "--omi-idle", "1h", *TLS)

#: Of a server that waits for no slow request, but holds polls.
IMPATIENT = ("--request-timeout", "500ms", "--long-poll", "1h", *TLS)

#: Of a server that ends silent sockets soon, and decodes one stream at a time.
HASTY = ("--listen-idle", "1s", "--stream-idle", "1s", "--decoders", "1")

#: Of a server that tries no webhook again and ends no conversation, unless its clock is moved.
LONG = (
    "--object-wait", "50ms", "--suki-shortest", "0s", "--long-poll", "1h", "--webhook-pauses", "10s,1h,1d,2d",
    "--conversation-timeout", "120s", *TLS)

#: Of a server that answers each poll at once, and logs all there is to log.
SHORT = (
    "--object-wait", "50ms", "--suki-shortest", "0s", "--long-poll", "50ms", "--log-level", "trace", *TLS)

#: Of a server without what can be switched off, which speaks the other dialect of live recognition.
PLAIN = (
    "--no-client-faults", "--no-explain", "--no-namespaces", "--journal", "off", "--allowed-hosts", "evil.example",
    "--listen-dialect", "subq")

#: Of a server of which little is too much, and which believes a proxy on this machine.
LIMITED = (
    "--listen-sockets", "2", "--listen-idle", "1h", "--namespaces-max", "2", "--journal-max", "50",
    "--storage-quota", "200KB", "--trusted-proxies", "127.0.0.0/8", *TLS)

#: Of a patient server that holds less for clients than they would like.
SCARCE = ("--memory-budget", "64MB", "--namespace-memory", "40MB", *PATIENT)

#: Of a server that verifies tokens, whose operators need one too, and which pages of these origins may read.
STRICT = (
    "--auth", "strict", "--clients", str(ROOT / "seed/clients.yaml"), "--admin-token", "operator",
    "--cors-origins", "https://app.example,https://other.example")

#: Of one that other machines reach, and whose operators need a token.
PUBLIC = ("--host", "0.0.0.0", "--auth", "strict", "--namespaces", "--demo-seed", "--data-dir", "data")

#: Of a server whose clients reach it by another name. Its journal has no bodies, and its log is for people.
NAMED = ("--public-url", "https://public.example/", "--journal", "metadata", "--log-format", "text")

#: Of a server whose log is for programs, and whose sessions last longer than usual.
LOGGING = ("--long-poll", "3s", "--object-wait", "300ms", "--log-format", "json", "--session-lifetime", "2h", *TLS)

#: A recogniser for `--transcriber`, whose audio scripts/costs counts.
RECOGNISER = f"command:'{ROOT}/Tests/EndToEndTests/recognise.sh' {{wav}}"

#: In seconds: how long anything may take that is sure to happen, on however busy a machine. It ends what hangs.
PATIENCE = 120


def wait_until(condition, what: str):
    """Returns what `condition` does once that is true."""
    deadline = time.monotonic() + PATIENCE
    # Not `time.sleep`, which scripts/costs counts as a wait for a time.
    pause = threading.Event()
    while not (result := condition()):
        assert time.monotonic() < deadline, f"in vain: {what}"
        pause.wait(0.01)
    return result


def is_gone(process: int) -> bool:
    """Whether a process has ended. One whose parent has not noticed that yet has ended, too."""
    try:
        return "\nState:\tZ" in pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return True


def state_folder(data: pathlib.Path) -> pathlib.Path:
    """Returns the folder of the valid database and its uploads, in the data folder of a server that has started."""
    return data / "states" / (data / "current").read_text().strip()


class Server:
    """A running server and what is known of it."""

    def __init__(self, folder: pathlib.Path, *flags: str, environment=None, prefix=(), binary=BINARY):
        self.folder = folder
        self.ready_file = folder / "ready.json"
        self.log_path = folder / "log"
        self.ready_file.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [*prefix, binary, "serve", "--port", "0", "--ready-file", self.ready_file, *flags],
            stdout=subprocess.DEVNULL, stderr=open(self.log_path, "ab"), cwd=folder,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(folder),
                "SCRIBE_TRAP_ON_EVENT_LOOP": "1",
                **(environment or {}),
            },
        )
        wait_until(self.is_ready, "the server is ready")
        COSTS.servers += 1
        ready = json.loads(self.ready_file.read_text())
        self.base_url, self.tls_url = ready["base_url"], ready.get("tls_url")
        self.port = int(self.base_url.rsplit(":", 1)[1])
        if self.tls_url:
            self.tls_port = int(self.tls_url.rsplit(":", 1)[1])
            self.authority = str(folder / ".local/share/scribe-emulator/tls/ca.pem")

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.log_path.read_text()
        return self.ready_file.exists()

    @property
    def log(self) -> str:
        return self.log_path.read_text()

    def logged(self, text: str, times=1, position=0) -> list[str]:
        """Waits for lines with a text, from a position on: the log is written beside the answers."""
        def lines():
            return [line for line in self.log[position:].splitlines() if text in line]

        wait_until(lambda: len(lines()) >= times, f"the log says: {text}")
        return lines()

    def memory(self, name: str) -> int:
        """Bytes, from the operating system: `VmRSS` now, `VmHWM` at most so far."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)[1]) << 10

    def client(self, *arguments, **options) -> scribe_client.ScribeClient:
        return scribe_client.ScribeClient(self.base_url, *arguments, **options)

    def forget_peak(self):
        """What `VmHWM` is from here on does not count what was before."""
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def metric(self, name: str) -> float:
        """A reading without labels."""
        text = requests.get(f"{self.base_url}/metrics", headers={"Connection": "close"}).text
        return float(re.search(rf"^{name} (\S+)", text, re.MULTILINE)[1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=PATIENCE)
        assert code == 0, f"exit code {code}\n{self.log}"


@contextlib.contextmanager
def running(folder: pathlib.Path, *flags: str, **options):
    server = Server(folder, *flags, **options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


def run(*arguments, **options):
    """Runs the command with these arguments to its end."""
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=PATIENCE, **options)
