"""nginx in front of servers that share their data, with the configuration of docker/nginx.scale.conf."""

import collections
import contextlib
import itertools
import pathlib
import re
import signal
import socket
import subprocess

from emulator import ROOT, TLS, Server, wait_until
from shared_place import free_ports, replica

PROGRAM = pathlib.Path("/usr/sbin/nginx")
SHIPPED = ROOT / "docker/nginx.scale.conf"
NAMES = ("first", "second", "third")


class Balancer(Server):
    """One nginx process, which passes each request to the next of at most three servers.

    It terminates TLS for the SDKs' hosts, if the first server has a certificate.
    """

    def __init__(self, folder: pathlib.Path, servers: list[Server]):
        assert PROGRAM.exists(), "nginx is not installed; run scripts/install scale"
        folder.mkdir()
        self.folder, self.servers, self.log_path = folder, servers, folder / "log"
        (self.port, self.tls_port), self.authority = free_ports(2), getattr(servers[0], "authority", None)
        self.base_url, self.tls_url = f"http://127.0.0.1:{self.port}", f"https://localhost:{self.tls_port}"
        (folder / "servers.conf").write_text(self._site())
        temporary = "".join(
            f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        # A single process has one round of servers, and needs no second user.
        (folder / "nginx.conf").write_text(f"""
            daemon off; master_process off; pid {folder}/pid; error_log {folder}/log; events {{}}
            http {{
                {temporary} log_format answers "$request_method $uri $status $upstream_addr";
                access_log {folder}/answers answers; include {folder}/servers.conf;
            }}""")
        self.process = subprocess.Popen([PROGRAM, "-e", self.log_path, "-c", folder / "nginx.conf", "-p", folder])
        wait_until(self.is_ready, "nginx listens")

    def _site(self) -> str:
        """The shipped file with this test's servers and ports."""
        listen = f"listen 127.0.0.1:{self.port};"
        if self.authority:
            own = pathlib.Path(self.authority).parent
            listen += (
                f"listen 127.0.0.1:{self.tls_port} ssl http2;"
                f"ssl_certificate {own}/certificate.pem; ssl_certificate_key {own}/key.pem;")
        text = SHIPPED.read_text()
        for name, server in itertools.zip_longest(NAMES, self.servers):
            line = f"    server {name}:8087;\n"
            assert line in text
            text = text.replace(line, f"    server 127.0.0.1:{server.port};\n" if server else "")
        text, count = re.subn(r"\blisten 80;", listen, text)
        assert count == 1 and ":8087" not in text, text
        return text

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.log_path.read_text()
        with contextlib.suppress(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        return False

    @property
    def answer_log(self) -> str:
        """A line for each answered request: method, path, status and the address of the server."""
        return (self.folder / "answers").read_text()

    def answers(self, path: str) -> collections.Counter:
        """Counts the answers to requests for a path, by the address of the server."""
        return collections.Counter(
            line.rsplit(" ", 1)[1] for line in self.answer_log.splitlines() if f" {path} " in line)


@contextlib.contextmanager
def balanced(folder: pathlib.Path, place, *flags: str):
    """Three servers on a schema of their own, behind nginx."""
    database, endpoint, _ = place
    schema = database.schema()
    folder.mkdir(exist_ok=True)
    flags = ("--trusted-proxies", "127.0.0.0/8", *flags)
    with contextlib.ExitStack() as stack:
        servers = [
            stack.enter_context(replica(folder / name, schema, endpoint, *flags, *(TLS if name == NAMES[0] else ())))
            for name in NAMES]
        balancer = Balancer(folder / "nginx", servers)
        try:
            yield balancer
        finally:
            # nginx ends at once, and its clients' connections with it.
            balancer.stop()
            ends = [server.process.poll() for server in servers]
        assert all(end in (None, 0, -signal.SIGKILL) for end in ends), ends
