"""Counts the instructions that a consultation costs the server, by callgrind: instructions.py BINARY WORK_FOLDER KNOWN

They repeat to half a percent on any machine of the same kind, whatever else it does: 32 clients share commits by
chance, so the median of three counts. KNOWN is the file with what is known of the version before: more than a
hundredth above it is said, and the file is written anew with `--write`."""

import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import uuid

from bench import recording
from messages import Client, Uploads, write_scenarios
from servers import Scribe

CLIENTS, FEW, MANY, ROUNDS = 32, 64, 256, 3


class Counted(Scribe):
    """The server under callgrind, a hundred times slower."""

    def command(self):
        self.counts = self.folder / "counts"
        preload = self.folder.parent / "sigsuspend.so"
        return [
            "env", f"LD_PRELOAD={preload}", "valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={self.counts}",
            *super().command()]


def instructions(work: pathlib.Path, binary: str, consultations: int) -> int:
    """Of a server's whole life, with so many consultations in it."""
    chunk = recording(50_000)
    with Counted(work / "counted", binary) as server:
        client = Client(server.url)
        uploads = Uploads(server.url, client.keys, len(chunk))
        # The ids have the same length and are others each time, as those of clients.
        names = [f"i-{uuid.UUID(int=number)}" for number in range(consultations)]
        write_scenarios(work / "requests", (client.consultation(name, uploads, 1.56, 5) for name in names))
        (work / "body").write_bytes(chunk)
        subprocess.run(
            [work / "replay", str(server.port), str(CLIENTS), "600", work / "requests", work / "body"],
            check=True, stdout=subprocess.DEVNULL)
    count = int(re.search(r"^(?:summary|totals): (\d+)", server.counts.read_text(errors="replace"), re.MULTILINE)[1])
    shutil.rmtree(work / "counted")
    return count


def main():
    binary, work, known = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    # Debug information of Swift is more than valgrind understands.
    stripped = work / "stripped"
    subprocess.run(["strip", "-o", stripped, binary], check=True)
    binary = str(stripped)
    source = pathlib.Path(__file__).with_name("sigsuspend.c")
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", work / "sigsuspend.so", source], check=True)
    counted = [[instructions(work, binary, count) for count in (FEW, MANY)] for _ in range(ROUNDS)]
    each = statistics.median((many - few) / (MANY - FEW) / 1e6 for few, many in counted)
    before = float(known.read_text()) if known.exists() else each
    change = 100 * (each / before - 1)
    print(f"instructions per consultation: {each:.2f} M; {before:.2f} M before, {change:+.1f} %")
    if change > 1:
        print("That is more than a hundredth worse. What was it for?")
    if "--write" in sys.argv:
        known.write_text(f"{each:.2f}\n")


if __name__ == "__main__":
    main()
