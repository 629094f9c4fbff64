"""Holds the exchanges of the server tests against the OpenAPI document: check_exchanges.py FILE

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
DOCUMENT = yaml.safe_load((ROOT / "openapi/scribe.yaml").read_text())
METHODS = ("get", "post", "put", "patch", "delete")
#: Answers that no test can provoke, and why.
UNREACHABLE = {("readyz", 503): "nobody is listened to before the database answers"}


def resolve(node: dict) -> dict:
    while "$ref" in node:
        target = DOCUMENT
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        node = target
    return node


def words(path: str) -> list[str]:
    return [word for word in path.split("/") if word]


def find(path: str) -> str | None:
    """The path of the document that a request's belongs to. A literal one wins over one with a parameter, whatever
    the method."""
    asked = words(path)
    found = [
        template for template in DOCUMENT["paths"]
        if len(words(template)) == len(asked)
        and all(word.startswith("{") or word == other for word, other in zip(words(template), asked))
    ]
    return min(found, key=lambda template: [word.startswith("{") for word in words(template)], default=None)


def main(path: str) -> int:
    validators = {}
    given = collections.Counter()
    problems = []
    count = 0
    for line in open(path, encoding="utf8"):
        exchange = json.loads(line)
        template = find(exchange["path"])
        operation = DOCUMENT["paths"].get(template, {}).get(exchange["method"].lower())
        if operation is None:
            continue
        count += 1
        key = (operation["operationId"], exchange["status"])
        given[key] += 1
        response = resolve(operation["responses"].get(str(exchange["status"]), {}))
        kind = exchange["type"].split(";")[0].strip().lower()
        if response and "content" not in response and not kind:
            continue
        media = response.get("content", {}).get(kind)
        if media is None:
            problems.append(f"{key} answers {exchange['type']!r}, which is not documented: {exchange['body'][:200]}")
            continue
        if kind != "application/json":
            continue
        if key not in validators:
            schema = {**media["schema"], "components": DOCUMENT["components"]}
            validators[key] = jsonschema.Draft202012Validator(schema)
        try:
            body = json.loads(exchange["body"])
        except ValueError:
            problems.append(f"{key} answers no JSON: {exchange['body'][:200]!r}")
            continue
        for error in validators[key].iter_errors(body):
            problems.append(f"{key} {error.json_path}: {error.message[:200]}")
    operations = [
        operation for item in DOCUMENT["paths"].values() for method, operation in item.items() if method in METHODS
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
