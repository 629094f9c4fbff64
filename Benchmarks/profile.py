"""Divides a poll, an upload, a start and an idle server's memory among their parts: profile.py BINARY WORK_FOLDER

callgrind counts the instructions, so that they repeat. What the language's runtime, its library and the system's are
called for counts for the layer that calls them; a second table has those callees themselves. Memory is what the kernel
says of the process's mappings (smaps)."""

import collections
import pathlib
import re
import shutil
import subprocess
import sys
import time

from bench import names, recording
from instructions import Counted
from messages import Client, Uploads, write_scenarios
from servers import Scribe

CLIENTS = 8
#: Operations of the two runs; their difference is what one operation costs.
POLLS, PUTS = (100, 1100), (40, 240)

#: Layers by the modules of Swift's mangled names.
LAYERS = {
    "sockets and HTTP (NIO)": "NIO CNIO HummingbirdCore HTTPTypes CAsync DequeModule Atomics",
    "Hummingbird": "Hummingbird",
    "Connections": "Connections",
    "Journal": "Journal",
    "ScribeHTTP": "ScribeHTTP",
    "families": "Alliance Console Control Eka Listen Omi S3 Status Suki",
    "ScribeRuntime": "ScribeRuntime",
    "ScribeStore": "ScribeStore",
    "GRDB": "GRDB",
    "ObjectStorage": "ObjectStorage DataFolder",
    "domain and engines": "ScribeDomain Engines Documents",
    "Basics": "Basics",
    "logging": "Logging",
    "composition and command": "ScribeServer scribe_emulator Yams CYaml Outbound AsyncHTTPClient",
    "command line": "ArgumentParser ArgumentParserToolInfo",
    "services": "ServiceLifecycle UnixSignals AsyncAlgorithms",
    "signatures and digests": "Crypto CCrypto JWTKit X509 SwiftASN1 _CryptoExtras",
}
BEGINNINGS = {"NIO", "CNIO", "CCrypto"}
#: Callees that count for their callers, by what they do.
CALLEES = {
    "reference counts": r"swift_\w*(?:[rR]etain|[rR]eleas|beginAccess|endAccess|isUniq)|RefCount",
    "memory": r"malloc|free$|calloc|realloc|memcpy|memset|memmove|_int_|swift_(?:alloc|dealloc|slow)"
    r"|operator (?:new|delete)",
    "protocols and metadata": r"swift_(?:conforms|dynamicCast|get\w*(?:Metadata|TypeByMangled|Witness|Conformance))"
    r"|swift_(?:checkMetadata|project)|[cC]onformance|[dD]emangl|[mM]etadata|tryCast",
    "tasks": r"swift_(?:task|async|continuation|job)|swift::(?:AsyncTask|Task)|futex|pthread_(?:mutex|cond)",
}


class Profile:
    """The functions of a run: what each costs itself, and what its calls cost."""

    def __init__(self, path: pathlib.Path):
        self.own = collections.Counter()
        self.calls = collections.defaultdict(collections.Counter)
        self.objects = {}
        known, objects = {}, {}
        function = object_ = called = called_object = None
        is_call = False

        def named(table: dict, text: str) -> str:
            number, _, name = text.partition(" ")
            if name:
                table[number] = name
            return table[number]

        with path.open(errors="replace") as lines:
            for line in lines:
                line = line.rstrip("\n")
                kind, equals, text = line.partition("=")
                if equals and kind in ("fl", "fi", "fe", "cfi", "cfl"):
                    continue
                if equals and kind == "ob":
                    object_ = named(objects, text)
                elif equals and kind == "cob":
                    called_object = named(objects, text)
                elif equals and kind == "fn":
                    function = named(known, text)
                    self.objects.setdefault(function, object_)
                elif equals and kind == "cfn":
                    called = named(known, text)
                    self.objects.setdefault(called, called_object or object_)
                elif equals and kind == "calls":
                    is_call = True
                elif line[:1].isdigit() or line[:1] in "+-*":
                    cost = int(line.split()[1]) if " " in line else 0
                    if function is None:
                        continue
                    if is_call:
                        self.calls[function][called] += cost
                        is_call, called_object = False, None
                    else:
                        self.own[function] += cost

    def layer(self, function: str) -> str | None:
        """nil for a callee that counts for its callers."""
        if "sqlite" in (self.objects.get(function) or ""):
            return "SQLite"
        name = re.sub(r"^__?T|^\$[sS]", "$s", function)
        if found := re.match(r"\$s(\d+)", name):
            start = found.end()
            module = name[start : start + int(found[1])]
        else:
            module = function
        for layer, modules in LAYERS.items():
            if any(module == one or one in BEGINNINGS and module.startswith(one) for one in modules.split()):
                return layer
        return "signatures and digests" if "BoringSSL" in function else None

    def by_layer(self) -> collections.Counter:
        """Moves what a callee costs to its callers, until a layer has it."""
        layers = {}
        callers = collections.defaultdict(collections.Counter)
        for caller, called in self.calls.items():
            for callee, cost in called.items():
                if callee != caller:
                    callers[callee][caller] += cost
        mass = dict(self.own)
        result = collections.Counter()
        for _ in range(40):
            moved = collections.Counter()
            for function, cost in mass.items():
                layer = layers.setdefault(function, self.layer(function))
                total = callers[function].total()
                if layer or not total:
                    result[layer or "the process itself"] += cost
                    continue
                for caller, part in callers[function].items():
                    moved[caller] += cost * part / total
            mass = moved
            if sum(mass.values()) < 1000:
                break
        result["the process itself"] += sum(mass.values())
        return result

    def by_callee(self) -> collections.Counter:
        result = collections.Counter()
        for function, cost in self.own.items():
            for name, pattern in CALLEES.items():
                if not self.layer(function) and re.search(pattern, function):
                    result[name] += cost
                    break
        return result


