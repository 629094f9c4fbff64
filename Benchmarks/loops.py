"""Measures how long the longest messages of each door hold an event loop: loops.py [BINARY [WORK_FOLDER]]

`SCRIBE_BINARY` names the server where no argument does. The client is `loop_probe.py` of the end-to-end tests."""

import os
import pathlib
import sys
import tempfile

from bench_table import print_table
from servers import Scribe

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Tests/EndToEndTests"))

from loop_probe import FLAGS, probe_doors  # noqa: E402  (in Tests/EndToEndTests)

#: In milliseconds.
GOAL = 50


def main(binary: str, work: pathlib.Path):
    rows = []
    with Scribe(work / "loops", binary, *FLAGS) as server:
        # The clients of the tests read this name.
        server.base_url = server.url
        for what, longest, count in probe_doors(server):
            rows.append({
                "sent": what, "longest hold of an event loop": f"{longest:.1f} ms", "requests": f"{count:,}",
                "goal": f"≤ {GOAL} ms", "met": "yes" if longest <= GOAL else "no",
            })
    print_table(rows)


if __name__ == "__main__":
    BINARY = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SCRIBE_BINARY")
    if not BINARY:
        sys.exit("Name the server's binary in the first argument or in SCRIBE_BINARY.")
    with tempfile.TemporaryDirectory() as folder:
        main(BINARY, pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else folder))
