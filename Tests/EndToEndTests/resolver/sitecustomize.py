"""Leads every host that a Python program asks for on port 443 to a server of this machine,
as curl's --connect-to does."""

import os
import socket

PORT = os.environ["LEAD_443_TO"]
NOTES = os.environ.get("LEAD_NOTES")
look_up = socket.getaddrinfo


def getaddrinfo(host, port, *arguments, **options):
    if str(port) not in ("443", "https"):
        return look_up(host, port, *arguments, **options)
    if NOTES:
        with open(NOTES, "a") as notes:
            print(host, file=notes)
    return look_up("127.0.0.1", int(PORT), *arguments, **options)


socket.getaddrinfo = getaddrinfo
