"""Checks, times and tokens of Suki's API: exact JSON types, error bodies, RFC 3339 times and webhook signatures.

Written only from the SDK's public page and the wire contract, never from the server.
"""

import base64
import hashlib
import hmac
import json
import re
import time
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

#: Seconds that anything may take that is sure to happen, on however busy a machine.
PATIENCE = 120
RFC3339 = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


# Checks


def field(item, name, kind):
    """The member `name`, present, not null and of exactly this JSON type: true is no integer."""
    assert type(item) is dict, f"{item!r} is not an object, so has no {name}"
    value = item.get(name)
    assert type(value) is kind, f"{name} is {value!r}, not {kind.__name__}, in {item!r}"
    return value


def filled(item, name):
    value = field(item, name, str)
    assert value, f"{name} is empty in {item!r}"
    return value


def check(response, expected):
    expected = (expected,) if isinstance(expected, int) else tuple(expected)
    asked = f"{response.request.method} {urlsplit(response.url).path}"
    assert response.status_code in expected, (
        f"{asked} answered {response.status_code}, not {expected}: {response.text[:2000]}"
    )
    return response


def check_empty(response, or_object=False):
    allowed = (b"", b"{}") if or_object else (b"",)
    assert response.content.strip() in allowed, f"a body where none is due: {response.text[:2000]}"


def error_of(response):
    """The stable id that starts an error's message, after checking the whole error body."""
    body = response.json()
    code, message = field(body, "code", int), filled(body, "message")
    assert code == response.status_code, f"code {code} in an answer {response.status_code}"
    return message.split(":")[0].strip()


def error_id(body):
    """As `error_of`, but of any bytes: empty where they are not an error body."""
    try:
        return str(json.loads(body or b"")["message"]).split(":")[0].strip()
    except (ValueError, KeyError, TypeError):
        return ""


# Times and tokens


def nanoseconds(moment):
    """Unix nanoseconds of an int (the same), a datetime (UTC when naive) or an RFC3339 text."""
    if isinstance(moment, int):
        return moment
    if isinstance(moment, datetime):
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (aware - EPOCH) // timedelta(microseconds=1) * 1000
    match = RFC3339.fullmatch(moment)
    assert match, f"{moment!r} is not RFC3339"
    second, fraction, zone = match.groups()
    whole = datetime.fromisoformat(second + ("+00:00" if zone == "Z" else zone))
    return (whole - EPOCH) // timedelta(seconds=1) * 10**9 + int((fraction or "").ljust(9, "0"))


def rfc3339(moment):
    seconds, nanos = divmod(nanoseconds(moment), 10**9)
    return f"{(EPOCH + timedelta(seconds=seconds)).strftime('%Y-%m-%dT%H:%M:%S')}.{nanos:09d}Z"


def base64_url(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def make_partner_token(partner_id, subject, **claims):
    """Decodable but not signed by anyone: lenient mode looks no further."""
    header = {"alg": "RS256", "typ": "JWT", "kid": "partner"}
    payload = {
        "exp": int(time.time()) + 3600,
        "iss": f"https://{partner_id}.example",
        "aud": "suki",
        "sub": subject,
        **claims,
    }
    parts = [base64_url(json.dumps(part).encode()) for part in (header, payload)]
    return ".".join([*parts, base64_url(hashlib.sha256(b"nobody's signature").digest() * 8)])


def verify_webhook(secret, headers, raw_body):
    """Whether X-API-Key is hex(HMAC-SHA-256(secret, generated-at + ":" + raw body))."""
    pairs = headers.items() if hasattr(headers, "items") else headers
    named = {name.lower(): value.strip() for name, value in pairs}
    generated_at, signature = named.get("generated-at", ""), named.get("x-api-key", "")
    if not re.fullmatch(r"[0-9]+", generated_at) or not signature:
        return False
    key = secret.encode() if isinstance(secret, str) else secret
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    due = hmac.new(key, generated_at.encode() + b":" + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(due.encode(), signature.lower().encode("utf-8", "replace"))
