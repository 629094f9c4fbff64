"""Mistakes of people who use the command: each is answered in a sentence or two with what is wrong, where, and what helps."""

import dataclasses
import io
import re
import shlex
import sqlite3
import tarfile

import pytest
from http_recorder import Answer, HTTPRecorder
from messages import INTERNALS, asked

#: The beginning of most mistakes.
START = "serve --port 0 --ephemeral"
NOBODY = "http://127.0.0.1:1"
#: A client of a clients file, without the braces around it. No message may show a secret.
CLIENT = "client_id: c, client_secret: hidden-secret, business_id: b, user_id: u, doctor_id: d"
NAMELESS = CLIENT.replace("client_id: c", "client_id: ''")


class Folder:
    """A folder that stands where a file is expected."""

    def make(self, path):
        path.mkdir()


@dataclasses.dataclass
class Key:
    """A key that the mode lets others read, or does not."""

    mode: int
    text: str = "hidden-" * 5

    def make(self, path):
        path.write_text(self.text)
        path.chmod(self.mode)


class Database:
    """A database of SQLite that these statements have made."""

    def __init__(self, *statements):
        self.statements = statements

    def make(self, path):
        database = sqlite3.connect(path)
        for statement in self.statements:
            database.execute(statement)
        database.commit()
        database.close()


