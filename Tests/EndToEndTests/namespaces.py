"""Namespaces of a server: how tests make them, and clients that reach one
by path prefix, by header or by credentials."""

import dataclasses
import re

import boto3
import botocore.config
import requests
from client import ScribeClient
from device_client import Device, token_of
from emulator import PATIENCE
from listen_client import KEY, RATE, Listener
from session_client import SessionClient
from suki_client import SukiClient
from websocket_driver import Socket, open_socket

HEADER = "X-Scribe-Namespace"
WAYS = ["prefix", "header", "credentials"]
ACCOUNT, LOGIN = "/connect-auth/v1/account", "/connect-auth/v1/account/login"
HISTORY, SESSIONS, SUKI = "/voice/api/v2/transaction/history", "/voice/v1/sessions", "/api/v1/ambient/session"


def control(server, method: str, path: str, **options) -> requests.Response:
    """A call of the control API below `/__admin`."""
    return requests.request(method, f"{server.base_url}/__admin/{path}", timeout=PATIENCE, **options)


def asked(server, method: str, path: str, **options) -> requests.Response:
    return requests.request(method, f"{server.base_url}{path}", timeout=PATIENCE, allow_redirects=False, **options)


def created(server, name: str | None = None, **options) -> dict:
    """Makes a namespace. Returns the answer, which has its secrets."""
    answer = control(server, "POST", "namespaces", json={} if name is None else {"name": name}, **options)
    assert answer.status_code == 201, answer.text
    return answer.json()


def counts(server, name: str = "default") -> dict:
    """Numbers of rows and objects of a namespace."""
    answer = control(server, "GET", "info", params={"namespace": name})
    assert answer.status_code == 200, answer.text
    found = answer.json()["counts"]
    return {key: found[key] for key in ("jobs", "objects", "object_bytes", "webhooks")}


@dataclasses.dataclass
class Access:
    """One way to reach a world: what a client sends, and with which credentials.
    The demo client's, unless it has others."""

    base_url: str
    headers: dict = dataclasses.field(default_factory=dict)
    client: str = "dev-client"
    secret: str = "dev-secret"
    key: str = KEY
    partner: str = "demo-partner"
    #: A path of a CA file, for TLS.
    verify: bool | str = True
    #: The namespace, for calls of the control API.
    name: str = "default"

    @property
    def socket_url(self) -> str:
        return f"ws{self.base_url.removeprefix('http')}"

    @property
    def port(self) -> str:
        """Drivers put it between the host and the path: the port, with the prefix."""
        return self.base_url.split(":", 2)[2]

    def session(self, **headers: str) -> requests.Session:
        session = requests.Session()
        session.trust_env = False
        session.verify = self.verify
        session.headers.update({**self.headers, **headers})
        return session


def own(made: dict) -> dict:
    """Credentials of a namespace's own client, as fields of `Access`."""
    return {
        "client": made["client_id"], "secret": made["client_secret"], "key": made["api_key"],
        "partner": made["partner_id"]}


def access(server, made: dict, way: str) -> Access:
    """Access to a namespace in a way: `prefix`, `header` or `credentials`."""
    name = made["name"]
    if way == "prefix":
        return Access(f"{server.base_url}/ns/{name}", name=name)
    if way == "header":
        return Access(server.base_url, {HEADER: name}, name=name)
    return Access(server.base_url, name=name, **own(made))


class EkaClient(ScribeClient):
    def __init__(self, access: Access):
        self.access, self.base_url = access, access.base_url
        self.session = access.session(**{"flavour": "ScribeIOS", "client-id": access.client})
        body = {"client_id": access.client, "client_secret": access.secret}
        answer = self.session.post(self.base_url + LOGIN, json=body, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        self.tokens = answer.json()
        # The token is what is used from here on, not the cookies.
        self.session.cookies.clear()
        self.session.headers["Authorization"] = f"Bearer {self.tokens['access_token']}"

    def get(self, path: str, **options) -> requests.Response:
        return self.session.get(self.base_url + path, timeout=PATIENCE, **options)

    def keys(self) -> dict:
        return self.get("/credentials").json()["credentials"]

    def s3(self, keys: dict | None = None, base_url: str | None = None):
        """boto3 with temporary credentials. It sends no header of ours:
        by header, the session token names the namespace."""
        keys = keys or self.keys()
        return boto3.client(
            "s3", endpoint_url=base_url or self.base_url, region_name="ap-south-1",
            aws_access_key_id=keys["AccessKeyId"], aws_secret_access_key=keys["SecretKey"],
            aws_session_token=keys["SessionToken"], verify=self.access.verify,
            config=botocore.config.Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}))

    def history(self) -> list[str]:
        answer = self.get("/voice/api/v2/transaction/history")
        assert answer.status_code == 200, answer.text
        return [row.get("txn_id") or row["session_id"] for row in answer.json()["data"]]


