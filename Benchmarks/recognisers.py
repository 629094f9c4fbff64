"""Compares recognisers behind the server and prints the table of Benchmarks/README.md: recognisers.py [BINARY]

Needs a built server, `.venv` (`make test`) and `.venv/whisper` (`make demo STT=whisper`), pocketsphinx and espeak-ng.
The recordings of a person are in Debian's pocketsphinx-testdata. The rates are those of the best round, which other
work on the machine has slowed least; words right are medians.
"""

import array
import contextlib
import datetime
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import wave

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEMO = ROOT / "demo"
sys.path.insert(0, str(DEMO))

import client  # noqa: E402  (in demo/)
import speech  # noqa: E402

ROUNDS = 3
WHISPER = [str(ROOT / ".venv/whisper/bin/python"), str(DEMO / "whisper.py")]
LIBRIVOX = pathlib.Path("/usr/share/pocketsphinx/test/data/librivox")

#: A consultation of which the demo's grammar has no sentence.
UNKNOWN = """
hello please sit down how can i help you
my knee has been hurting since i fell off my bicycle last week
is the pain worse when you walk or when you climb stairs
it is worse on the stairs and it is swollen in the evening
have you had an operation or a serious illness before
my appendix was removed ten years ago and i have high blood pressure
which tablets do you take every day
i take five milligrams of amlodipine in the morning
does anyone in your family have diabetes
my mother has diabetes and my father had a stroke
let me look at the knee please tell me when it hurts
there is a little fluid but the joint is stable
put ice on it twice a day and keep the leg up
take paracetamol five hundred milligrams when the pain is bad
we will take an x ray on friday
call me if you get a fever or if the leg turns red
""".strip().splitlines()

ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen").split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
#: Spellings of one word.
SAME = {"mr": "mister", "mg": "milligrams", "okay": "ok", "xray": "x ray"}


