"""S3 requests that a test signs and sends by hand, each header as it is given; and S3's checksums."""

import base64
import dataclasses
import datetime
import hashlib
import hmac
import html
import http.client
import json
import re
import urllib.parse
import zlib

import botocore.auth
import botocore.awsrequest
import botocore.credentials
from emulator import PATIENCE

REGION = "ap-south-1"
UNSIGNED, TRAILER = "UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"


def reflected(polynomial: int, bits: int):
    """Returns the function that computes a CRC of this many bits, as bytes."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (polynomial if value & 1 else 0)
        table.append(value)
    ones = (1 << bits) - 1

    def crc(data: bytes) -> bytes:
        value = ones
        for byte in data:
            value = table[(value ^ byte) & 255] ^ value >> 8
        return (value ^ ones).to_bytes(bits // 8, "big")

    return crc


#: By the name of an algorithm: the digest of some bytes.
DIGESTS = {
    "CRC32": lambda data: zlib.crc32(data).to_bytes(4, "big"),
    "CRC32C": reflected(0x82F63B78, 32),
    "CRC64NVME": reflected(0x9A6C9329AC4BC9B5, 64),
    "SHA1": lambda data: hashlib.sha1(data).digest(),
    "SHA256": lambda data: hashlib.sha256(data).digest(),
    "SHA512": lambda data: hashlib.sha512(data).digest(),
    "MD5": lambda data: hashlib.md5(data).digest(),
}


def base64ed(data: bytes) -> str:
    return base64.b64encode(data).decode()


def checksum(algorithm: str, data: bytes) -> str:
    return base64ed(DIGESTS[algorithm](data))


def composite(algorithm: str, *parts: bytes) -> str:
    """Checksum of the parts' checksums."""
    digest = DIGESTS[algorithm]
    return f"{base64ed(digest(b''.join(map(digest, parts))))}-{len(parts)}"


def header(algorithm: str) -> str:
    return f"x-amz-checksum-{algorithm.lower()}"


def framed(body: bytes, *trailers: str, size=65_536) -> bytes:
    """A body in chunks, with lines such as `x-amz-checksum-crc32:AAAAAA==` after them."""
    pieces = [body[start:start + size] for start in range(0, len(body), size)]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return chunks + b"0\r\n" + "".join(f"{line}\r\n" for line in trailers).encode() + b"\r\n"


@dataclasses.dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def all(self, name: str) -> list[str]:
        """Texts of all XML elements of a name."""
        return [html.unescape(value) for value in re.findall(rf"<{name}(?: [^>]*)?>([^<]*)</{name}>", self.text)]

    def value(self, name: str) -> str | None:
        """Text of the first XML element of a name."""
        return next(iter(self.all(name)), None)

    @property
    def error(self) -> tuple[int, str | None]:
        """Status and S3's error code; None if the body has none."""
        return self.status, self.value("Code")


def credentials_of(server, client="dev-client", secret="dev-secret") -> botocore.credentials.Credentials:
    keys = server.client(client, secret).session.get(f"{server.base_url}/credentials").json()["credentials"]
    return botocore.credentials.Credentials(keys["AccessKeyId"], keys["SecretKey"], keys["SessionToken"])


