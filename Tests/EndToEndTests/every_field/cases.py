"""Cases for one operation: paths, queries, fields, bodies, forms and client profiles."""

import concurrent.futures
import json
import re
import urllib.parse
import uuid

import requests
from every_field.judge import message_of
from every_field.operations import KINDS, is_valid
from every_field.tenants import Exchange, Tenant
from every_field.values import (
    BIG, CANARY, EDGES, MISSING, ODD_QUERIES, ODD_SEGMENTS, ODD_TEXTS, OTHER_TYPES, Raw, at, changed, encoded,
    fields, form, is_required, name_of, with_lists,
)

PROFILES = {name: {"flavour": name} for name in ("ScribeIOS", "android", "io", "web")} | {
    "none": {}, "dotnet": {"User-Agent": "EkaCare-DotNet-SDK/1.0"},
}


def parameters(judge, first: Tenant, second: Tenant):
    """Paths and queries."""
    operation = judge.operation
    cases = []
    for parameter in operation.segments:
        name, schema = parameter["name"], parameter["schema"]
        kind = KINDS.get(name)
        theirs = second.id_of(kind, operation)
        for case, text in {
                "unknown": Tenant.unknown(kind, operation), "foreign": theirs,
                **judge.chosen(ODD_SEGMENTS, name, 4)}.items():
            meant = urllib.parse.unquote(text, errors="surrogateescape")
            cases.append((case, {"segments": {name: text}}, f"path {name} {case}", is_valid(schema, meant), kind))
    for parameter in operation.queries:
        name, schema = parameter["name"], parameter["schema"]
        kind = KINDS.get(name)
        theirs = second.id_of(kind, operation)
        for case, text in {
                "unknown": f"i-{uuid.uuid4()}", "foreign": theirs, **judge.chosen(ODD_QUERIES, name, 4)}.items():
            # Ids are in the log, and may be.
            text = text.replace(CANARY, "a-word") if kind else text
            types = schema.get("type", "string")
            shape = r"-?[0-9]+" if "integer" in types else r"-?[0-9]+(\.[0-9]+)?" if "number" in types else r"(?!)"
            meant = json.loads(text) if re.fullmatch(shape, text) else urllib.parse.unquote(text)
            if types == "array":
                meant = [meant]
            if "boolean" in types and text == "0":
                # What FastAPI reads as false.
                meant = False
            cases.append((case, {"query": {name: text}}, f"query {name} {case}", is_valid(schema, meant), kind))
        value = first.ids.get(kind, "1")
        for case, raw in [("repeated", f"{name}={value}&{name}=2"), ("bare", name), ("list", f"{name}[]={value}")]:
            cases.append((case, {"raw_query": raw}, f"query {name} {case}", True, None))
        for example in [parameter["example"]] if "example" in parameter else schema.get("examples", []):
            meant = f"{example}\0x"
            fits = is_valid(schema, meant)
            cases.append(("NUL", {"query": {name: f"{example}%00x"}}, f"query {name} ends in NUL", fits, None))
        if parameter.get("required"):
            cases.append(("missing", {"query": {name: MISSING}}, f"query {name} missing", False, None))
    if not cases:
        return

    def run(case):
        name, arguments, title, fits, kind = case
        return Exchange(first, operation).send(**arguments)

    # Some wait for what may still come.
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(run, cases))
    unknown = {}
    for (name, arguments, title, fits, kind), answer in zip(cases, answers):
        if name == "empty" and answer.ok and title.startswith("path"):
            # The path of another operation.
            continue
        also = range(200, 500) if name == "empty" else (400, 404, 405, 413, 431)
        judge.check(title, answer, "any" if fits or name == "empty" else "bad", also=also)
        if answer.ok and "\\u0000" in answer.text:
            judge.note(title, answer, "takes NUL for a part of a name")
        if name == "escaped twice" and kind == "transaction" and answer.ok and "txn_id" in answer.json():
            if answer.json()["txn_id"] != "a%41b":
                judge.note(title, answer, "is to be unescaped once")
        subject = title.rsplit(" ", 1)[0]
        sent = next(iter(arguments.get("segments", arguments.get("query", {"": ""})).values()))
        told = ""
        if answer.status_code >= 400 and name in ("unknown", "foreign"):
            body = {key: value for key, value in answer.json().items() if key != "txn_id"}
            told = json.dumps(body, sort_keys=True).replace(sent, "ID")
        if name == "unknown":
            unknown[subject] = (answer.status_code, told)
        # A conversion to a template that nobody here has makes a note of that name, which may then be asked for.
        is_converted = judge.operation.id == "readSessionStatus" and kind == "template"
        if name == "foreign" and kind and not is_converted and (answer.status_code, told) != unknown[subject]:
            judge.note(title, answer, f"differs from an unknown one, {unknown[subject]}")


