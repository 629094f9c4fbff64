"""Checks recorded exchanges against the OpenAPI documents: check_exchanges.py [--coverage] [--document FILE]... FILE

FILE is a HAR file, or has one exchange a line, as JSON: {"method": "GET", "path": "/livez", "status": 200,
"type": "application/json", "body": "…"}. Every answer of a documented operation must be documented and fit its schema.
With --coverage every documented answer must occur too, except those of UNREACHABLE. Needs Python 3.11, PyYAML and
jsonschema, and nothing else of this repository than the documents. Exits 1 if there is a problem, or if no exchange
belongs to a documented operation.
"""

import argparse
import base64
import collections
import json
import pathlib
import sys
import urllib.parse

import jsonschema
import yaml

#: Ten times as fast as the loader in Python.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "openapi"
METHODS = ("get", "post", "put", "patch", "delete")
#: Answers that the server tests do not provoke, and why.
UNREACHABLE = {
    ("checkReadiness", 503): "the server listens only after the database has answered",
    ("login", 429): "nine attempts would have to wait at once, as in LoginThrottleTests",
    ("loginFromPage", 429): "nine attempts would have to wait at once, as in LoginThrottleTests",
    ("beginDeviceLogin", 429): "five codes in a row would have to be taken",
    ("postForm", 400): "test_s3_objects.py sends files of the wrong size; its exchanges are not recorded",
    ("saveSnapshot", 503): "the disk would have to be full",
    ("importSnapshot", 503): "the disk would have to be full",
    ("deleteNamespace", 409): "another call would have to be creating or resetting the namespace at that moment",
}


class Document:
    def __init__(self, path: pathlib.Path):
        self.root = yaml.load(path.read_text(encoding="utf8"), LOADER)
        self.paths = {template: self.resolve(item) for template, item in self.root["paths"].items()}
        self.validators = {}

    def resolve(self, node: dict) -> dict:
        while "$ref" in node:
            target = self.root
            for name in node["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            node = target
        return node

    def operations(self):
        for item in self.paths.values():
            yield from (operation for method, operation in item.items() if method in METHODS)

    def template(self, path: str) -> str | None:
        """The documented path of a request. A literal segment wins over a parameter, whatever the method."""
        asked = words(path)
        found = [
            template for template in self.paths
            if len(words(template)) == len(asked)
            and all(word.startswith("{") or word == other for word, other in zip(words(template), asked))
        ]
        return min(found, key=parameters, default=None)

    def problems(self, key, schema: dict, body):
        if key not in self.validators:
            schema = {**schema, "components": self.root["components"]}
            self.validators[key] = jsonschema.Draft202012Validator(schema)
        for error in self.validators[key].iter_errors(body):
            yield f"{key} {error.json_path}: {error.message[:200]}"


def parameters(template: str) -> list[bool]:
    """Which segments of a documented path are parameters."""
    return [word.startswith("{") for word in words(template)]


def words(path: str) -> list[str]:
    return [word for word in path.split("/") if word]


def exchanges(path: pathlib.Path):
    """The exchanges of a HAR file or of JSON lines."""
    text = path.read_text(encoding="utf8")
    if path.suffix != ".har":
        yield from map(json.loads, text.splitlines())
        return
    for entry in json.loads(text)["log"]["entries"]:
        response = entry["response"]
        # What a fault rule answers is no part of the contract.
        if any(header["name"].lower() == "x-scribe-fault-applied" for header in response.get("headers", [])):
            continue
        content = response["content"]
        body = content.get("text", "")
        if content.get("encoding") == "base64":
            body = base64.b64decode(body).decode(errors="replace")
        yield {
            "method": entry["request"]["method"], "path": urllib.parse.urlsplit(entry["request"]["url"]).path,
            "status": response["status"], "type": content.get("mimeType", ""), "body": body,
        }


def check(document: Document, operation: dict, exchange: dict):
    """Problems of one exchange."""
    key = (operation["operationId"], exchange["status"])
    response = document.resolve(operation["responses"].get(str(exchange["status"]), {}))
    kind = exchange["type"].split(";")[0].strip().lower()
    if response and "content" not in response and not kind:
        return
    media = response.get("content", {}).get(kind)
    if media is None:
        yield f"{key} answers {exchange['type']!r}, which is not documented: {exchange['body'][:200]}"
    elif kind in ("application/json", "application/problem+json"):
        try:
            body = json.loads(exchange["body"])
        except ValueError:
            yield f"{key} answers no JSON: {exchange['body'][:200]!r}"
        else:
            found = list(document.problems(key, media["schema"], body))
            yield from found
            # The server reads the documents itself, see Sources/ScribeHTTP/Contract.
            if exchange.get("fits") not in (None, not found):
                yield f"{key}: the server's own reader of the contract finds {'nothing' if found else 'a problem'}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--coverage", action="store_true", help="every documented answer must occur")
    parser.add_argument(
        "--document", type=pathlib.Path, action="append",
        help="an OpenAPI document; scribe.yaml and control.yaml of this repository unless given")
    options = parser.parse_args(arguments)
    documents = [Document(path) for path in options.document or (FOLDER / "scribe.yaml", FOLDER / "control.yaml")]
    seen = collections.Counter()
    problems = set()
    for exchange in exchanges(options.file):
        # Of two documents the one with the more literal path has the operation.
        found = [(document, document.template(exchange["path"])) for document in documents]
        found = [(document, template) for document, template in found if template]
        if not found or exchange["status"] == 421:
            # 421 is an answer of the host, before the server looks for an operation.
            continue
        document, template = min(found, key=lambda each: parameters(each[1]))
        operation = document.paths[template].get(exchange["method"].lower())
        if operation is None:
            continue
        seen[operation["operationId"], exchange["status"]] += 1
        problems.update(check(document, operation, exchange))
    if options.coverage:
        documented = {
            (operation["operationId"], int(status))
            for document in documents for operation in document.operations() for status in operation["responses"]
        }
        problems.update(
            f"{key} is documented, and no test gets it" for key in documented - seen.keys() - UNREACHABLE.keys())
    for problem in sorted(problems):
        print(problem)
    print(f"{seen.total()} exchanges, {len(problems)} problems")
    return 1 if problems or not seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