def run(binary: str, work: pathlib.Path, scenarios=None, body: bytes = b"") -> Profile:
    """The server's whole life in a new data folder, with scenarios that are made for a client."""
    shutil.rmtree(work / "counted", ignore_errors=True)
    with Counted(work / "counted", binary) as server:
        for part in scenarios(Client(server.url)) if scenarios else []:
            write_scenarios(work / "requests", part)
            (work / "body").write_bytes(body)
            subprocess.run(
                [work / "replay", str(server.port), str(CLIENTS), "600", work / "requests", work / "body"],
                check=True,
                stdout=subprocess.DEVNULL,
            )
    return Profile(server.counts)


def polls(count: int):
    chunk = recording(50_000)

    def scenarios(client: Client):
        uploads = Uploads(client.url, client.keys, len(chunk))
        visits = names(8)
        yield (client.consultation(name, uploads, 1.56, 5) for name in visits)
        asked = [client.status(name) for name in visits]
        yield ([asked[index % 8]] for index in range(count))

    return scenarios, chunk


def puts(count: int):
    chunk = recording(50_000)

    def scenarios(client: Client):
        uploads = Uploads(client.url, client.keys, len(chunk))
        yield ([uploads.put(f"bench/{name}.wav")] for name in names(count))

    return scenarios, chunk


def memory(binary: str, work: pathlib.Path) -> collections.Counter:
    """Resident KB of a server that has answered once and waits, by what its pages hold."""
    parts = collections.Counter()
    with Scribe(work / "idle", binary) as server:
        time.sleep(2)
        name = ""
        for line in pathlib.Path(f"/proc/{server.process.pid}/smaps").read_text().splitlines():
            if mapping := re.match(r"[0-9a-f]+-[0-9a-f]+ (\S+) \S+ \S+ \d+ *(.*)", line):
                name = kind(*mapping.groups(), pathlib.Path(binary).name)
            elif line.startswith("Size:"):
                size = int(line.split()[1])
            elif line.startswith("Rss:"):
                # glibc maps a thread's stack of 8 MB beside a page that guards it.
                is_stack = not name and size in range(8_180, 8_197)
                parts[name or ("stacks of threads" if is_stack else "other memory")] += int(line.split()[1])
    shutil.rmtree(work / "idle")
    return parts


def kind(rights: str, path: str, binary: str) -> str:
    if path.endswith(binary):
        return "binary: code" if "x" in rights else "binary: data"
    if path == "[heap]":
        return "heap"
    if "sqlite-shm" in path:
        return "SQLite's shared index"
    return "libraries of the system" if ".so" in path else ("" if not path else "other memory")


def table(title: str, unit: str, parts: collections.Counter, total: float):
    print(f"| {title} | {unit} | part |\n|---|---|---|")
    for name, cost in parts.most_common():
        if cost > total / 200:
            print(f"| {name} | {cost:,.0f} | {100 * cost / total:.1f} % |")
    print()


def main():
    binary, work = sys.argv[1], pathlib.Path(sys.argv[2])
    stripped = work / "stripped"
    # Debug information of Swift is more than valgrind understands.
    subprocess.run(["strip", "--strip-debug", "-o", stripped, binary], check=True)
    here = pathlib.Path(__file__).parent
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", work / "sigsuspend.so", here / "sigsuspend.c"], check=True)
    subprocess.run(
        ["gcc", "-O2", "-pthread", "-o", work / "replay", here / "replay.c", "-lssl", "-lcrypto"], check=True
    )
    for title, make, counts in [("poll", polls, POLLS), ("PUT of 50 KB", puts, PUTS), ("start and stop", None, (0, 1))]:
        many = run(str(stripped), work, *(make(counts[1]) if make else ()))
        layers, callees = many.by_layer(), many.by_callee()
        if make:
            few = run(str(stripped), work, *make(counts[0]))
            layers.subtract(few.by_layer())
            callees.subtract(few.by_callee())
        each = 1000 * (counts[1] - counts[0])
        layers = collections.Counter({name: cost / each for name, cost in layers.items()})
        callees = collections.Counter({name: cost / each for name, cost in callees.items()})
        print(f"## {title}: {layers.total():,.0f} thousand instructions\n")
        table("layer", "thousand instructions", layers, layers.total())
        table("among them", "thousand instructions", callees, layers.total())
    parts = memory(str(stripped), work)
    print(f"## idle: {parts.total() / 1024:.1f} MB resident\n")
    table("what", "KB", parts, parts.total())


if __name__ == "__main__":
    main()