def bodies(judge, first: Tenant, second: Tenant):
    """Each field of each example, and the body as a whole."""
    operation = judge.operation
    done = set()
    for example in [*operation.examples, *with_lists(operation.schema, operation.examples[0])]:
        assert is_valid(operation.schema, example), "the example is wrong"
        good = Exchange(first, operation).body(example)
        judge.check("as it should be", Exchange(first, operation).send(good), "good")
        for path in dict.fromkeys(fields(operation.schema, example)):
            if (path, at(example, path) is MISSING) not in done:
                done.add((path, at(example, path) is MISSING))
                field(judge, example, path, first, second)
    whole(judge, first)


def field(judge, example, path, first: Tenant, second: Tenant):
    operation, title = judge.operation, ".".join(map(str, path))

    def send(case, value, as_judged=MISSING, expected=None, names="") -> requests.Response:
        exchange = Exchange(first, operation)
        good = exchange.body(example)
        stand_in = value if as_judged is MISSING else as_judged
        fits = is_valid(operation.schema, changed(good, path, stand_in))
        expected = expected or ("any" if fits else "bad")
        is_absent = value is MISSING or value is None
        if fits or is_absent and not is_required(operation.schema, changed(good, path, MISSING)):
            names = ""
        answer = exchange.send(changed(good, path, value))
        return judge.check(f"{title} {case}", answer, expected, names)

    name = name_of(path)
    is_item = isinstance(path[-1], int)
    missing_fits = is_valid(operation.schema, changed(example, path, MISSING))
    null_fits = is_valid(operation.schema, changed(example, path, None))
    missing = send("missing", MISSING, expected="good" if missing_fits else "bad", names=name)
    # Null means absent, where the schema allows it.
    null = send("null", None, expected="good" if null_fits and not is_item else None, names=name)
    if missing_fits and null_fits and not is_item and null.status_code != missing.status_code:
        judge.note(f"{title} null", null, f"differs from a missing one, {missing.status_code}")
    for case, value in judge.chosen(OTHER_TYPES, title, 2).items():
        send(f"is {case}", value, names=name)
    if is_valid(operation.schema, changed(example, path, "a")) or isinstance(at(example, path), str):
        for case, value in judge.chosen(ODD_TEXTS, title, 1).items():
            send(case, value)
    if isinstance(at(example, path), (int, float)):
        for case, value in [("beyond int64", BIG), ("negative", -BIG), ("beyond doubles", Raw("1e400"))]:
            send(case, value, BIG)
        for edge in EDGES:
            send(f"is {edge}", Raw(edge), expected="any")
        send("not a number", Raw("NaN"), expected="bad")
    else:
        edge = EDGES[sum(title.encode()) % len(EDGES)]
        send(f"is {edge}", Raw(edge), expected="any")
    # Whoever names a session names it anew.
    is_known = name in KINDS and operation.id != "createSession"
    if is_known and (isinstance(at(example, path), str) or at(example, path) is MISSING):
        theirs = second.twins[operation.id] if operation.takes_ids else second.ids[KINDS[name]]
        unknown, foreign = send("unknown", f"i-{uuid.uuid4()}"), send("foreign", theirs)
        if unknown.status_code != foreign.status_code:
            judge.note(f"{title} foreign", foreign, f"differs from an unknown one, {unknown.status_code}")
        if unknown.status_code >= 400 and message_of(unknown) != message_of(foreign):
            judge.note(f"{title} foreign", foreign, f"is told otherwise than an unknown one, {message_of(unknown)}")


