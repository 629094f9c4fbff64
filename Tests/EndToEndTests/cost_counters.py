"""Counters of what tests cost, for the plugin in `costs.py`. The benchmarks use the tests' servers without pytest."""

import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SLEEP = time.sleep


def load(path: pathlib.Path):
    """Imports a script without a file name extension."""
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(path.name, importlib.machinery.SourceFileLoader(path.name, str(path))))
    module.__loader__.exec_module(module)
    return module


watchdog = load(ROOT / "scripts/watchdog")


class Costs:
    """Counters since the start of the process. Read them by differences."""

    def __init__(self):
        #: Servers that became ready. `emulator.Server` counts them.
        self.servers = 0
        self.processes = 0
        #: In seconds: sleeps of the tests' own process.
        self.slept = 0.0

    def audit(self, event: str, arguments: tuple):
        self.processes += event == "subprocess.Popen"

    def sleep(self, seconds: float):
        """Stands for `time.sleep`, which has no audit event before Python 3.13. Libraries may sleep."""
        if sys._getframe(1).f_code.co_filename.startswith(str(HERE)):
            self.slept += seconds
        SLEEP(seconds)

    def reading(self) -> dict[str, float]:
        """All counters now, with the CPU time of this process and its descendants."""
        return {
            "cpu": watchdog.cpu_seconds(watchdog.family(os.getpid())), "servers": self.servers,
            "processes": self.processes, "slept": self.slept,
        }


COSTS = Costs()
