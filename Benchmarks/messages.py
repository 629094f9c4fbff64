"""The requests that replay.c sends, made and signed before the clock runs."""

import datetime
import hashlib
import hmac
import json
import pathlib
import socket
import typing
import urllib.request
from http import client

BUCKET = "m-prod-voice-record"
REGION = "ap-south-1"
# For servers that verify nothing. The token is as long as ours is.
EXAMPLE_KEYS = {"AccessKeyId": "ASIAEXAMPLE", "SecretKey": "example", "SessionToken": "x" * 300}


class Message(typing.NamedTuple):
    """A request, and the status that it must be answered with."""

    status: int
    head: bytes
    with_body: bool = False


def write_scenarios(path: pathlib.Path, scenarios: typing.Iterable[list[Message]]):
    with open(path, "wb") as out:
        for messages in scenarios:
            for index, message in enumerate(messages):
                out.write(b"%d %d %d %d\n" % (index == 0, message.status, message.with_body, len(message.head)))
                out.write(message.head)


def send(connection: socket.socket, message: Message, body: bytes) -> bytes:
    """Sends one now and returns the body of its answer."""
    connection.sendall(message.head + (body if message.with_body else b""))
    answer = client.HTTPResponse(connection)
    answer.begin()
    if answer.status != message.status:
        raise SystemExit(f"{message.head.splitlines()[0]} was answered with {answer.status}")
    return answer.read()


def http(method: str, path: str, headers: dict, body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode() + body


class Uploads:
    """PUTs of one body to an S3 server, each signed for itself with SigV4."""

    def __init__(self, url: str, keys: dict, size: int):
        self.host = url.removeprefix("http://")
        self.keys, self.size = keys, size
        self.stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        self.scope = f"{self.stamp[:8]}/{REGION}/s3/aws4_request"
        self.signing_key = f"AWS4{keys['SecretKey']}".encode()
        for part in self.scope.split("/"):
            self.signing_key = self._hmac(self.signing_key, part).digest()

    def put(self, key: str, status: int = 200, **more: str) -> Message:
        path = f"/{BUCKET}/{key}"
        signed = {
            "host": self.host,
            "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
            "x-amz-date": self.stamp,
            "x-amz-security-token": self.keys["SessionToken"],
            **{f"x-amz-meta-{name}": value for name, value in more.items()},
        }
        names = ";".join(sorted(signed))
        lines = "".join(f"{name}:{signed[name]}\n" for name in sorted(signed))
        canonical = f"PUT\n{path}\n\n{lines}\n{names}\nUNSIGNED-PAYLOAD"
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        signature = self._hmac(
            self.signing_key, f"AWS4-HMAC-SHA256\n{self.stamp}\n{self.scope}\n{digest}"
        ).hexdigest()
        credential = f"{self.keys['AccessKeyId']}/{self.scope}"
        headers = signed | {
            "authorization": f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={signature}",
            "content-length": self.size,
            "content-type": "audio/wav",
        }
        return Message(status, http("PUT", path, headers), with_body=True)

    @staticmethod
    def _hmac(key: bytes, text: str):
        return hmac.new(key, text.encode(), hashlib.sha256)


class Client:
    """A scribe client that has logged in."""

    def __init__(self, url: str):
        self.url = url
        login = {"client_id": "dev-client", "client_secret": "dev-secret"}
        token = self._ask("/connect-auth/v1/account/login", data=json.dumps(login).encode())["access_token"]
        self.headers = {
            "host": url.removeprefix("http://"), "authorization": f"Bearer {token}", "flavour": "ScribeIOS",
            "client-id": "dev-client", "content-type": "application/json",
        }
        self.keys = self._ask("/credentials", headers={"authorization": f"Bearer {token}"})["credentials"]

    def _ask(self, path: str, **options) -> dict:
        with urllib.request.urlopen(urllib.request.Request(self.url + path, **options), timeout=10) as answer:
            return json.load(answer)

    def init(self, name: str) -> Message:
        return self._post(201, "init", name, {
            "mode": "consultation", "transfer": "vaded", "s3_url": f"s3://{BUCKET}/bench/{name}",
            "input_language": ["en-IN"], "model_type": "pro", "Section": "", "speciality": "",
            "output_format_template": [
                {
                    "template_id": "clinical_notes_template", "template_name": "Clinical Notes",
                    "template_type": "custom",
                }
            ],
        })

    def status(self, name: str) -> Message:
        return Message(200, http("GET", f"/voice/api/v3/status/{name}", self.headers))

    def consultation(self, name: str, uploads: Uploads, chunk_seconds: float, chunks: int = 5) -> list[Message]:
        """All of it, as the iOS SDK sends it: chunks, and a poll that is held until the results are there."""
        files = [f"{number}.wav" for number in range(1, chunks + 1)]
        times = [
            {file: {"st": index * chunk_seconds, "et": (index + 1) * chunk_seconds}}
            for index, file in enumerate(files)
        ]
        return [
            self.init(name),
            *(uploads.put(f"bench/{name}/{file}", bid="b-demo", txnid=name) for file in files),
            self._post(200, "stop", name, {"audio_files": files, "chunk_info": times}),
            self._post(200, "commit", name, {"audio_files": files, "chunk_info": []}),
            self.status(name),
        ]

    def _post(self, status: int, verb: str, name: str, body: dict) -> Message:
        text = json.dumps(body).encode()
        headers = self.headers | {"content-length": len(text)}
        return Message(status, http("POST", f"/voice/api/v2/transaction/{verb}/{name}", headers, text))
