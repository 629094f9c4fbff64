"""The verb `config`: print, check and schema, and the committed schema of the YAML file."""

import itertools
import json
import re

import jsonschema
import pytest
import requests
import yaml
from emulator import ROOT, run, running

SCHEMA_FILE = ROOT / "docs/settings.schema.json"
SCHEMA = json.loads(SCHEMA_FILE.read_text())


def config(verb: str, tmp_path, *flags, file: str | None = None, environment=None):
    """Runs the verb, with a YAML file of this text."""
    if file is not None:
        (tmp_path / "scribe.yaml").write_text(file)
        flags = ("--config", "scribe.yaml", *flags)
    return run("config", verb, *flags, cwd=tmp_path, env={"HOME": str(tmp_path), **(environment or {})})


class Loader(yaml.SafeLoader):
    """Reads YAML 1.2, as editors do: `off` is a text there, no boolean."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if first in "tTfF" or not tag.endswith(":bool")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def fits(file: str) -> bool:
    """Whether the schema accepts a YAML file."""
    return VALIDATOR.is_valid(yaml.load(file, Loader))


def test_the_committed_schema_is_a_schema_and_what_the_verb_prints(tmp_path):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert config("schema", tmp_path).stdout == SCHEMA_FILE.read_text()


def test_the_schema_has_a_key_for_each_row_of_the_page():
    page = (ROOT / "docs/configuration.md").read_text()
    keys = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert set(keys) == SCHEMA["properties"].keys()


def test_each_setting_is_listed_under_a_task_on_the_configuration_page():
    page = (ROOT / "docs/configuration.md").read_text()
    tasks = page[page.index("## Settings by task"):page.index("## All settings")]
    named = set(re.findall(r"`([a-z0-9-]+)`", tasks))
    keys = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `")}
    groups = tuple(name for name in named if name.endswith("-"))
    assert {key for key in keys - named if not key.startswith(groups)} == set()


#: Values by the form of a setting: those that it takes, and those that it does not.
VALUES = {
    "boolean": (["true", "false"], ["7", "perhaps"]),
    "integer": (["MINIMUM", "MAXIMUM"], ["-1", "x", "1.5"]),
    "enum": (["CHOICES"], ["nonesuch", "[1]"]),
    "time": (["14s", "2m", "1.5h", "20"], ["soon", "-1", "[10s]"]),
    "times": (["10s", "[10s, 60s]", "20"], ["[soon]", "{a: b}"]),
    "size": (["50GB", "500mb", "1000000"], ["much", "-1", "[1]"]),
    "list": ([], ["[[a]]", "{a: b}"]),
    "text": ([], ["[a]", "{a: b}"]),
}


def form(schema: dict) -> str:
    if "enum" in schema:
        return "enum"
    match schema["type"]:
        case "string" | "boolean" | "integer" as plain:
            return {"string": "text"}.get(plain, plain)
        case ["string", "number"]:
            return "time"
        case ["string", "integer"]:
            return "size"
        case ["string", "number", "array"]:
            return "times"
    return "list"


#: Values of lists and texts, which no other key takes.
SPECIAL = {
    "tls-name": ["scribe.test,192.168.1.20", "[scribe.test, 192.168.1.20]"],
    "trusted-proxies": ["127.0.0.1,10.0.0.0/8", "[127.0.0.1, 10.0.0.0/8]", "[]"],
    "cors-origins": ["https://a.example,https://b.example", "[https://a.example, https://b.example]", "'*'"],
    "allowed-hosts": ["a.example,*.b.example", "[a.example, '*.b.example']"],
    "client-profiles": ["my-app=ios,kiosk=web", "[my-app=ios, kiosk=web]"],
    "outbound-allow": ["receiver,10.0.0.0/8", "[receiver, 10.0.0.0/8]"],
    "listen-models": ["nova-3-ours,nova-2-ours", "[nova-3-ours, nova-2-ours]"],
    "stt-prompt": ["fever, cough", "[fever, cough]"],
    "transcriber": ["fake", "openai:http://127.0.0.1:9/v1"],
}


def values(key: str) -> tuple[list[str], list[str]]:
    """Values that a key takes, and values that it does not."""
    schema = SCHEMA["properties"][key]
    good, bad = VALUES[form(schema)]
    named = {"MINIMUM": [schema.get("minimum")], "MAXIMUM": [schema.get("maximum")], "CHOICES": schema.get("enum")}
    return [str(value) for name in good for value in named.get(name, [name])] + SPECIAL.get(key, []), bad


def files(index: int) -> list[dict[str, str]]:
    """Files with all keys: the first has the first value of each key, and so on.
    0: values that it takes; 1: the others."""
    lists = {key: values(key)[index] for key in SCHEMA["properties"]}
    return [
        {key: each[number] for key, each in lists.items() if number < len(each)}
        for number in range(max(map(len, lists.values())))
    ]


def refusals(tmp_path, settings: dict[str, str]) -> tuple[int, set[str]]:
    """The exit code of the check, and the keys of a file whose values it refuses for their form.

    What the check says of the settings together is not counted.
    """
    found = config("check", tmp_path, file="".join(f"{key}: {value}\n" for key, value in settings.items()))
    return found.returncode, set(re.findall(r"problem: ([a-z0-9-]+) in scribe\.yaml: '", found.stdout)) | set(
        re.findall(r"'([a-z0-9-]+)' must be", found.stdout))


@pytest.mark.parametrize("settings", files(0), ids=itertools.count())
def test_the_schema_and_the_check_take_a_valid_value_of_each_key(tmp_path, settings):
    assert {key for key, value in settings.items() if not fits(f"{key}: {value}")} == set()
    assert refusals(tmp_path, settings)[1] == set()


@pytest.mark.parametrize("settings", files(1), ids=itertools.count())
def test_the_schema_and_the_check_refuse_an_invalid_value_of_each_key(tmp_path, settings):
    assert {key for key, value in settings.items() if fits(f"{key}: {value}")} == set()
    assert refusals(tmp_path, settings) == (1, set(settings))


def test_the_schema_and_the_check_refuse_a_file_with_an_unknown_key(tmp_path):
    assert not fits("prot: 1")
    found = config("check", tmp_path, file="prot: 1\nlong-poll: soon\n", environment={"SCRIBE_PORT": "x"})
    assert found.returncode == 1
    assert [line.split(":")[0] for line in found.stdout.splitlines()] == ["problem"] * 3
    assert "'prot' is not a setting; did you mean 'port'?" in found.stdout
    assert "SCRIBE_PORT: 'x'" in found.stdout and "long-poll in scribe.yaml: 'soon'" in found.stdout


def test_the_check_finds_nothing_where_a_server_starts(tmp_path):
    found = config("check", tmp_path, "--ephemeral", environment={"SCRIBE_PROT": "1"})
    assert found.returncode == 0
    assert found.stdout.splitlines() == [
        "warning: SCRIBE_PROT is not a setting; did you mean SCRIBE_PORT?", "no problem was found"]
    assert list(tmp_path.iterdir()) == [], "nothing was opened"


def test_print_says_where_each_value_comes_from_and_shows_no_secret(tmp_path):
    found = config(
        "print", tmp_path, "--host", "localhost", file="port: 9000\ncors-origins: [https://a.example, https://b.example]\n",
        environment={
            "SCRIBE_LONG_POLL": "3s", "SCRIBE_ADMIN_TOKEN": "hidden-1", "SCRIBE_SIGNING_KEY": "hidden-2" * 8,
            "SCRIBE_TRANSCRIBER": "openai:http://user:hidden-3@127.0.0.1:9/v1",
        })
    assert found.returncode == 0, found.stderr
    lines = dict(
        line.split("  # ") for line in found.stdout.splitlines() if "  # " in line and not line.startswith("#"))
    assert lines['host: "localhost"'] == "--host"
    assert lines["port: 9000"] == "port in scribe.yaml"
    assert lines['long-poll: "3s"'] == "SCRIBE_LONG_POLL"
    assert lines["tls-port: 8443"] == "default"
    assert "# admin-token: ***  # SCRIBE_ADMIN_TOKEN" in found.stdout.splitlines()
    assert lines['cors-origins: "https://a.example,https://b.example"'] == "cors-origins in scribe.yaml"
    assert "# SCRIBE_SIGNING_KEY is set" in found.stdout
    assert "hidden" not in found.stdout + found.stderr
    # What is printed is a file of settings itself.
    assert fits(found.stdout)
    assert config("check", tmp_path, file=found.stdout.replace("localhost", "127.0.0.1")).returncode == 0


@pytest.mark.parametrize("transcriber", [
    "command:/usr/bin/stt --api-key hidden {wav}", "openai:https://user:p@hidden@stt.example/v1?key=hidden",
])
def test_print_shows_no_credential_of_a_recogniser(tmp_path, transcriber):
    for verb in ("print", "check"):
        found = config(verb, tmp_path, environment={"SCRIBE_TRANSCRIBER": transcriber})
        assert "hidden" not in found.stdout + found.stderr, found.stdout


def test_a_server_accepts_lists_in_the_configuration_file(tmp_path):
    (tmp_path / "scribe.yaml").write_text("webhook-pauses: [1s, 2s]\nallowed-hosts:\n- a.example\n- b.example\n")
    with running(tmp_path, "--ephemeral", "--config", "scribe.yaml") as server:
        hosts = {host: requests.get(f"{server.base_url}/voice/ping", headers={"Host": host}).status_code
                 for host in ("a.example", "b.example", "c.example")}
        assert hosts == {"a.example": 200, "b.example": 200, "c.example": 421}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_offer_flags_and_choices(shell):
    script = run("--generate-completion-script", shell).stdout
    for word in ("data-dir", "lenient", "subq", "schema"):
        assert word in script, word