class Archive:
    """A tar archive with one file."""

    def __init__(self, name, content):
        self.name, self.content = name, content

    def make(self, path):
        if isinstance(self.content, Database):
            inner = path.with_name("inner")
            self.content.make(inner)
            content = inner.read_bytes()
            inner.unlink()
        else:
            content = self.content
        with tarfile.open(path, "w") as archive:
            member = tarfile.TarInfo(self.name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


DAMAGED = b"\x07" * 8192
FOREIGN = Database("CREATE TABLE transactions (x)")
#: The program's own mark, and a version that it has not made yet.
NEWER = Database("CREATE TABLE anything (x)", "PRAGMA application_id = 0x53435242", "PRAGMA user_version = 1000")

#: The database of a data folder's first state.
DATABASE = "data/states/1/scribe.sqlite"


def state(database) -> dict:
    """Files of a data folder whose valid state has this database."""
    return {"data/current": "1\n", DATABASE: database}


@dataclasses.dataclass
class Mistake:
    """A mistake and its answer.

    In `arguments` and `said`, `$here` is the folder that the command runs in, and `$other` the base URL of a server that is not
    a scribe-emulator.
    """

    name: str
    arguments: str
    #: The whole message, or what is to be found in it.
    said: str | re.Pattern
    #: 2: the command line or the settings are wrong. 1: what they lead to is.
    code: int = 2
    #: What is in the folder, by name: texts, bytes, or what makes itself.
    files: dict = dataclasses.field(default_factory=dict)
    environment: dict = dataclasses.field(default_factory=dict)
    stdin: str = ""


VERBS = [
    Mistake("unknown verb", "serv", "unknown command 'serv'; did you mean 'serve'? 'scribe-emulator --help' lists all"),
    Mistake("unknown verb of webhooks", "webhooks lst",
            "unknown command 'lst'; did you mean 'list'? 'scribe-emulator webhooks --help' lists all"),
    Mistake("unknown verb of config", "config chek",
            "unknown command 'chek'; did you mean 'check'? 'scribe-emulator config --help' lists all"),
    Mistake("help of an unknown verb", "help docter",
            "unknown command 'docter'; did you mean 'doctor'? 'scribe-emulator --help' lists all"),
    Mistake("option before the verb", "--admin-token=hidden serve",
            "'--admin-token' is an option of serve: scribe-emulator serve --admin-token …"),
    Mistake("unknown option of the command", "--verison", "Unknown option '--verison'"),
    Mistake("unknown option of serve", "serve --prot 1", "Unknown option '--prot'. Did you mean '--port'?"),
    Mistake("unknown option of env", "env --ulr x", "Unknown option '--ulr'. Did you mean '--url'?"),
    Mistake("backup of an address", f"backup file --url {NOBODY}", "Unknown option '--url'"),
    Mistake("option without its value", "env --url", "Missing value for '--url <url>'"),
    Mistake("value for a switch", "ready --wait=yes", "The option '--wait' does not take any value, but 'yes' was specified."),
    Mistake("backup without a file", "backup", "Missing expected argument '<file>'"),
    Mistake("test of no webhook", "webhooks test", "Missing expected argument '<webhook>'"),
]

#: Any verb reads the settings, `ready` much faster than `serve`, whose many options take their time.
VALUES = [
    Mistake("port out of range", "serve --port 70000", "--port: '70000' is not a number from 0 to 65535"),
    Mistake("negative port", "serve --port=-1", "--port: '-1' is not a number from 0 to 65535"),
    Mistake("unknown mode", f"{START} --auth maybe", "--auth: 'maybe' is not one of lenient, open, strict"),
    *(
        Mistake(name, "ready", f"{variable}: '{shown}' {said}", environment={variable: value})
        for name, variable, value, shown, said in (
            (name, f"SCRIBE_{setting}", value, value.replace("u:hidden@", "***@"), said)
            for name, setting, value, said in [
                ("port in words", "PORT", "x", "is not a number from 0 to 65535"),
                ("switch in words", "EPHEMERAL", "perhaps", "is neither true nor false"),
                ("unknown log level", "LOG_LEVEL", "verbose",
                 "is not one of trace, debug, info, notice, warning, error, critical"),
                ("unknown unit of time", "LONG_POLL", "14x", "is not a time up to 366d; write 14s, 500ms, 2m or 12h"),
                ("time that is too long", "ACCESS_TOKEN_LIFETIME", "500d",
                 "is not a time up to 366d; write 14s, 500ms, 2m or 12h"),
                ("time that is too short", "LISTEN_IDLE", "1ms", "is too short; write 100ms or more"),
                ("pauses with semicolons", "WEBHOOK_PAUSES", "1s;2s",
                 "is not a list of at most 20 times; write for example 10s,60s,5m"),
                ("size in words", "MEMORY_BUDGET", "lots", "is not a size; write 50GB, 500MB or a number of bytes"),
                ("public URL without a scheme", "PUBLIC_URL", "scribe.example",
                 "is not a base URL; write for example https://scribe.example"),
                ("public URL with a password", "PUBLIC_URL", "https://u:hidden@scribe.example",
                 "is not a base URL; write for example https://scribe.example"),
                ("range of a proxy", "TRUSTED_PROXIES", "10.0.0.0/33",
                 "contains '10.0.0.0/33'; write addresses, or ranges such as 10.0.0.0/8"),
                ("origin without a scheme", "CORS_ORIGINS", "app.example",
                 "is not a list of web origins; write for example https://app.example, or *"),
                ("host with a port", "ALLOWED_HOSTS", "a.example:80",
                 "is not a list of hosts; write for example scribe.example or *.scribe.example, without ports, or *"),
                ("profile without an id", "CLIENT_PROFILES", "ios", "has no profile; write ID=PROFILE, for example my-app=ios"),
                ("unknown profile", "CLIENT_PROFILES", "a=windows",
                 "has the unknown profile 'windows'; use one of generic, ios, android, legacy-ios, web, dotnet, python"),
                ("URL as an outside host", "OUTBOUND_ALLOW", "http://x",
                 "contains 'http://x'; write hosts, or ranges such as 10.0.0.0/8"),
                ("URL of Firebase's keys", "FIREBASE_JWKS_URL", "ftp://x", "is not an http or https URL"),
                ("service without a scheme", "TRANSCRIBER", "openai:localhost:8000",
                 "has no http or https URL; write for example openai:https://stt.example/v1"),
                ("service without a host", "TRANSCRIBER", "deepgram:http://u:hidden@",
                 "has no http or https URL; write for example deepgram:https://stt.example/v1"),
                ("key of the service that is not there", "STT_KEY_FILE", "nowhere",
                 "cannot be read; check that the file exists and that you may read it"),
            ]
        )
    ),
    Mistake("Firebase's keys without a project", f"{START} --firebase-jwks-url http://localhost/jwks",
            "Firebase's tokens cannot be verified: firebase-project goes together with firebase-jwks-url or firebase-jwks-file", 1),
    Mistake("file that is no JWK set", f"{START} --firebase-project p --firebase-jwks-file keys",
            "Firebase's tokens cannot be verified: firebase-jwks-file: the keys are no JWK set that can be used", 1,
            files={"keys": "hidden"}),
    Mistake("unknown client of Firebase", f"{START} --firebase-client nobody",
            "Firebase's tokens cannot be verified: firebase-client: there is no client 'nobody' that may log in", 1),
]

TRANSCRIBERS = [
    Mistake("unknown transcriber", f"{START} --transcriber whisper",
            "--transcriber: 'whisper' is not a transcriber; use fake, openai:URL, deepgram:URL or command:PROGRAM ARGUMENTS"),
    Mistake("mistyped kind before a program", f"{START} --transcriber 'comand:/x --key hidden {{wav}}'",
            "--transcriber: 'comand:/x *** *** {wav}' is not a transcriber; use fake, openai:URL, deepgram:URL or command:PROGRAM ARGUMENTS"),
    Mistake("program that is not there, checked", "config check --transcriber 'command:/nowhere/stt --key hidden {wav}'",
            "transcriber cannot be used: there is no program '/nowhere/stt' that can be run; install it, or name its whole path", 1),
    Mistake("program without a recording, checked", "config check --fallback-transcriber command:true",
            "fallback-transcriber cannot be used: the command names neither {wav} nor {file}, so its program would get no recording", 1),
    Mistake("program that is not there", f"{START} --transcriber 'command:/nowhere/stt --key hidden {{wav}}'",
            "transcriber cannot be used: there is no program '/nowhere/stt' that can be run; install it, or name its whole path", 1),
    Mistake("fallback that is not there", f"{START} --fallback-transcriber 'command:nowhere {{wav}}'",
            "fallback-transcriber cannot be used: there is no program 'nowhere' that can be run; install it, or name its whole path",
            1),
    Mistake("open quote", f'{START} --transcriber "command:\'open"',
            "transcriber cannot be used: a quote in the command is not closed", 1),
    Mistake("program without a recording", f"{START} --transcriber command:true",
            "transcriber cannot be used: the command names neither {wav} nor {file}, so its program would get no recording", 1),
    Mistake("no program", f"{START} --transcriber command:", "transcriber cannot be used: the command names no program", 1),
    Mistake("unknown placeholder", f"{START} --transcriber 'command:cat {{wave}}'",
            "transcriber cannot be used: {wave} is no placeholder; there are {file}, {wav} and {language}", 1),
]

CONTRADICTIONS = [
    Mistake("ephemeral with a data folder", "serve --port 0 --ephemeral --data-dir d",
            "--ephemeral and --data-dir cannot be used together; leave one out"),
    Mistake("ephemeral with a data folder, checked", "config check --ephemeral",
            "--ephemeral and SCRIBE_DATA_DIR cannot be used together; leave one out", 1, environment={"SCRIBE_DATA_DIR": "d"}),
    Mistake("two keys for Firebase",
            f"{START} --firebase-project p --firebase-jwks-file keys --firebase-jwks-url http://localhost/jwks",
            "Firebase's tokens cannot be verified: firebase-jwks-file and firebase-jwks-url exclude each other", 1,
            files={"keys": "{}"}),
    Mistake("certificate without its key", "ready", "SCRIBE_TLS_CERTIFICATE: set both tls-certificate and tls-key, or neither",
            environment={"SCRIBE_TLS_CERTIFICATE": "c.pem"}),
    Mistake("key without its certificate, checked", "config check --tls-key key.pem",
            "--tls-key: set both tls-certificate and tls-key, or neither", 1),
    Mistake("lenient on the network", f"{START} --host 0.0.0.0",
            "lenient authentication gives access to every client that can reach 0.0.0.0.\n"
            "Use --auth strict, listen on 127.0.0.1, or confirm with --allow-unverified-tokens-from-network.", 1),
    Mistake("lenient on the network, checked", "config check --host 0.0.0.0",
            "lenient authentication gives access to every client that can reach 0.0.0.0.\n"
            "Use --auth strict, listen on 127.0.0.1, or confirm with --allow-unverified-tokens-from-network.", 1),
    Mistake("one port for both", "serve --ephemeral --tls --port 18123 --tls-port 18123",
            "--port and --tls-port are both 18123; choose another for one of them", 1),
    Mistake("base URL without an SDK", "doctor --base-url",
            "--base-url goes with --sdk and one of dotnet, deepgram"),
    Mistake("base URL for an SDK that takes none", "doctor --base-url --sdk ios",
            "--base-url goes with --sdk and one of dotnet, deepgram; ios has its hosts compiled in"),
    Mistake("hosts written and removed", "hosts --write --remove",
            "--write and --remove cannot be used together; leave one out"),
    Mistake("hosts of another machine written here", "hosts --for mac --write",
            "--for prints a script for another machine; leave out --write and --remove"),
    Mistake("PEM and steps", "trust --pem --for mac", "--pem and --for cannot be used together; leave one out"),
    Mistake("one delivery of a webhook", "webhooks replay 1 --webhook 2",
            "a delivery and --webhook cannot be used together; leave one out"),
]

ADDRESSES = [
    Mistake("address of another machine", f"{START} --auth strict --host 192.0.2.1",
            "192.0.2.1 is not an address of this machine; choose one with --host, such as 127.0.0.1 or 0.0.0.0", 1),
    Mistake("unknown host", f"{START} --auth strict --host no.such.invalid",
            "the address 'no.such.invalid' is not known; choose one of this machine with --host, such as 127.0.0.1 or 0.0.0.0", 1),
    Mistake("ready file in no folder", f"{START} --ready-file nowhere/ready.json",
            "--ready-file: the folder $here/nowhere does not exist or is not writable; create it, or name another one"),
    Mistake("folder as the ready file", f"{START} --ready-file folder", "--ready-file: folder is a folder; name a file",
            files={"folder/kept": "kept"}),
]

SETTINGS_FILES = [
    Mistake("settings that are not there", "env --config nowhere.yaml",
            "nowhere.yaml cannot be read; name another file with --config or SCRIBE_CONFIG"),
    Mistake("settings that are not there, checked", "config check",
            "nowhere.yaml cannot be read; name another file with --config or SCRIBE_CONFIG", 1,
            environment={"SCRIBE_CONFIG": "nowhere.yaml"}),
    Mistake("unknown setting", f"{START} --config s.yaml",
            "s.yaml: 'transcribr' is not a setting; did you mean 'transcriber'?", files={"s.yaml": "transcribr: fake\n"}),
    Mistake("setting with an underscore", "ready --config s.yaml",
            "s.yaml: 'admin_token' is not a setting; did you mean 'admin-token'?", files={"s.yaml": "admin_token: hidden\n"}),
    Mistake("setting of a wrong type", "ready --config s.yaml", "s.yaml: 'port' must be a single value",
            files={"s.yaml": "port: [1]\n"}),
    Mistake("switch in the settings", "ready --config s.yaml", "tls in s.yaml: 'maybe' is neither true nor false",
            files={"s.yaml": "tls: maybe\n"}),
    Mistake("settings as a list", "ready --config s.yaml", "s.yaml must hold keys and values, such as port: 8087",
            files={"s.yaml": "- port\n- 8087\n"}),
    Mistake("key that is a list", "ready --config s.yaml", "s.yaml: each key must be the name of a setting",
            files={"s.yaml": "[port]: 8087\n"}),
    Mistake("setting twice", "ready --config s.yaml", "s.yaml is not YAML: the key 'port' is there twice",
            files={"s.yaml": "port: 1\nadmin-token: hidden\nport: 2\n"}),
    Mistake("open brace", "ready --config s.yaml", re.compile(r"s\.yaml is not YAML: line 2, column 1: did not find .*'}'$"),
            files={"s.yaml": "{admin-token: hidden\n"}),
    Mistake("colon too many", "ready --config s.yaml",
            re.compile(r"s\.yaml is not YAML: line 1, column 20: mapping values are not allowed"),
            files={"s.yaml": "admin-token: hidden: 1\n"}),
    Mistake("binary as the settings", "ready --config s.yaml", "s.yaml is not YAML: control characters are not allowed",
            files={"s.yaml": b"hidden\x00\x01"}),
]

CLIENTS_FILES = [
    Mistake("clients that are not there", f"{START} --clients nowhere.yaml", "nowhere.yaml: cannot be read", 1),
    Mistake("clients that are not there, checked", "config check --clients nowhere.yaml", "nowhere.yaml: cannot be read", 1),
    *(
        Mistake(name, f"{START} --clients c.yaml", said if isinstance(said, re.Pattern) else f"c.yaml: {said}", 1,
                files={"c.yaml": content})
        for name, content, said in [
            ("empty clients file", "", "the file must hold keys and values"),
            ("client as a text", "clients: [nobody]", "clients, entry 1 must hold keys and values"),
            ("key of the clients file", "client: []", "the file: 'client' is not known; did you mean 'clients'?"),
            ("key of a client", f"clients: [{{{CLIENT}, transaktion_limit: 1}}]",
             "clients, entry 1: 'transaktion_limit' is not known; did you mean 'transaction_limit'?"),
            ("client without a business", "clients: [{client_id: c, client_secret: hidden}]",
             "clients, entry 1: 'business_id' is missing"),
            ("client without an id", f"clients: [{{{CLIENT}}}, {{{NAMELESS}}}]",
             "clients, entry 2: client_id, client_secret and business_id must not be empty"),
            ("client twice", f"clients: [{{{CLIENT}}}, {{{CLIENT}}}]", "the file: the client_id 'c' is there twice"),
            ("limit in words", f"clients: [{{{CLIENT}, transaction_limit: many}}]",
             "clients, entry 1, transaction_limit must be a whole number"),
            ("negative limit", f"clients: [{{{CLIENT}, transaction_limit: -1}}]",
             "clients, entry 1: a transaction_limit cannot be negative"),
            ("short API key", f"clients: [{{{CLIENT}, api_keys: [hidden]}}]",
             "clients, entry 1: an api_key has eight characters at least, and no space"),
            ("API key that is no list", f"clients: [{{{CLIENT}, api_keys: hidden-key}}]",
             "clients, entry 1, api_keys must be a list"),
            ("clients file with an open brace", f"clients: [{{{CLIENT}",
             re.compile(r"^c\.yaml: it is not YAML: line \d+, column \d+: ")),
            ("partner of an unknown client", f"clients: [{{{CLIENT}}}]\npartners: [{{partner_id: p, client_id: z}}]",
             "the partner 'p' has a client_id that no client has"),
            ("webhook without http", f"clients: [{{{CLIENT}}}]\n"
             "partners: [{partner_id: p, client_id: c, webhook: {url: x, secret: hidden}}]",
             "partners, entry 1: a webhook's url is http or https, or 'inbox'"),
            ("JWK set of a partner that is not there", f"clients: [{{{CLIENT}}}]\n"
             "partners: [{partner_id: p, client_id: c, jwks_file: nowhere}]",
             "partners, entry 1: the jwks_file nowhere cannot be read"),
        ]
    ),
]

FIXTURES_FILES = [
    Mistake("fixtures that are not there, checked", "config check --fixtures nowhere.yaml", "nowhere.yaml: cannot be read", 1),
    *(
        Mistake(name, f"{START} --fixtures f.yaml", said if isinstance(said, re.Pattern) else f"f.yaml: {said}", 1,
                files={"f.yaml": content})
        for name, content, said in [
            ("key of a fixture", "fixtures: [{name: x, pasages: [y]}]",
             "fixtures, entry 1: 'pasages' is not known; did you mean 'passages'?"),
            ("fixture without a name", "fixtures: [{name: x}, {text: y}]",
             "fixtures, entry 2: a fixture needs a name or a sha256"),
            ("fixture twice", "fixtures: [{name: x}, {name: x}]", "the file: two fixtures have the name 'x'; rename one"),
            ("fixture with its prefix", "fixtures: [{name: 'fixture:x'}]",
             "fixtures, entry 1: write a name without 'fixture:'; clients add that prefix to select the fixture"),
            ("short sha256", "fixtures: [{sha256: 9f86d081…}]", "fixtures, entry 1: a sha256 has 64 hex digits"),
            ("endless delay", "fixtures: [{name: x, delay: .inf}]", "fixtures, entry 1: a delay is 0 to 86400 seconds"),
            ("negative delay", "fixtures: [{name: x, delay: -1}]", "fixtures, entry 1: a delay is 0 to 86400 seconds"),
            ("delay in words", "fixtures: [{name: x, delay: long}]", "fixtures, entry 1, delay must be a number"),
            ("passages as a text", "fixtures: [{name: x, passages: y}]", "fixtures, entry 1, passages must be a list"),
            ("unknown failure", "fixtures: [{name: x, failure: foo}]",
             re.compile("^f.yaml: fixtures, entry 1: 'foo' is not known; there are no_audio, ")),
            ("unknown request", "fixtures: [{name: x, refuses: [poll]}]",
             re.compile("^f.yaml: fixtures, entry 1: 'poll' is not known; there are init, upload, ")),
        ]
    ),
]

KEYS = [
    Mistake("short signing key", f"{START} --signing-key-file key",
            "the signing key must be at least 32 bytes; SCRIBE_SIGNING_KEY or --signing-key-file gives a shorter one. "
            "openssl rand -hex 32 prints a good one", 1, files={"key": Key(0o600, "hidden")}),
    Mistake("short signing key, checked", "config check",
            "the signing key must be at least 32 bytes; SCRIBE_SIGNING_KEY or --signing-key-file gives a shorter one. "
            "openssl rand -hex 32 prints a good one", 1, environment={"SCRIBE_SIGNING_KEY": "hidden"}),
    *(
        Mistake(f"{key} that others can read", "serve --port 0 --data-dir data",
                f"$here/data/{key} is a key, and other users can read it. Run chmod 600 '$here/data/{key}', then start again", 1,
                files={f"data/{key}": Key(mode)})
        for key, mode in [("signing-key", 0o644), ("admin-token", 0o604), ("suki-signing-key.pem", 0o644)]
    ),
    Mistake("certificate that is not there", f"{START} --tls-certificate c.pem --tls-key k.pem",
            "TLS: c.pem: there is no such file", 1),
    Mistake("file without a certificate", f"{START} --tls-certificate c.pem --tls-key k.pem",
            "TLS: c.pem holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)", 1,
            files={"c.pem": "nonsense", "k.pem": "hidden"}),
    *(
        Mistake(name, "ready", "SCRIBE_OUTBOUND_CA: 'ca.pem' contains no PEM certificate (-----BEGIN CERTIFICATE-----)",
                files={"ca.pem": content},
                environment={"SCRIBE_OUTBOUND_CA": "ca.pem"})
        for name, content in [("empty file of authorities", ""), ("file without authorities", "no certificate")]
    ),
    Mistake("folder of the authority that cannot be made", "trust --tls-dir /proc/nothing/tls",
            "/proc/nothing/tls: the folder cannot be made; name another with --tls-dir", 1),
    Mistake("file as the folder of the authority", "trust --tls-dir file",
            "$here/file is a file, and a folder is expected; name another with --tls-dir", 1, files={"file": ""}),
]

DATA_FOLDERS = [
    Mistake("file as the data folder", "serve --port 0 --data-dir file",
            "$here/file cannot be used as the data folder: it is a file. Move it, or choose another folder with --data-dir", 1,
            files={"file": ""}),
    Mistake("data folder in a file", "serve --port 0 --data-dir file/data",
            "$here/file/data cannot be used: a part of its path is a file. Mend that, or choose another folder with --data-dir", 1,
            files={"file": ""}),
    Mistake("data folder that cannot be made", "serve --port 0 --data-dir /proc/nothing",
            "/proc/nothing cannot be used: it cannot be created there. Mend that, or choose another folder with --data-dir", 1),
    Mistake("damaged database", "serve --port 0 --data-dir data",
            f"$here/{DATABASE} is damaged. Restore a backup into a new folder with scribe-emulator restore --data-dir "
            "NEW-FOLDER FILE, or start with another --data-dir", 1, files=state(DAMAGED)),
    Mistake("database of a later version", "serve --port 0 --data-dir data",
            f"$here/{DATABASE} was written by a later version of scribe-emulator. Start that version, or choose "
            "another folder with --data-dir", 1, files=state(NEWER)),
    Mistake("database of another program", "serve --port 0 --data-dir data",
            f"$here/{DATABASE} is the database of another program; choose another folder with --data-dir", 1,
            files=state(FOREIGN)),
    *(
        Mistake(name, "serve --port 0 --data-dir data",
                f"$here/data/current {said}. Restore a backup into a new folder with scribe-emulator restore --data-dir "
                "NEW-FOLDER FILE, or choose another folder with --data-dir", 1, files=files)
        for name, said, files in [
            ("state that is not there", "leads to $here/data/states/2/scribe.sqlite, which is missing", {"data/current": "2\n"}),
            ("no state named", "is empty", {"data/current": "\n"}),
            ("path as a state", "does not name a state", {"data/current": "../other\n"}),
        ]
    ),
]

BACKUPS = [
    Mistake("backup of nothing", "backup file --data-dir nothing", "there is no scribe-emulator data in nothing", 1),
    Mistake("backup of a damaged database", "backup file --data-dir data",
            f"{DATABASE} is damaged. Restore a backup into a new folder with scribe-emulator restore --data-dir "
            "NEW-FOLDER FILE, or start with another --data-dir", 1, files=state(DAMAGED)),
    Mistake("backup of another program's database", "backup file --data-dir data",
            f"{DATABASE} is the database of another program; choose another folder with --data-dir", 1,
            files={**state(FOREIGN), "data/states/1/objects": Folder()}),
    Mistake("backup without the objects", "backup file --data-dir data",
            "$here/data/states/1/objects cannot be read; it belongs to the database beside it, so put it back first", 1,
            files=state(Database("CREATE TABLE objects (file)", "CREATE TABLE multipart_parts (file)"))),
    Mistake("backup of a state that is not there", "backup file --data-dir data",
            re.compile("^data/current leads to data/states/2/scribe.sqlite, which is missing. Restore a backup "), 1,
            files={"data/current": "2\n"}),
    Mistake("backup with settings that are not there", "backup file --config nowhere.yaml",
            "nowhere.yaml cannot be read; name another file with --config or SCRIBE_CONFIG"),
    Mistake("restore of nothing", "restore nowhere --data-dir new", "nowhere does not exist", 1),
    Mistake("restore of junk", "restore junk --data-dir new", "junk is no backup of scribe-emulator", 1, files={"junk": "junk"}),
    Mistake("restore of a damaged backup", "restore bad.tar --data-dir new",
            "the backup is damaged: bad.tar holds no database of scribe-emulator that can be read", 1,
            files={"bad.tar": Archive("scribe.sqlite", DAMAGED)}),
    Mistake("restore of a later backup", "restore later.tar --data-dir new",
            "later.tar was written by a later version of scribe-emulator; restore it with that version", 1,
            files={"later.tar": Archive("scribe.sqlite", NEWER)}),
    Mistake("restore over data", "restore junk --data-dir data", "$here/data holds data already; restore into a new folder", 1,
            files={"junk": "junk", **state(FOREIGN)}),
]

SERVERS = [
    Mistake("URL without a scheme", "ready --url localhost:8087",
            "--url: 'localhost:8087' is not a base URL; write for example http://127.0.0.1:8087"),
    Mistake("URL of another scheme", "env --url ftp://127.0.0.1",
            "--url: 'ftp://127.0.0.1' is not a base URL; write for example http://127.0.0.1:8087"),
    Mistake("URL with a password", "doctor --url http://u:hidden@127.0.0.1:1",
            "--url: 'http://***@127.0.0.1:1' is not a base URL; write for example http://127.0.0.1:8087"),
    Mistake("URL in the environment", "webhooks list",
            "SCRIBE_BASE_URL: 'nowhere' is not a base URL; write for example http://127.0.0.1:8087",
            environment={"SCRIBE_BASE_URL": "nowhere"}),
    Mistake("no server is ready", f"ready --url {NOBODY}",
            f"not ready: no server is ready at {NOBODY}; run scribe-emulator doctor --url {NOBODY} to find out why", 1),
    Mistake("another server is ready", "ready --url $other",
            "not ready: no server is ready at $other; run scribe-emulator doctor --url $other to find out why", 1),
    Mistake("ready file that is not there", "ready --wait --timeout 0.2s --ready-file ready.json",
            "not ready: the ready file ready.json does not exist; run scribe-emulator ready --wait to wait for it", 1),
    Mistake("time limit in words", "ready --timeout soon", "--timeout: 'soon' is not a time; write for example 30s"),
    Mistake("env before the server", "env --ready-file ready.json",
            "the server is not ready yet: the ready file ready.json does not exist; run scribe-emulator ready --wait to wait for it"),
    Mistake("file that is no ready file", "env --ready-file junk",
            "the server is not ready yet: junk is not a ready file; name the file that serve --ready-file writes",
            files={"junk": "junk"}),
    Mistake("env of strict settings", f"env --url {NOBODY} --config s.yaml",
            "these settings turn the demo client off; start the server with --demo-seed to turn it on",
            files={"s.yaml": "auth: strict\n"}),
    Mistake("unknown format of env", "env --format yaml",
            "The value 'yaml' is invalid for '--format <format>'. Please provide one of 'text', 'dotenv' or 'json'."),
    Mistake("webhooks of no server", f"webhooks list --url {NOBODY}",
            f"no server answers at {NOBODY}; start one, or name another one with --url", 3),
    Mistake("webhooks of another server", "webhooks list --url $other",
            "the server at $other is not a scribe-emulator; name another one with --url", 1),
    Mistake("unknown state", "webhooks list --state lost", "--state: 'lost' is not one of pending, sending, delivered, failed"),
    Mistake("webhook that is no number", "webhooks test first", "The value 'first' is invalid for '<webhook>'"),
    Mistake("doctor without a server", f"doctor --url {NOBODY}",
            f"PROBLEM  no server answers at {NOBODY}\n"
            "         -> run scribe-emulator serve --tls; if it runs elsewhere, add --url http://HOST:PORT", 1),
    Mistake("doctor of another server", "doctor --url $other",
            re.compile(r"^PROBLEM  another server answers at http://.*\n         -> start scribe-emulator on another port with --port, "), 1),
    Mistake("port of an SDK", "doctor --port 99999", "--port: '99999' is not a number from 1 to 65535"),
    Mistake("unknown SDK", "doctor --sdk iso", "The value 'iso' is invalid for '--sdk <sdk>'. Please provide one of the following:"),
]

OTHERS = [
    Mistake("unknown template", "note --template nobody",
            re.compile("^--template: 'nobody' is not one of clinical_notes_template, ")),
    Mistake("unknown section", "note --section Horoscope",
            re.compile("^--section: 'Horoscope' is not one of Chief Complaints, ")),
    Mistake("section in the environment", "note", re.compile("^SECTION: 'Horoscope' is not one of Chief Complaints, "),
            environment={"SECTION": "Horoscope"}),
    Mistake("format of a note", "note --format pdf", "--format: 'pdf' is not one of markdown, json, eka_emr, transcript"),
    Mistake("file of a transcript", "note visit.txt", "Unexpected argument 'visit.txt'", files={"visit.txt": "hidden"}),
    Mistake("transcript that is too long", "note", "standard input is too long; a transcript may have at most 524288 bytes",
            stdin="hidden " * 80_000),
    Mistake("client that trusts nothing", "trust --for amiga",
            "The value 'amiga' is invalid for '--for <for>'. Please provide one of the following:"),
    Mistake("names of the certificate", "trust --tls-name 'a b'",
            "--tls-name: 'a b' contains 'a b'; write hosts such as scribe.test, or addresses"),
    Mistake("hosts that lead to a name", "hosts --address localhost",
            "--address: 'localhost' is not an IP address; write for example 127.0.0.1"),
    Mistake("hosts file that is not there", "hosts --write --file nowhere",
            "nowhere cannot be read; name the hosts file with --file", 1),
    Mistake("hosts file that is cut", "hosts --remove --file hosts",
            "hosts has only one of the two lines '# scribe-emulator: begin' and '# scribe-emulator: end'; remove our lines by hand",
            1,
            files={"hosts": "127.0.0.1 localhost\n# scribe-emulator: end\n"}),
    Mistake("hosts with settings that are not there", "hosts --write --file hosts --config nowhere.yaml",
            "nowhere.yaml cannot be read; name another file with --config or SCRIBE_CONFIG", files={"hosts": "127.0.0.1 localhost\n"}),
]

MISTAKES = [
    *VERBS, *VALUES, *TRANSCRIBERS, *CONTRADICTIONS, *ADDRESSES, *SETTINGS_FILES, *CLIENTS_FILES, *FIXTURES_FILES, *KEYS,
    *DATA_FOLDERS, *BACKUPS, *SERVERS, *OTHERS,
]

#: What the parser of the command line puts under a sentence: the choices, the option's line of the help, and where more is.
FRAME = ("  - ", "Help:  ", "Usage: ", "  See '")


@pytest.fixture(scope="module")
def other():
    """A server that answers whatever it is asked, and is none of ours."""
    with HTTPRecorder(lambda request: Answer(200, b"hello")) as other:
        yield other


def prepare(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        match content:
            case str():
                path.write_text(content)
            case bytes():
                path.write_bytes(content)
            case _:
                content.make(path)


def contents(folder):
    """What is in the files; but for databases, in which SQLite notes that they were opened."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".sqlite"}


def message(result) -> str:
    """The sentences that answer a mistake: of what was found on standard output, of everything else on standard error."""
    if result.stdout:
        assert result.stderr == "", result.stderr
        return result.stdout.rstrip("\n").removeprefix("problem: ")
    lines = result.stderr.rstrip("\n").splitlines()
    assert lines and lines[0].startswith(("Error: ", "scribe-emulator: ")), result.stderr
    text = "\n".join(line for line in lines if not line.startswith(FRAME))
    return text.removeprefix("Error: ").removeprefix("scribe-emulator: ")


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_the_error_for_a_mistake_says_what_where_and_which_command_helps(tmp_path, other, mistake):
    def filled(text):
        return text.replace("$here", str(tmp_path)).replace("$other", other.url)

    prepare(tmp_path, mistake.files)
    before = contents(tmp_path)
    result = asked(
        tmp_path, shlex.split(filled(mistake.arguments)), environment=mistake.environment, stdin=mistake.stdin)
    shown = result.stdout + result.stderr
    assert result.returncode == mistake.code, shown
    said = message(result)
    if isinstance(mistake.said, str):
        assert said == filled(mistake.said)
    else:
        assert mistake.said.search(said), said
    assert not INTERNALS.search(shown), shown
    assert said.count("\n") < 3, said
    assert "hidden" not in shown, shown
    after = contents(tmp_path)
    assert {path: after.get(path) for path in before} == before, "a mistake changes no file"


@pytest.mark.parametrize("arguments, verb", [
    ("serve --port x", "serve"), ("ready --timeout soon", "ready"), ("trust --tls-name 'a b'", "trust"),
    ("webhooks list --config nowhere.yaml", "webhooks list"), ("serve --prot 1", "serve"), ("hosts --address x", "hosts"),
])
def test_an_error_names_the_help_of_its_own_verb(tmp_path, arguments, verb):
    result = asked(tmp_path, shlex.split(arguments))
    assert f"  See 'scribe-emulator {verb} --help' for more information." in result.stderr.splitlines(), result.stderr


def test_each_mistake_is_in_the_list_once():
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES)
    assert len({(mistake.arguments, *map(str, [mistake.files, mistake.environment])) for mistake in MISTAKES}) == len(MISTAKES)