def whole(judge, first: Tenant):
    operation = judge.operation
    example = operation.examples[0]

    def send(case, body, expected="bad"):
        return judge.check(f"body {case}", Exchange(first, operation).send(body), expected)

    def sized(path, value):
        return changed(Exchange(first, operation).body(example), path, value)

    all_fields = list(dict.fromkeys(fields(operation.schema, example)))
    text = next((path for path in all_fields if isinstance(at(example, path), str)), all_fields[0])
    large = send("that is too large", sized(text, CANARY * (2 * operation.max_bytes // len(CANARY))))
    if large.status_code != 413:
        judge.note("body that is too large", large, "is to be 413")
    send("with 100 KB in a field", sized(text, CANARY * 9_000), "any")
    for path in all_fields:
        if isinstance(at(example, path), list) and at(example, path):
            item = at(Exchange(first, operation).body(example), path)[0]
            count = min(20_000, 900_000 // (len(json.dumps(item)) + 2))
            send(f"with a long {path}", sized(path, [item] * count), "any")
            break
    anything = {"a": {"b": 1}}
    free = next((path for path in all_fields if is_valid(operation.schema, changed(example, path, anything))), text)
    for depth in (90, 5000):
        send(f"{depth} deep", sized(free, Raw('{"a":' * depth + "1" + "}" * depth)), "any")
    send("400 lists deep", sized(free, Raw("[" * 400 + "]" * 400)), "any")
    if free != text:
        for case, value in [("integer", BIG), ("double", Raw("1e400")), *ODD_TEXTS.items()]:
            send(f"with an odd {case} within", sized(free, {"key": value}), "any")
            if isinstance(value, str):
                send(f"with an odd {case} as a key", sized(free, {value.replace(CANARY, "key"): CANARY}), "any")
    for edge in EDGES:
        send(f"with {edge} within", sized(free, {"key": Raw(edge)}), "any")
    send("that is empty", b"", "bad" if operation.needs_body else "good")
    # Null means absent.
    send("that is null", b"null", "bad" if operation.needs_body else "any")
    for value in (7, 1.5, True, CANARY, [], {}, [CANARY], [None]):
        send(f"that is {value}", json.dumps(value).encode(), "good" if is_valid(operation.schema, value) and value else
             "any" if is_valid(operation.schema, value) else "bad")
    good = encoded(Exchange(first, operation).body(example) or {"key": "x"})
    for case, body in {
        "cut off": good[:-2], "with more behind it": good + b"}", "not UTF-8": good.replace(b'"', b'"\xff\xfe', 1),
        "with a bare NUL": good.replace(b'"', b'"\0', 1), "that is no JSON": CANARY.encode(), "zipped": b"\x1f\x8b\x08",
    }.items():
        send(case, body)


def forms(judge, first: Tenant):
    """A form's fields have no types; they can be missing, long, and full of odd bytes."""
    schema = judge.operation.form
    for name in schema.get("properties", {}):
        cases = {"missing": ({}, [name]), "empty": ({name: ""}, []), "100 KB": ({name: CANARY * 9_000}, [])}
        cases |= {case: ({name: text}, []) for case, text in ODD_TEXTS.items()}
        for case, (texts, left_out) in cases.items():
            body, media = form(schema, texts, left_out)
            answer = Exchange(first, judge.operation).send(body, headers={"Content-Type": media})
            is_lacking = case == "missing" and name in schema.get("required", [])
            judge.check(f"form {name} {case}", answer, "bad" if is_lacking else "any")
    body, media = form(schema)
    for case, data, kind in [
        ("cut off", body[:-9], media), ("without a boundary", body, "multipart/form-data"), ("empty", b"", media),
        ("of another boundary", body, "multipart/form-data; boundary=c"),
        ("with a path as its name", body.replace(b"1.wav", b"../../1.wav"), media),
        ("with a NUL in its name", body.replace(b"1.wav", b"1\0.wav"), media),
    ]:
        expected = "bad" if case in ("cut off", "without a boundary", "of another boundary") else "any"
        answer = Exchange(first, judge.operation).send(data, headers={"Content-Type": kind})
        judge.check(f"form {case}", answer, expected)


def profiles(judge, first: Tenant):
    """Every client gets the same refusals."""
    operation = judge.operation
    for headers in judge.chosen(PROFILES, "profile", 2).values():
        judge.check(f"as it should be {headers}", Exchange(first, operation).send(headers=headers), "good")
        if operation.examples:
            path = next(iter(fields(operation.schema, operation.examples[0])))
            for case, value in [("an integer", 7), ("an object", {"key": CANARY}), ("NUL", ODD_TEXTS["NUL"])]:
                exchange = Exchange(first, operation)
                body = changed(exchange.good_body(), path, value)
                expected = "any" if is_valid(operation.schema, body) else "bad"
                judge.check(f"{path} is {case} {headers}", exchange.send(body, headers=headers), expected)
        if operation.segments:
            name = operation.segments[0]["name"]
            answer = Exchange(first, operation).send(segments={name: "a%00b"}, headers=headers)
            judge.check(f"path {name} NUL {headers}", answer, "bad", also=(400, 404))
