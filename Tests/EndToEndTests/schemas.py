"""Documents of openapi/ and validators of their schemas. A process reads a document and makes a validator once."""

import functools

import jsonschema
import yaml
from emulator import ROOT

#: Ten times as fast as the loader in Python.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@functools.cache
def document(name: str) -> dict:
    """A file of openapi/, by its name."""
    return yaml.load((ROOT / "openapi" / name).read_text(encoding="utf8"), LOADER)


#: By the name of the document and the identity of the schema in it, which lives as long as the document.
_validators: dict[tuple[str, int], jsonschema.Draft202012Validator] = {}


def validator(name: str, schema: dict) -> jsonschema.Draft202012Validator:
    """Validates against a schema that stands in a document. The schema may refer to the document's components."""
    key = (name, id(schema))
    if key not in _validators:
        components = document(name)["components"]
        _validators[key] = jsonschema.Draft202012Validator({**schema, "components": components})
    return _validators[key]


@functools.cache
def component(name: str, schema: str) -> jsonschema.Draft202012Validator:
    """Validates against a component schema of a document."""
    return validator(name, document(name)["components"]["schemas"][schema])