class AllianceClient(SessionClient):
    def __init__(self, access: Access):
        eka = EkaClient(access)
        self.root, self.session = access.base_url, eka.session
        # The SDK of sessions sends none.
        del self.session.headers["flavour"]
        discovered = self.session.get(f"{self.root}/voice/v1/.well-known/medscribealliance", timeout=PATIENCE).json()
        self.base = discovered["endpoints"]["base_url"]


def ambient_client(access: Access, subject="dr-namespace") -> SukiClient:
    client = SukiClient(access.base_url, partner_id=access.partner, subject=subject, verify=access.verify)
    client.http.headers.update(access.headers)
    return client


def listener(access: Access, query="", key=None) -> Listener:
    """Socket of live recognition."""
    headers = {"Authorization": f"Token {key or access.key}", **access.headers}
    address = f"{access.socket_url}/v1/listen?encoding=linear16&sample_rate={RATE}&{query}"
    return Listener(None, address=address, additional_headers=headers)


class OmiDevice(Device):
    """Socket of a device or a page. A client of the namespace sends its login's token, others one of another issuer."""

    def __init__(self, access: Access, user="somebody", path="/v4/listen", query=""):
        self.server, self.user = access, user
        self.headers = self.headers_of(access, user)
        self.token = self.headers["Authorization"].removeprefix("Bearer ")
        sent = self.headers if path == "/v4/listen" else access.headers
        Socket.__init__(self, open_socket(f"{access.socket_url}{path}?{query}", additional_headers=sent))
        self.texts, self.segments, self.events = [], [], []
        if path != "/v4/listen":
            self.send({"type": "auth", "token": self.token})
            answer = self.receive()
            assert answer == {"type": "auth_response", "success": True}, answer

    @staticmethod
    def headers_of(access: Access, user="somebody") -> dict:
        token = token_of(user) if access.client == "dev-client" else EkaClient(access).tokens["access_token"]
        return {"Authorization": f"Bearer {token}", **access.headers}


class World:
    """A namespace with one of each of its credentials."""

    def __init__(self, server, name: str):
        self.made = created(server, name)
        self.name, self.prefix, self.header = name, f"/ns/{name}", {HEADER: name}
        self.access = access(server, self.made, "credentials")
        self.client = EkaClient(self.access)
        self.token, self.refresh = self.client.tokens["access_token"], self.client.tokens["refresh_token"]
        self.bearer = {"Authorization": f"Bearer {self.token}"}
        self.key = {"Authorization": f"Token {self.access.key}"}
        ambient = ambient_client(self.access)
        self.suki = {"sdp_suki_token": ambient.initialize()}
        begun = requests.post(
            f"{server.base_url}/connect-auth/v1/device/code", json={}, headers=self.header, timeout=PATIENCE)
        self.device = begun.json()["device_code"]


def links(answer) -> list[str]:
    """All URLs in an answer."""
    if isinstance(answer, dict):
        return [link for value in answer.values() for link in links(value)]
    if isinstance(answer, list):
        return [link for value in answer for link in links(value)]
    return [answer] if isinstance(answer, str) and answer.startswith(("http:", "https:", "ws:", "wss:")) else []


def followed(client: EkaClient, path: str, expected: str, **options) -> dict:
    """The answer of a path, once each link in it begins as expected."""
    answer = client.get(path, **options)
    assert answer.status_code < 300, answer.text
    for link in links(answer.json()):
        assert link.startswith(expected) and ("/ns/" in link) == ("/ns/" in expected), link
    return answer.json()


def finished(transaction, **query) -> dict:
    """The results of a committed transaction."""
    while (answer := transaction.poll(**query)).status_code == 202:
        pass
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


# Checks of an error's body in each family's words.

def eka(answer):
    if answer.status_code == 401:
        assert answer.json().keys() == {"error", "message"} and answer.json()["error"] == "Unauthorized"
    else:
        assert answer.json()["status"] == "failed" and answer.json()["error"]["code"], answer.text


def account(answer):
    assert answer.json()["code"] == answer.status_code and answer.json()["error"]


def session(answer):
    error = answer.json()["error"]
    assert error["code"] and error["message"]


def suki(answer):
    assert answer.json().keys() == {"code", "message"} and answer.json()["code"] == answer.status_code


def deepgram(answer):
    body = answer.json()
    assert body.keys() == {"err_code", "err_msg", "request_id"} and answer.headers["dg-error"] == body["err_msg"]


def omi(answer):
    assert answer.json().keys() == {"detail"}


def s3(answer):
    assert answer.headers["Content-Type"] == "application/xml" and re.search("<Code>[A-Za-z]+</Code>", answer.text)
