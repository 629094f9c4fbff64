"""TLS handshakes that fail or stop: the log says why, and what to do."""

import contextlib
import socket
import ssl

import pytest
import tls
from emulator import IMPATIENT, PATIENCE, TLS, running
from tls import Encrypted, refusal


def test_plain_http_on_the_tls_port_and_tls_on_the_http_port_get_an_explanation(server):
    with socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while piece := connection.recv(1000):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 400 ") and b"https" in answer
    server.logged("a client spoke plain HTTP to the port for TLS")
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        with pytest.raises(ssl.SSLError):
            tls.trusting(server).wrap_socket(connection, server_hostname="localhost")
    server.logged("a client spoke TLS to the port for plain HTTP")


def test_a_client_that_does_not_trust_the_certificate_is_logged_with_advice(server):
    with socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE) as connection:
        with pytest.raises(ssl.SSLCertVerificationError):
            ssl.create_default_context().wrap_socket(connection, server_hostname="localhost")
    server.logged("the client does not trust the certificate; `scribe-emulator trust`")


def test_a_host_that_is_not_in_the_certificate_is_logged_with_advice(server):
    context = ssl.create_default_context(cafile=server.authority)
    context.check_hostname = False
    for host in ("scribe.unknown.test", "scribe.unknown.test", None):
        raw = socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE)
        with context.wrap_socket(raw, server_hostname=host) as connection:
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")
    assert len(server.logged("--tls-name scribe.unknown.test")) == 1


@pytest.mark.parametrize(
    "sent", [b"", b"\x16", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ids=["nothing", "a byte", "half a hello"])
def test_a_handshake_that_stops_half_way_is_ended(served, sent):
    server = served(*IMPATIENT)
    before = len(server.log)
    with socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE) as connection:
        connection.sendall(sent)
        while connection.recv(1000):
            pass
    server.logged("no encrypted connection: it was not there after", position=before)
    # One that hangs up, as those do that only look whether the port is open.
    for data in (b"", b"\x16\x03\x01"):
        with socket.create_connection(("127.0.0.1", server.tls_port)) as connection:
            connection.sendall(data)
    server.logged("hung up in the middle", position=before)
    with Encrypted(server, PATIENCE):
        pass


def test_a_connection_that_sends_no_tls_to_the_tls_port_is_closed(server):
    for nonsense in (bytes(1000), b"\xff" * 1000, b"SSH-2.0-x\r\n", b"\x16\x03\x01\xff\xff" + bytes(70_000)):
        with socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE) as connection:
            with contextlib.suppress(OSError):
                connection.sendall(nonsense)
                while connection.recv(1000):
                    pass
    with Encrypted(server, PATIENCE):
        pass


# test_process_stops.py stops one in each run.
@pytest.mark.full
def test_a_server_with_tls_stops_with_open_connections(tmp_path):
    with running(tmp_path, "--ephemeral", *TLS) as server:
        kept = [Encrypted(server, PATIENCE, protocols=protocols) for protocols in (["http/1.1"], ["h2"])]
        kept[0].sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        assert kept[0].recv(1000)
        half = socket.create_connection(("127.0.0.1", server.tls_port))
        server.stop()
        for connection in (*kept, half):
            connection.close()


def test_a_port_in_use_is_explained(tmp_path, server):
    assert f"port {server.tls_port} is in use; choose another with --tls-port" in refusal(
        tmp_path, "--tls", "--tls-port", str(server.tls_port))


def test_the_log_names_the_tls_port(server):
    server.logged(f'"tls_url":"https://localhost:{server.tls_port}"')
