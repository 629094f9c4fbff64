"""Sends the requests of an SDK as a recording has them, and checks each answer against the SDK's declarations.

A recording is a file in recordings/. Its parts:

- `types`: the SDK's answers by source file, type and field, in the notation of `declared_types`.
- `headers`, `body_type`, `escapes`: headers of each request, content type of its JSON, and what the encoder escapes.
- `uploads`: host, folder, signature and headers of a PUT to S3.
- `conversation`: the requests in the SDK's order. `answer` is the status and the type that the SDK needs. `pending` is
  the same for a poll that the SDK repeats. `keep` names parts of the answer for later requests.

`$NAME` stands for a value of the run: of `values`, of `keep`, or the client's id and tokens.
"""

import base64
import dataclasses
import datetime
import hashlib
import json
import pathlib
import string

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import requests
import yaml
from declared_types import Declarations
from emulator import PATIENCE
from namespaces import Access, EkaClient, control

RECORDINGS = pathlib.Path(__file__).parent / "recordings"
#: Bytes of audio in one chunk of a signed body.
CHUNK = 128 << 10


@dataclasses.dataclass
class Answer:
    """An answer that was as declared."""

    title: str
    type: str
    body: object


class BrokenDeclaration(AssertionError):
    """An answer that the SDK cannot use, with the declaration that it breaks."""


