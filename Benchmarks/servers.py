"""Starts the server and its peers on loopback, and reads what the operating system says of them."""

import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

TICKS = os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Process:
    """A server in a folder of its own, which is also where its log goes. Used with `with`."""

    def __init__(self, folder: pathlib.Path, path: str):
        self.folder, self.path = folder, path
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        folder.mkdir(parents=True, exist_ok=True)

    def command(self) -> list:
        raise NotImplementedError

    def __enter__(self):
        # Its own settings only, not those that happen to be set for whoever measures.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SCRIBE_")}
        with open(self.folder / "log", "ab") as log:
            self.started_at = time.monotonic()
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, env=environment)
        try:
            self.wait_until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def wait_until_ready(self):
        """Until `path` is answered with 200; keeps how long that took since the start, in seconds."""
        question = f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
        while time.monotonic() - self.started_at < 30:
            if self.process.poll() is not None:
                break
            try:
                with socket.create_connection(("127.0.0.1", self.port), 10) as connection:
                    connection.sendall(question)
                    if b" 200 " in connection.recv(4096).split(b"\r\n")[0]:
                        self.time_to_first_answer = time.monotonic() - self.started_at
                        return
            except OSError:
                pass
            time.sleep(0.0005)
        sys.exit(f"{self.command()[0]} did not start:\n{(self.folder / 'log').read_text()[-2000:]}")

    def cpu_seconds(self) -> float:
        """Of all threads, also of those that have ended, in user and in kernel mode."""
        return sum(cpu_seconds(process) for process in [self.process.pid, *self.children()])

    def children(self) -> list[int]:
        listed = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(child) for child in listed.split()]

    def memory(self, name: str) -> float:
        """A line of /proc/PID/status, in MB: VmHWM is the most that was ever resident, VmRSS what is now."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) / 1024
        raise LookupError(name)


def cpu_seconds(process: int) -> float:
    # The kernel's number for the clock of another process, which counts in nanoseconds: clock_getcpuclockid(3).
    return time.clock_gettime((~process << 3) | 2)


def busy_seconds() -> float:
    """Of all cores, with everything that runs on them, and what the machine's host took away."""
    user, nice, system, _, _, interrupts, soft_interrupts, stolen = map(
        int, pathlib.Path("/proc/stat").read_text().split()[1:9]
    )
    return (user + nice + system + interrupts + soft_interrupts + stolen) / TICKS


class Scribe(Process):
    """The server with its default settings, but for those given, fake transcriber included; its log goes to a file."""

    def __init__(self, folder: pathlib.Path, binary: str, *flags: str):
        super().__init__(folder, "/readyz")
        self.binary, self.flags = binary, flags

    def command(self):
        return [self.binary, "serve", "--port", str(self.port), "--data-dir", str(self.folder / "data"), *self.flags]


class EncryptedScribe(Scribe):
    """The same with a port for TLS beside it."""

    def __init__(self, folder: pathlib.Path, binary: str):
        self.tls_port, self.keys = free_port(), folder / "tls"
        super().__init__(folder, binary, "--tls", "--tls-port", str(self.tls_port), "--tls-dir", str(self.keys))


class Recogniser:
    """A speech service with OpenAI's API that takes its time and always hears the same. Used with `with`."""

    words = "I have a fever"

    def __init__(self, seconds: float):
        self.heard = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(handler):
                handler.rfile.read(int(handler.headers["Content-Length"]))
                time.sleep(seconds)
                self.heard += 1
                body = json.dumps({"text": self.words}).encode()
                handler.send_response(200)
                handler.send_header("Content-Type", "application/json")
                handler.send_header("Content-Length", str(len(body)))
                handler.end_headers()
                handler.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.flag = f"openai:http://127.0.0.1:{self.server.server_port}/v1"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Nginx(Process):
    """nginx taking PUTs by WebDAV: a file per upload, and nothing computed of it. With `keys`, the folder of a server's
    certificate, it has a port for TLS as well."""

    def __init__(self, folder: pathlib.Path, keys: pathlib.Path | None = None):
        super().__init__(folder, "/")
        self.tls_port = free_port()
        encryption = f"""
        listen 127.0.0.1:{self.tls_port} ssl http2;
        ssl_certificate {keys}/certificate.pem;
        ssl_certificate_key {keys}/key.pem;
        ssl_protocols TLSv1.2 TLSv1.3;
""" if keys else ""
        self.files = folder / "files"
        self.files.mkdir(exist_ok=True)
        (self.files / "index.html").write_text("ready")
        temporary = "\n".join(
            f"    {kind}_temp_path {folder}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        )
        # Its workers would otherwise give up root's rights, and with them these folders.
        user = "user root;" if os.getuid() == 0 else ""
        (folder / "nginx.conf").write_text(f"""
{user}
daemon off;
worker_processes auto;
pid {folder}/pid;
error_log stderr;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    keepalive_requests 1000000;
{temporary}
    server {{
        listen 127.0.0.1:{self.port};
{encryption}
        root {self.files};
        client_max_body_size 32m;
        location / {{
            dav_methods PUT;
            create_full_put_path on;
        }}
    }}
}}
""")

    def command(self):
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        return [nginx, "-e", "stderr", "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]


class Moto(Process):
    """moto's S3: keeps uploads in memory, computes their MD5, verifies no signature."""

    def __init__(self, folder: pathlib.Path):
        super().__init__(folder, "/")

    def command(self):
        return [str(pathlib.Path(sys.executable).parent / "moto_server"), "-H", "127.0.0.1", "-p", str(self.port)]

    def create_bucket(self, name: str):
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/{name}", method="PUT"), timeout=10).close()
