"""Holds the exchanges of the server tests against the OpenAPI document: check_exchanges.py FILE

Every answer of a documented route must be documented and fit its schema, and every documented answer must have been
given by some test.
"""

import collections
import json
import pathlib
import re
import sys

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = yaml.safe_load((ROOT / "openapi/scribe.yaml").read_text())
#: Answers that no test can provoke, and why.
UNREACHABLE = {("readyz", 503): "nobody is listened to before the database answers"}


def resolve(node: dict) -> dict:
    while "$ref" in node:
        target = DOCUMENT
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        node = target
    return node


def main(path: str) -> int:
    operations = {}
    for template, item in DOCUMENT["paths"].items():
        pattern = re.compile("^" + re.sub(r"\{[^}]+\}", "[^/]+", template) + "/?$")
        for method, operation in item.items():
            if method in ("get", "post", "put", "patch", "delete"):
                operations[(method.upper(), template)] = (pattern, operation)
    validators = {}
    given = collections.Counter()
    problems = []
    count = 0
    for line in open(path, encoding="utf8"):
        exchange = json.loads(line)
        found = [
            (template, operation) for (method, template), (pattern, operation) in operations.items()
            if method == exchange["method"] and pattern.match(exchange["path"])
        ]
        # A literal path wins over one with a parameter.
        found.sort(key=lambda pair: pair[0].count("{"))
        if not found:
            continue
        count += 1
        operation = found[0][1]
        key = (operation["operationId"], exchange["status"])
        given[key] += 1
        response = resolve(operation["responses"].get(str(exchange["status"]), {}))
        media = response.get("content", {}).get(exchange["type"].split(";")[0])
        if media is None:
            problems.append(f"{key} answers {exchange['type']!r}, which is not documented: {exchange['body'][:200]}")
            continue
        if "json" not in exchange["type"]:
            continue
        if key not in validators:
            schema = {**media["schema"], "components": DOCUMENT["components"]}
            validators[key] = jsonschema.Draft202012Validator(schema)
        for error in validators[key].iter_errors(json.loads(exchange["body"])):
            problems.append(f"{key} {error.json_path}: {error.message[:200]}")
    for (_, _), (_, operation) in operations.items():
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