class RecordedSDK:
    """One SDK against one namespace of a server.

    `audio` has the bytes of each chunk in order; `full_audio` is the first one again.
    """

    def __init__(self, server, access: Access, name: str, audio: list[bytes]):
        recording = yaml.safe_load((RECORDINGS / f"{name}.yaml").read_text(encoding="utf8"))
        self.name, self.steps, self.uploads = recording["sdk"], recording["conversation"], recording["uploads"]
        self.headers, self.body_type = recording["headers"], recording["body_type"]
        self.escapes = recording["escapes"]
        self.declarations = Declarations(recording["types"])
        self.server, self.audio = server, audio
        self.values = {"client": access.client, **recording["values"], **self.expired_tokens(access)}
        self.session = requests.Session()
        self.session.trust_env = False
        # The SDK's headers alone.
        self.session.headers.clear()

    def expired_tokens(self, access: Access) -> dict:
        """Tokens of a login two days ago: the access token has expired, the refresh token has not."""
        def clock(**body):
            answer = control(self.server, "PUT", "clock", params={"namespace": access.name}, json=body)
            assert answer.status_code == 200, answer.text

        then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=2)
        clock(mode="moved", now=f"{then:%Y-%m-%dT%H:%M:%SZ}")
        tokens = EkaClient(access).tokens
        clock(mode="system")
        return {name: tokens[name] for name in ("access_token", "refresh_token")}

    def replay(self) -> list[Answer]:
        """Sends all requests. Raises for the first answer that the SDK cannot use."""
        return [self.step(number, step) for number, step in enumerate(self.steps, start=1)]

    def step(self, number: int, step: dict) -> Answer:
        request = step.get("send") or f"PUT {self.uploads['host']}/{self.uploads['folder']}/{step['upload']}"
        method, target = self.filled(request).split(" ")
        title = f"{self.name}, step {number}, {method} {target}"
        host, slash, path = target.partition("/")
        answer = self.sent(step, method, host, slash + path)
        # A poll is repeated as the SDK does it, but without the pause: the server holds it.
        while "pending" in step and answer.status_code == int(step["pending"].split(" ")[0]):
            self.check(title, step["pending"], answer)
            answer = self.sent(step, method, host, slash + path)
        body = self.check(title, str(step["answer"]), answer)
        for name, value in step.get("answer_headers", {}).items():
            if answer.headers.get(name) is None or value not in ("any", answer.headers[name]):
                raise BrokenDeclaration(f"{title}: the header {name} is {answer.headers.get(name)!r}, not {value}")
        for name, place in step.get("keep", {}).items():
            found = body
            for key in place.split("."):
                found = found[int(key) if key.isdigit() else key]
            self.values[name] = found
        return Answer(title, str(step["answer"]).partition(" ")[2], body)

    def check(self, title: str, expected: str, answer: requests.Response):
        status, _, type = expected.partition(" ")
        if answer.status_code != int(status):
            raise BrokenDeclaration(f"{title}: {answer.status_code} in place of {status}: {answer.text[:500]}")
        if not type:
            return None
        try:
            body = answer.json()
        except ValueError:
            raise BrokenDeclaration(f"{title}: the answer is no JSON: {answer.text[:500]}") from None
        if problems := self.declarations.problems(type, body):
            raise BrokenDeclaration("\n".join(f"{title}: {problem}" for problem in problems))
        return body

    def filled(self, text: str) -> str:
        return string.Template(text).substitute(self.values)

    def sent(self, step: dict, method: str, host: str, path: str) -> requests.Response:
        if "upload" in step or "sign" in step:
            headers, body, path = self.signed(step, method, host, path)
        else:
            headers, body = dict(step.get("headers", self.headers)), None
            if "body" in step:
                headers["Content-Type"] = self.body_type
                body = self.encoded(step["body"])
        headers = {name: self.filled(value) for name, value in headers.items()}
        return self.session.request(
            method, f"{self.server.base_url}{path}", headers={"Host": host, **headers}, data=body, timeout=PATIENCE,
            allow_redirects=False)

    def encoded(self, body) -> bytes:
        """A body as the SDK's encoder writes it."""
        text = self.filled(json.dumps(body, separators=(",", ":"), ensure_ascii=False))
        for character, escape in self.escapes.items():
            text = text.replace(character, escape)
        return text.encode()

    def signed(self, step: dict, method: str, host: str, path: str) -> tuple[dict, bytes | None, str]:
        """Headers, body and target of a request to S3, signed with the credentials of an earlier answer."""
        uploads = self.uploads
        keys = [self.values[name] for name in ("access_key", "secret_key", "session_token")]
        request = botocore.awsrequest.AWSRequest(method, f"https://{host}{path}")
        where = (botocore.credentials.Credentials(*keys), "s3", step.get("region", "ap-south-1"))
        unsigned = dict(uploads["headers"])
        if "upload" not in step:
            signer = botocore.auth.S3SigV4Auth(*where)
            signer.payload = lambda _: hashlib.sha256(b"").hexdigest()
            signer.add_auth(request)
            return {**dict(request.headers), **unsigned}, None, path
        number = step["upload"].partition(".")[0]
        body = self.audio[int(number) - 1 if number.isdigit() else 0]
        for name, value in uploads["metadata"].items():
            request.headers[name] = self.filled(value)
        if uploads["sign"] == "query":
            request.headers["Content-Type"] = uploads["type"]
            botocore.auth.S3SigV4QueryAuth(*where, expires=3000).add_auth(request)
            target, _, query = request.url.removeprefix(f"https://{host}").partition("?")
            # AWS's SDK for iOS does not sort: the session token is last, before the signature.
            parts = sorted(query.split("&"), key=lambda part: (
                part.startswith("X-Amz-Signature"), part.startswith("X-Amz-Security-Token")))
            return {**dict(request.headers), **unsigned}, body, f"{target}?{'&'.join(parts)}"
        unsigned["Content-Type"] = uploads["type"]
        request.headers["content-md5"] = base64.b64encode(hashlib.md5(body).digest()).decode()
        request.headers["x-amz-decoded-content-length"] = str(len(body))
        signer = botocore.auth.S3SigV4Auth(*where)
        signer.payload = lambda _: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
        signer.add_auth(request)
        return {**dict(request.headers), **unsigned}, in_signed_chunks(signer, request, body), path


def in_signed_chunks(signer, request, body: bytes) -> bytes:
    """Frames a body as AWS's SDK for Android does. The signature of each chunk covers the one before."""
    signature = request.headers["Authorization"].rpartition("=")[2]
    framed = b""
    for start in [*range(0, len(body), CHUNK), len(body)]:
        chunk = body[start : start + CHUNK]
        signature = signer.signature("\n".join([
            "AWS4-HMAC-SHA256-PAYLOAD", request.context["timestamp"], signer.credential_scope(request), signature,
            hashlib.sha256(b"").hexdigest(), hashlib.sha256(chunk).hexdigest(),
        ]), request)
        framed += f"{len(chunk):x};chunk-signature={signature}\r\n".encode() + chunk + b"\r\n"
    return framed
