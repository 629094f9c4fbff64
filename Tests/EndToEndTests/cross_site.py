"""Origins and requests of pages that use a visitor's login."""

import json

ACCOUNT, DEVICE = "/connect-auth/v1/account", "/connect-auth/v1/device"
HISTORY, SESSIONS = "/voice/api/v2/transaction/history", "/voice/v1/sessions"
JSON = {"Content-Type": "application/json"}
LOGIN = json.dumps({"client_id": "dev-client", "client_secret": "dev-secret"})
SESSION = json.dumps({
    "session_mode": "dictation", "templates": [], "model": "lite", "upload_type": "chunked",
    "communication_protocol": "http",
})
#: A page of another program of this machine, which is the same site, one of the vendor's, one of the internet's, one
#: that the strict server is told of, and what only begins like one of this machine.
NEIGHBOUR, VENDOR, FOREIGN = "http://localhost:8999", "https://cog.eka.care", "https://evil.example"
LISTED, DISGUISED = "https://app.example", "http://localhost:80@evil.example"
#: What the vendor's desktop app sends as its origin, which no page can have.
APP = "app://ekascribe"


def origin_header(server, origin: str | None) -> dict:
    return {"Origin": server.base_url if origin == "own" else origin} if origin else {}
