"""Clients of a server's TLS port that trust only its authority, and the verbs of the command that concern TLS."""

import os
import pathlib
import socket
import ssl
import subprocess

from emulator import BINARY, PATIENCE

RESOLVER = pathlib.Path(__file__).with_name("resolver")


def trusting(server, *protocols: str) -> ssl.SSLContext:
    """For a client that speaks these protocols."""
    context = ssl.create_default_context(cafile=server.authority)
    if protocols:
        context.set_alpn_protocols(protocols)
    return context


def environment(server, notes: pathlib.Path | None = None) -> dict[str, str]:
    """In which a Python program finds the hosts that it has compiled in here, and trusts what it finds. Notes which."""
    names = {name: server.authority for name in ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "AWS_CA_BUNDLE")}
    noted = {"LEAD_NOTES": str(notes)} if notes else {}
    return {
        "PATH": os.environ["PATH"], "PYTHONPATH": str(RESOLVER), "LEAD_443_TO": str(server.tls_port), **names, **noted,
    }


class Encrypted:
    """A connection that can be cut off or half closed under its encryption, as a plain one can."""

    def __init__(self, server, timeout: float, host="localhost", protocols=("http/1.1",)):
        self.raw = socket.create_connection(("127.0.0.1", server.tls_port), timeout=timeout)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = trusting(server, *protocols).wrap_bio(self.incoming, self.outgoing, server_hostname=host)
        self._do(self.tls.do_handshake)

    def _do(self, step):
        while True:
            try:
                result = step()
                self._flush()
                return result
            except ssl.SSLWantReadError:
                self._flush()
                piece = self.raw.recv(65536)
                if not piece:
                    return b""
                self.incoming.write(piece)

    def _flush(self):
        if self.outgoing.pending:
            self.raw.sendall(self.outgoing.read())

    def sendall(self, data: bytes):
        self.tls.write(data)
        self._flush()

    def send(self, data: bytes) -> int:
        self.sendall(data)
        return len(data)

    def recv(self, size: int) -> bytes:
        try:
            return self._do(lambda: self.tls.read(size))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b""

    def shutdown(self, how):
        self.raw.shutdown(how)

    def settimeout(self, timeout):
        self.raw.settimeout(timeout)

    def gettimeout(self):
        return self.raw.gettimeout()

    def close(self):
        self.raw.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def plain(server, timeout: float):
    return socket.create_connection(("127.0.0.1", server.port), timeout=timeout)


#: How a test reaches a server's socket.
DOORS = {"plain": plain, "tls": Encrypted}


def verb(folder, *arguments, **options):
    """Runs a verb of the command with the folder as the home of its user."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **options.pop("environment", {})}
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, env=environment, cwd=folder, **options)


def refusal(folder, *flags) -> str:
    """Starts a server that must fail. Returns its message."""
    answer = verb(folder, "serve", "--ephemeral", "--port", "0", *flags, timeout=PATIENCE)
    assert answer.returncode != 0
    return answer.stderr
