"""Checks a JSON answer against the types by which an SDK declares it.

A field is written as `TYPE`, `TYPE?` or `TYPE by READER`. `?` marks a field that may be null or absent. `by` marks a
field whose declaration is optional, and names the file that stops without it or passes it on to the app.
"""

import base64
import binascii
import dataclasses
import re

SPECIFICATION = re.compile(r"(?P<type>.*?)(?P<optional>\?)?(?: by (?P<reader>\S+))?")


def is_integer(value, bits: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(1 << bits - 1) <= value < 1 << bits - 1


def is_base64(value) -> bool:
    try:
        return bool(base64.b64decode(value, validate=True).decode())
    except (TypeError, ValueError, binascii.Error):
        return False


SCALARS = {
    "text": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    #: Swift's `Int`.
    "integer": lambda value: is_integer(value, 64),
    #: Kotlin's `Int`.
    "integer32": lambda value: is_integer(value, 32),
    #: Standard base64 of UTF-8 text, which is not empty.
    "base64": is_base64,
    #: For a field that misleads the SDK if present; with `?`.
    "nothing": lambda value: False,
}


@dataclasses.dataclass(frozen=True)
class Field:
    type: str
    is_optional: bool
    #: What the field is called in a problem: its place in the answer, and its declaration.
    path: str
    declaration: str

    @classmethod
    def read(cls, text: str, path: str, place: str) -> "Field":
        found = SPECIFICATION.fullmatch(text)
        reader = f", and {found['reader']} reads it" if found["reader"] else ""
        declared = found["type"] + ("?" if found["optional"] or reader else "")
        return cls(found["type"], bool(found["optional"]), path, f"{place} is declared as {declared}{reader}")

    def problem(self, what: str) -> str:
        return f"{self.path or 'the answer'} {what}: {self.declaration}"


class Declarations:
    """The types of one SDK.

    `files` maps the path of a source file to its types, and each type to its fields.
    """

    def __init__(self, files: dict[str, dict[str, dict[str, str]]]):
        self.types = {name: (file, fields) for file, types in files.items() for name, fields in types.items()}

    def problems(self, type: str, answer) -> list[str]:
        """Why the SDK does not decode or use an answer; empty if it does."""
        return list(self._problems(Field.read(type, "", "the answer"), answer))

    def fields(self, field: Field) -> list[tuple[str, Field]]:
        """Name and specification of each member of an object type."""
        file, members = self.types[field.type]
        path = f"{field.path}." if field.path else ""
        return [
            (name, Field.read(text, path + name, f"{field.type}.{name} in {file}")) for name, text in members.items()]

    @staticmethod
    def element(field: Field, index: int) -> Field:
        """The specification of a list's element: of `[TYPE]`, or of `[TYPE]+`, which is not empty."""
        found = re.fullmatch(r"\[(.*?)(\?)?\]\+?", field.type)
        return Field(found[1], bool(found[2]), f"{field.path}[{index}]", field.declaration)

    def _problems(self, field: Field, value):
        if value is None:
            if not field.is_optional:
                yield field.problem("is missing")
        elif field.type.startswith("["):
            if not isinstance(value, list):
                yield field.problem("is no list")
                return
            if field.type.endswith("+") and not value:
                yield field.problem("is empty")
            for index, item in enumerate(value):
                yield from self._problems(self.element(field, index), item)
        elif field.type in self.types:
            if not isinstance(value, dict):
                yield field.problem("is no object")
                return
            for name, member in self.fields(field):
                yield from self._problems(member, value.get(name))
        elif field.type.startswith("word "):
            if value not in field.type.removeprefix("word ").split("|"):
                yield field.problem(f"has another value, {value!r}")
        elif not SCALARS[field.type](value):
            yield field.problem(f"has another type or range, {value!r}")

    def breakages(self, type: str, answer):
        """Yields copies of an answer that the SDK does not decode or use, each with the path of the broken field."""
        yield from self._breakages(Field.read(type, "", "the answer"), answer)

    def _breakages(self, field: Field, value):
        if field.type.startswith("["):
            yield field.path, "no list"
            if field.type.endswith("+"):
                yield field.path, []
            for index, item in enumerate(value):
                if item is not None:
                    yield from (
                        (path, [*value[:index], broken, *value[index + 1 :]])
                        for path, broken in self._breakages(self.element(field, index), item))
        elif field.type in self.types:
            yield field.path, "no object"
            for name, member in self.fields(field):
                if value.get(name) is None:
                    continue
                if not member.is_optional:
                    yield member.path, {key: each for key, each in value.items() if key != name}
                for path, broken in self._breakages(member, value[name]):
                    yield path, {**value, name: broken}
        else:
            yield field.path, ["another type"]