def sent(server, method: str, target: str, headers: dict | None = None, body: bytes | None = b"") -> Answer:
    """Sends a request whose target and headers nothing changes. None as the body sends no length."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    headers = {name.lower(): value for name, value in (headers or {}).items()}
    try:
        connection.putrequest(method, target, skip_host="host" in headers, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None and not {"content-length", "transfer-encoding"} & set(headers):
            connection.putheader("content-length", str(len(body)))
        connection.endheaders()
        if body:
            connection.send(body)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


class Signer:
    """Signs requests to a server with the temporary credentials of a client."""

    def __init__(self, server, *client: str, region=REGION):
        self.server, self.region = server, region
        self.credentials = credentials_of(server, *client)

    def headers(self, method: str, target: str, headers: dict | None = None, payload=UNSIGNED) -> dict:
        """All headers of a signed request. Each of those given is signed."""
        request = botocore.awsrequest.AWSRequest(method, self.server.base_url + target)
        for name, value in (headers or {}).items():
            request.headers[name] = value
        request.headers["X-Amz-Content-SHA256"] = payload
        signer = botocore.auth.S3SigV4Auth(self.credentials, "s3", self.region)
        signer.payload = lambda _: payload
        signer.add_auth(request)
        return dict(request.headers)

    def presigned(self, method: str, target: str, headers: dict | None = None) -> str:
        """A presigned target. It demands the headers that are given."""
        request = botocore.awsrequest.AWSRequest(method, self.server.base_url + target, headers=headers or {})
        botocore.auth.S3SigV4QueryAuth(self.credentials, "s3", self.region).add_auth(request)
        return request.url.removeprefix(self.server.base_url)

    def send(
        self, method: str, target: str, body: bytes | None = b"", headers: dict | None = None, *, payload=UNSIGNED,
        unsigned: dict | None = None,
    ) -> Answer:
        """Sends a signed request. `unsigned` are headers that the signature does not cover."""
        return sent(
            self.server, method, target, self.headers(method, target, headers, payload) | (unsigned or {}), body)

    def put(self, target: str, body=b"", **headers: str) -> Answer:
        """PutObject with headers that are named as in Python."""
        return self.send("PUT", target, body, {name.replace("_", "-"): value for name, value in headers.items()})

    def put_with_trailers(
        self, target: str, body: bytes, *trailers: str, announced: str, headers: dict | None = None
    ) -> Answer:
        """PutObject or UploadPart of a body in chunks."""
        fields = {"x-amz-trailer": announced, "x-amz-decoded-content-length": str(len(body)), **(headers or {})}
        return self.send("PUT", target, framed(body, *trailers), fields, payload=TRAILER)


    def form(self, *conditions, lifetime=datetime.timedelta(hours=1), **fields: str) -> dict[str, str]:
        """Fields of an upload form with a policy of these conditions, and of those on the signature's own fields."""
        now = datetime.datetime.now(datetime.timezone.utc)
        day = f"{now:%Y%m%d}"
        signing = {
            "x-amz-algorithm": "AWS4-HMAC-SHA256",
            "x-amz-credential": f"{self.credentials.access_key}/{day}/{self.region}/s3/aws4_request",
            "x-amz-date": f"{now:%Y%m%dT%H%M%SZ}", "x-amz-security-token": self.credentials.token,
        }
        policy = {
            "expiration": f"{now + lifetime:%Y-%m-%dT%H:%M:%SZ}",
            "conditions": [*conditions, *({name: value} for name, value in signing.items())],
        }
        encoded = base64ed(json.dumps(policy).encode())
        key = f"AWS4{self.credentials.secret_key}".encode()
        for word in (day, self.region, "s3", "aws4_request", encoded):
            key = hmac.digest(key, word.encode(), "sha256")
        fields = {name.replace("_", "-"): value for name, value in fields.items()}
        return {**signing, **fields, "policy": encoded, "x-amz-signature": key.hex()}


class Multipart:
    """A multipart upload by hand."""

    def __init__(self, signer: Signer, target: str, **headers: str):
        self.signer, self.target = signer, target
        #: Answer to CreateMultipartUpload.
        self.created = signer.send(
            "POST", f"{target}?uploads", headers={name.replace("_", "-"): value for name, value in headers.items()})
        self.id = urllib.parse.quote(self.created.value("UploadId") or "", safe="")

    def part(self, number: int, body: bytes, headers: dict | None = None) -> Answer:
        return self.signer.send("PUT", f"{self.target}?partNumber={number}&uploadId={self.id}", body, headers)

    def complete(self, *parts: dict, headers: dict | None = None) -> Answer:
        """Completes the upload. A part is a dictionary of its elements."""
        listed = "".join(
            "<Part>" + "".join(f"<{name}>{value}</{name}>" for name, value in part.items()) + "</Part>"
            for part in parts)
        body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
        return self.signer.send("POST", f"{self.target}?uploadId={self.id}", body, headers)
