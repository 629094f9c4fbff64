"""Passes TCP connections on to a Unix socket: unix_relay.py PORT SOCKET"""

import contextlib
import socket
import sys
import threading


def pass_on(source: socket.socket, sink: socket.socket):
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def main(port: int, path: str):
    with socket.create_server(("", port)) as listener:
        print("ready", flush=True)
        while True:
            client, _ = listener.accept()
            server = socket.socket(socket.AF_UNIX)
            server.connect(path)
            for ends in ((client, server), (server, client)):
                threading.Thread(target=pass_on, args=ends, daemon=True).start()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