def spelled(number: int) -> str:
    """A number below 1,000 in words."""
    if number >= 100:
        rest = f" {spelled(number % 100)}" if number % 100 else ""
        return f"{ONES[number // 100]} hundred{rest}"
    if number >= 20:
        return TENS[number // 10] + (f" {ONES[number % 10]}" if number % 10 else "")
    return ONES[number]


def words(text: str) -> list[str]:
    """Words to compare: lower case, numbers spelled out, no punctuation."""
    text = re.sub(r"\d{1,3}", lambda match: f" {spelled(int(match[0]))} ", text.lower().replace("'", ""))
    found = re.findall(r"[a-z]+", text)
    return " ".join(SAME.get(word, word) for word in found).split()


def errors(expected: list[str], heard: list[str]) -> int:
    """Substitutions, deletions and insertions: Levenshtein's distance of words."""
    row = list(range(len(heard) + 1))
    for number, word in enumerate(expected, 1):
        before, row = row, [number]
        for at, other in enumerate(heard, 1):
            row.append(min(before[at] + 1, row[-1] + 1, before[at - 1] + (word != other)))
    return row[-1]


def read_aloud() -> tuple[array.array, str]:
    """Five sentences of a novel, read by a person, with a second between them."""
    samples = array.array("h", bytes(2 * speech.RATE))
    said = []
    for line in (LIBRIVOX / "transcription").read_text().splitlines():
        sentence, name = re.fullmatch(r"<s> (.*) </s> \((.*)\)", line).groups()
        with wave.open(str(LIBRIVOX / f"{name}.wav")) as file:
            samples.frombytes(file.readframes(file.getnframes()))
        samples.frombytes(bytes(2 * speech.RATE))
        said.append(sentence)
    return samples, " ".join(said)


def cpu_seconds(*processes: subprocess.Popen) -> float:
    """CPU time of the processes and of their children that have ended."""
    ticks = 0
    for process in processes:
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def scribe(binary: str, transcriber: str):
    """A server that recognises one chunk at a time. Yields its process and a client."""
    with tempfile.TemporaryDirectory() as folder:
        ready = pathlib.Path(folder, "ready.json")
        server = subprocess.Popen(
            [binary, "serve", "--port", "0", "--ephemeral", "--ready-file", ready, "--log-level", "error",
             "--transcriber", transcriber, "--transcriber-concurrency", "1"], cwd=folder)
        try:
            subprocess.run([binary, "ready", "--wait", "--ready-file", ready], check=True, stdout=subprocess.DEVNULL)
            values = subprocess.run(
                [binary, "env", "--format", "dotenv", "--ready-file", ready],
                check=True, capture_output=True, text=True)
            yield server, client.ScribeClient(re.search(r"^SCRIBE_BASE_URL=(.*)$", values.stdout, re.MULTILINE)[1])
        finally:
            server.terminate()
            server.wait()


@contextlib.contextmanager
def whisper_service():
    """Yields the process and the base URL of a service that has loaded its model."""
    service = subprocess.Popen([*WHISPER, "--serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        if not (url := service.stdout.readline().strip()):
            sys.exit(1)
        yield service, url
    finally:
        service.terminate()
        service.wait()


def take(scribe: client.ScribeClient, chunks, template: str) -> tuple[str, float]:
    """The transcript of one consultation, and the seconds from its first upload to its result."""
    transaction = scribe.transaction()
    transaction.init(templates=[template])
    s3 = scribe.s3()
    began = time.monotonic()
    for path, start, end in chunks:
        transaction.upload(s3, path, start, end)
    transaction.stop()
    transaction.commit()
    while (answer := transaction.poll()).status_code == 202:
        pass
    seconds = time.monotonic() - began
    [item] = answer.json()["data"]["template_results"]["transcript"]
    return client.text(item) if item["value"] else "", seconds


def main(binary: str):
    recordings = []
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        known = (DEMO / "consultation.txt").read_text().splitlines()
        sources = [(name, speech.consultation(said), " ".join(said))
                   for name, said in [("demo", known), ("unknown", UNKNOWN)]]
        if LIBRIVOX.is_dir():
            sources.append(("person", *read_aloud()))
        for name, samples, said in sources:
            (folder / name).mkdir()
            chunks = speech.chunks(samples, folder / name)
            recordings.append((name, len(samples) / speech.RATE, words(said), chunks))
            print(f"{name}: {len(samples) / speech.RATE:.0f} s, {len(words(said))} words, {len(chunks)} chunks")
        service, url = stack.enter_context(whisper_service())
        notes, plain = "clinical_notes_template", "transcript_template"
        quoted = " ".join(f"'{word}'" for word in WHISPER)
        compared = [
            ("pocketsphinx, grammar", f"command:'{DEMO}/recognise.sh' {{wav}}", notes),
            ("pocketsphinx, language model", "command:pocketsphinx_continuous -infile {wav} -logfn /dev/null", notes),
            ("Whisper, command", f"command:{quoted} {{wav}}", notes),
            ("Whisper, service", f"openai:{url}", plain),
            ("Whisper, service, template's words", f"openai:{url}", notes),
        ]
        print(f"\n{datetime.date.today()}, {platform.machine()}\n")
        print("| recogniser | seconds of audio per second | per second of CPU time | "
              f"{' | '.join(name for name, *_ in recordings)} |")
        print("|---|---|---|" + "---|" * len(recordings))
        for what, transcriber, template in compared:
            right, rates, cpu_rates = {}, [], []
            with scribe(binary, transcriber) as (server, connected):
                for _ in range(ROUNDS):
                    spent, cpu_before = 0.0, cpu_seconds(server, service)
                    for name, _, said, chunks in recordings:
                        text, seconds = take(connected, chunks, template)
                        spent += seconds
                        right.setdefault(name, []).append(max(0.0, 1 - errors(said, words(text)) / len(said)))
                        print(f"{what}, {name}: {text!r}", file=sys.stderr)
                    length = sum(length for _, length, *_ in recordings)
                    rates.append(length / spent)
                    cpu_rates.append(length / (cpu_seconds(server, service) - cpu_before))
            cells = " | ".join(f"{statistics.median(values):.0%}" for values in right.values())
            print(f"| {what} | {max(rates):.1f} | {max(cpu_rates):.1f} | {cells} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(ROOT / ".build/debug/scribe-emulator"))
