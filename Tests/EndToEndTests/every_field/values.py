"""Values for fields: right ones, odd ones and wrong ones, and where in a body they can be put."""

import copy
import json
import struct

from every_field.operations import is_valid, resolve, validator

#: In every value that is sent wrongly. It must be in no refusal and not in the log.
CANARY = "canary-4f1d"
BIG = 734621907346219073462190
ODD_SEGMENTS = {
    "300 characters": "x" * 300, "NUL": "a%00b", "line break": "a%0D%0Ab", "slash": "a%2Fb", "dots": "..",
    "escaped dots": "%2e%2e", "traversal": "..%2F..%2Fsigning-key", "not UTF-8": "%ff%fe", "half an escape": "a%",
    "quote": "'%20OR%201=1--", "empty": "",
}
ODD_QUERIES = {
    "empty": "", "a word": CANARY, "negative": "-1", "zero": "0", "a fraction": "1.5", "beyond int64": str(BIG),
    "huge": "x" * 20_000, "NUL": "a%00" + CANARY, "not UTF-8": "%ff%fe", "half an escape": "%",
    "nested": "%7B%22a%22%3A%5B%5D%7D", "escaped twice": "a%2541b",
}
ODD_TEXTS = {"NUL": f"{CANARY}\0b", "control characters": f"{CANARY}\x01\x1b\x7f", "lone surrogate": f"{CANARY}\ud800"}
OTHER_TYPES = {
    "a string": CANARY, "an integer": 7, "a fraction": 1.5, "a boolean": True, "an array": [CANARY],
    "an object": {"key": CANARY},
}
#: Numbers where something ends: of Int64, of UInt64, of what a Double counts exactly, and of Double.
EDGES = [
    "-9223372036854775808", "-9223372036854775809", "9223372036854775807", "9223372036854775808", "1e300",
    "18446744073709551615", "18446744073709551616", "9007199254740993", "-9007199254740993", "-1e300",
    "1.7976931348623157e308", "5e-324", "-0.0", "0.1",
]
MISSING = object()
#: A second of it, 8 kHz mono: a tone, for silence has nothing to say.
RECORDING = (
    b"RIFF" + struct.pack("<I", 16_036) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16_000, 2, 16)
    + b"data" + struct.pack("<I", 16_000) + struct.pack("<4h", 0, 8000, 0, -8000) * 2000
)

#: The same at 16 kHz.
WAVE = (
    b"RIFF" + struct.pack("<I", 32_036) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 16_000, 32_000, 2, 16)
    + b"data" + struct.pack("<I", 32_000) + struct.pack("<4h", 0, 8000, 0, -8000) * 4000
)


class Raw:
    """JSON that `json` would not write."""

    def __init__(self, text: str):
        self.text = text


def encoded(body) -> bytes:
    raws = []

    def mark(raw):
        raws.append(raw.text)
        return f"@@{len(raws) - 1}@@"

    if isinstance(body, bytes):
        return body
    text = json.dumps(body, default=mark)
    for index, raw in enumerate(raws):
        text = text.replace(f'"@@{index}@@"', raw)
    return text.encode()


def form(schema: dict, texts=None, left_out=()) -> tuple[bytes, str]:
    parts = []
    for name, each in schema.get("properties", {}).items():
        each = resolve(each)
        is_file = each.get("format") == "binary" or "contentMediaType" in each or "contentEncoding" in each
        if name in left_out:
            continue
        value = (texts or {}).get(name, "allergies and advice")
        head = f'Content-Disposition: form-data; name="{name}"' + ('; filename="1.wav"' if is_file else "")
        parts.append(f"--b\r\n{head}\r\n\r\n{value}\r\n")
    return ("".join(parts) + "--b--\r\n").encode(errors="surrogatepass"), "multipart/form-data; boundary=b"


def alternatives(schema):
    """A schema and those that it is made of."""
    schema = resolve(schema)
    yield schema
    for word in ("allOf", "anyOf", "oneOf"):
        for each in schema.get(word, []):
            yield from alternatives(each)


def member_names(schema) -> list[str]:
    """Names of the members that a schema describes; a pattern lists other names of a member, as `^(a|b)$`."""
    patterns = schema.get("patternProperties", {})
    return [*schema.get("properties", {}), *(name for each in patterns for name in each.strip("^$()").split("|"))]


def fields(schema, value, path=()):
    """The paths of all fields that can be reached in a body."""
    schemas = list(alternatives(schema))
    if isinstance(value, dict):
        names = {name: None for each in schemas for name in member_names(each)}
        names.update({name: None for name in value})
        for name in names:
            yield (*path, name)
            for each in schemas:
                below = each.get("properties", {}).get(name, each.get("additionalProperties"))
                if isinstance(below, dict) and name in value:
                    yield from fields(below, value[name], (*path, name))
    elif isinstance(value, list) and value:
        yield (*path, 0)
        for each in schemas:
            if isinstance(each.get("items"), dict):
                yield from fields(each["items"], value[0], (*path, 0))


def at(body, path):
    for key in path:
        if isinstance(body, dict) and key not in body:
            return MISSING
        body = body[key]
    return body


def is_required(schema, body) -> bool:
    """Whether a body lacks a member that is required in any case, and not as one of several."""
    # One of several is required by the `else` of an `if`.
    return all(
        error.validator == "required" and "else" not in error.schema_path
        for error in validator(schema).iter_errors(body))


def changed(body, path, value):
    body = copy.deepcopy(body)
    parent = at(body, path[:-1])
    if value is not MISSING:
        parent[path[-1]] = value
    elif isinstance(parent, dict):
        parent.pop(path[-1], None)
    else:
        parent.clear()
    return body


def with_lists(schema, example):
    """The example with each of the lists that it leaves out or empty."""
    for path in fields(schema, example):
        if at(example, path) in (MISSING, []) and not is_valid(schema, changed(example, path, "x")):
            body = changed(example, path, ["x"])
            if is_valid(schema, body):
                yield body


def name_of(path) -> str:
    return next((key for key in reversed(path) if isinstance(key, str)), "")
