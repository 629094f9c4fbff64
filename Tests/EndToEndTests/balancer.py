"""nginx in front of servers, with the configurations of docker/ and of docs/staging.md."""

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
#: Lines of every site, and their place on a machine with nginx.
SHIPPED_LINES, INCLUDED = ROOT / "docker/nginx.proxy.conf", "/etc/nginx/scribe-proxy.conf"
NAMES = ("first", "second", "third")


class Proxy(Server):
    """One nginx process that passes each request on. It terminates TLS with the certificate beside an authority."""

    def __init__(self, folder: pathlib.Path, authority: str | None):
        assert PROGRAM.exists(), "nginx is not installed; run scripts/install test"
        folder.mkdir()
        self.folder, self.authority, self.log_path = folder, authority, folder / "log"
        self.port, self.tls_port = free_ports(2)
        self.base_url, self.tls_url = f"http://127.0.0.1:{self.port}", f"https://localhost:{self.tls_port}"
        site = self._site().replace(INCLUDED, str(SHIPPED_LINES))
        assert str(SHIPPED_LINES) in site, site
        (folder / "site.conf").write_text(site)
        temporary = "".join(
            f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        # A single process has one round of servers, and needs no second user.
        (folder / "nginx.conf").write_text(f"""
            daemon off; master_process off; pid {folder}/pid; error_log {folder}/log; events {{}}
            http {{
                {temporary} log_format answers "$request_method $uri $status $upstream_addr";
                access_log {folder}/answers answers; include {folder}/site.conf;
            }}""")
        self.process = subprocess.Popen([PROGRAM, "-e", self.log_path, "-c", folder / "nginx.conf", "-p", folder])
        wait_until(self.is_ready, "nginx listens")

    @property
    def certificate(self) -> tuple[pathlib.Path, pathlib.Path]:
        """The certificate and its key."""
        own = pathlib.Path(self.authority).parent
        return own / "certificate.pem", own / "key.pem"

    def close(self):
        """nginx ends at once, and its clients' connections with it."""
        self.stop()

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.log_path.read_text()
        with contextlib.suppress(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        return False


class StagingProxy(Proxy):
    """nginx as docs/staging.md has it, in front of one server."""

    def __init__(self, folder: pathlib.Path, server: Server, authority: str):
        self.server = server
        super().__init__(folder, authority)

    def _site(self) -> str:
        """The page's lines with this test's server, port and certificate."""
        [text] = re.findall(r"```nginx\n(.*?)```", (ROOT / "docs/staging.md").read_text(), re.DOTALL)
        certificate, key = self.certificate
        for line, own in (
            ("listen 443 ssl;", f"listen 127.0.0.1:{self.port}; listen 127.0.0.1:{self.tls_port} ssl;"),
            ("/etc/nginx/tls.crt", str(certificate)), ("/etc/nginx/tls.key", str(key)),
            ("http://127.0.0.1:8087", self.server.base_url),
        ):
            assert text.count(line) == 1, text
            text = text.replace(line, own)
        return text


class Balancer(Proxy):
    """Passes each request to the next of at most three servers.

    It terminates TLS for the SDKs' hosts, if the first server has a certificate.
    """

    def __init__(self, folder: pathlib.Path, servers: list[Server]):
        self.servers = servers
        super().__init__(folder, getattr(servers[0], "authority", None))

    def _site(self) -> str:
        """The shipped file with this test's servers and ports."""
        listen = f"listen 127.0.0.1:{self.port};"
        if self.authority:
            certificate, key = self.certificate
            listen += (
                f"listen 127.0.0.1:{self.tls_port} ssl http2;"
                f"ssl_certificate {certificate}; ssl_certificate_key {key};")
        text = SHIPPED.read_text()
        for name, server in itertools.zip_longest(NAMES, self.servers):
            line = f"    server {name}:8087;\n"
            assert line in text
            text = text.replace(line, f"    server 127.0.0.1:{server.port};\n" if server else "")
        text, count = re.subn(r"\blisten 80;", listen, text)
        assert count == 1 and ":8087" not in text, text
        return text

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
            balancer.close()
            ends = [server.process.poll() for server in servers]
        assert all(end in (None, 0, -signal.SIGKILL) for end in ends), ends
