"""scripts/watchdog ends a test run that hangs, and says where it hangs."""

import contextlib
import os
import pathlib
import runpy
import shutil
import signal
import subprocess
import sys

import pytest
from emulator import PATIENCE, ROOT, wait_until

WATCHDOG = str(ROOT / "scripts/watchdog")
#: Uses 3 ms of each half second, as idle servers do: 0.6 % of one core.
TRICKLE = """
import time
while True:
    time.sleep(0.5)
    end = time.process_time() + 0.003
    while time.process_time() < end: pass
"""


def watched(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, WATCHDOG, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False,
        **options)


def is_running(process: int) -> bool:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.fixture
def without_gdb(tmp_path) -> dict[str, str]:
    """An environment whose PATH has what the commands need, and no gdb."""
    for name in ("setsid", "sh", "sleep"):
        (tmp_path / name).symlink_to(shutil.which(name))
    return {**os.environ, "PATH": str(tmp_path)}


def test_a_command_that_ends_keeps_its_output_and_exit_code():
    ran = watched("sh", "-c", "echo said; exit 3")
    assert (ran.returncode, ran.stdout) == (3, "said\n")


def test_a_command_that_a_signal_ends_has_the_exit_code_of_a_shell():
    assert watched("sh", "-c", "kill -KILL $$").returncode == 128 + signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_though_a_shell_has_started_it_in_the_background(number):
    watchdog = subprocess.Popen(
        ["env", "--default-signal=HUP,TERM", "--ignore-signal=INT", WATCHDOG, "sh", "-c",
         "echo begun; exec sleep 1000"],
        stdout=subprocess.PIPE)
    try:
        assert watchdog.stdout.readline() == b"begun\n"
        watchdog.send_signal(number)
        assert watchdog.wait(timeout=PATIENCE) == 128 + number
    finally:
        watchdog.kill()
        watchdog.wait()


def test_a_command_ends_with_its_watchdog():
    watchdog = subprocess.Popen([WATCHDOG, "sh", "-c", "echo $$; exec sleep 1000"], stdout=subprocess.PIPE)
    command = int(watchdog.stdout.readline())
    watchdog.kill()
    watchdog.wait()
    wait_until(lambda: not is_running(command), "the command has ended")


def test_a_command_without_progress_is_killed_and_its_stacks_are_printed():
    ran = watched("--after", "2", "sh", "-c", "echo begun; sleep 1000")
    assert ran.returncode == 124
    assert "begun" in ran.stdout and "no progress for 2 s" in ran.stdout
    assert "Thread 1" in ran.stdout and "sleep" in ran.stdout


def test_without_gdb_the_command_is_killed_with_processes_of_other_sessions(without_gdb):
    ran = watched("--after", "1", "sh", "-c", "setsid sleep 1000 & echo $!; wait", env=without_gdb)
    assert ran.returncode == 124
    assert "gdb printed no stacks: [Errno 2]" in ran.stdout
    other = int(ran.stdout.split()[0])
    wait_until(lambda: not is_running(other), "the process of the other session has ended")


def test_a_gdb_that_hangs_for_one_process_is_followed_by_the_next(monkeypatch, capsys):
    def run(command, **options):
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(subprocess, "run", run)
    runpy.run_path(WATCHDOG)["print_stacks"]([11, 12])
    said = capsys.readouterr().out
    assert "process 11" in said and "process 12" in said and said.count("timed out after") == 2


def test_work_without_output_is_progress():
    busy = "import time\nend = time.process_time() + 2\nwhile time.process_time() < end: pass"
    ran = watched("--after", "1", "python3", "-c", busy)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_cpu_time_of_idle_processes_is_no_progress(without_gdb):
    assert watched("--after", "8", sys.executable, "-c", TRICKLE, env=without_gdb).returncode == 124


@pytest.mark.parametrize(
    ("seconds", "last"), [([2] + [0.04] * 119, 5), ([0.04] * 119 + [0.06], 600)],
    ids=["less than 1 % never adds up", "work after idleness counts at once"])
def test_cpu_time_counts_from_one_check_to_the_next(seconds, last):
    """Looks each 5 s for ten minutes."""
    progress = runpy.run_path(WATCHDOG)["Progress"](0)
    for look in range(1, 121):
        progress.look(now=5 * look, used=sum(seconds[:look]))
    assert progress.last == last
