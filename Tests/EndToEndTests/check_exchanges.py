"""Holds the exchanges of the server tests against the OpenAPI documents: check_exchanges.py FILE

Every answer of a documented route must be documented and fit its schema, and every documented answer must have been
given by some test.
"""

import collections
import json
import pathlib
import sys

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [yaml.safe_load((ROOT / f"openapi/{name}.yaml").read_text()) for name in ("scribe", "control")]
METHODS = ("get", "post", "put", "patch", "delete")
#: Answers that no test can provoke, and why.
UNREACHABLE = {
    ("readyz", 503): "nobody is listened to before the database answers",
    ("beginDeviceLogin", 429): "five codes in a row would have to be taken",
    ("combinedAudio", 403): "the machine that runs the tests has ffmpeg",
}


def resolve(document: dict, node: dict) -> dict:
    while "$ref" in node:
        target = document
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        node = target
    return node


def words(path: str) -> list[str]:
    return [word for word in path.split("/") if word]


def find(path: str) -> tuple[dict, str | None]:
    """The document and its path that a request's belongs to. A literal one wins over one with a parameter, whatever
    the method."""
    asked = words(path)
    document = DOCUMENTS[asked[:1] == ["__admin"]]
    found = [
        template for template in document["paths"]
        if len(words(template)) == len(asked)
        and all(word.startswith("{") or word == other for word, other in zip(words(template), asked))
    ]
    best = min(found, key=lambda template: [word.startswith("{") for word in words(template)], default=None)
    return document, best


def main(path: str) -> int:
    validators = {}
    given = collections.Counter()
    problems = []
    count = 0
    for line in open(path, encoding="utf8"):
        exchange = json.loads(line)
        document, template = find(exchange["path"])
        operation = document["paths"].get(template, {}).get(exchange["method"].lower())
        if operation is None:
            continue
        # Said of a host before any operation is looked for.
        if exchange["status"] == 421:
            continue
        count += 1
        key = (operation["operationId"], exchange["status"])
        given[key] += 1
        response = resolve(document, operation["responses"].get(str(exchange["status"]), {}))
        kind = exchange["type"].split(";")[0].strip().lower()
        if response and "content" not in response and not kind:
            continue
        media = response.get("content", {}).get(kind)
        if media is None:
            problems.append(f"{key} answers {exchange['type']!r}, which is not documented: {exchange['body'][:200]}")
            continue
        if kind not in ("application/json", "application/problem+json"):
            continue
        if key not in validators:
            schema = {**media["schema"], "components": document["components"]}
            validators[key] = jsonschema.Draft202012Validator(schema)
        try:
            body = json.loads(exchange["body"])
        except ValueError:
            problems.append(f"{key} answers no JSON: {exchange['body'][:200]!r}")
            continue
        for error in validators[key].iter_errors(body):
            problems.append(f"{key} {error.json_path}: {error.message[:200]}")
    operations = [
        operation for document in DOCUMENTS for item in document["paths"].values()
        for method, operation in item.items() if method in METHODS
    ]
    for operation in operations:
        for status in operation["responses"]:
            key = (operation["operationId"], int(status))
            if not given[key] and key not in UNREACHABLE:
                problems.append(f"{key} is documented, and no test gets it")
    for problem in sorted(set(problems)):
        print(problem)
    print(f"{count} exchanges, {len(set(problems))} problems")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
