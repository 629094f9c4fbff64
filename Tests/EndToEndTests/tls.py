"""TLS in front of a server that speaks plain HTTP: bytes pass unchanged, so that the `Host` that was signed arrives."""

import contextlib
import pathlib
import socket
import ssl
import subprocess
import threading


def certificate(folder: pathlib.Path, *names: str) -> tuple[pathlib.Path, pathlib.Path]:
    """A self-signed certificate for these names, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={names[0]}",
         "-addext", "subjectAltName=" + ",".join(f"DNS:{name}" for name in names), "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )
    return certificate, key


def read_connect(plain: socket.socket) -> str:
    """Does a proxy's part of `CONNECT host:port` and returns the host."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = plain.recv(1)  # one by one: what follows belongs to TLS
        if not byte:
            raise OSError("closed within the head")
        head += byte
    method, target, _ = head.split(b" ", 2)
    if method != b"CONNECT":
        raise OSError(f"not for a tunnel: {head!r}")
    plain.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    return target.decode().rsplit(":", 1)[0]


@contextlib.contextmanager
def front(port: int, files: tuple[pathlib.Path, pathlib.Path], proxy_for: list[str] | None = None):
    """Listens, ends TLS and passes everything on to the port. With `proxy_for` it is a proxy that expects CONNECT and
    notes there which hosts were asked for. Yields the port that it listens on."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def connect(plain):
        with contextlib.suppress(OSError):
            if proxy_for is not None:
                proxy_for.append(read_connect(plain))
            outside = context.wrap_socket(plain, server_side=True)
            inside = socket.create_connection(("127.0.0.1", port))
            threading.Thread(target=pump, args=(inside, outside), daemon=True).start()
            pump(outside, inside)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=connect, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()
