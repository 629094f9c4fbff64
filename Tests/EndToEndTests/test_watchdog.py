"""scripts/watchdog ends a test run that hangs, and says where it hangs."""

import subprocess

from emulator import PATIENCE, ROOT

WATCHDOG = str(ROOT / "scripts/watchdog")


def test_a_command_that_ends_keeps_its_output_and_exit_code():
    ran = subprocess.run(
        [WATCHDOG, "sh", "-c", "echo said; exit 3"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (ran.returncode, ran.stdout) == (3, "said\n")


def test_a_command_without_progress_is_killed_and_its_stacks_are_printed():
    ran = subprocess.run(
        [WATCHDOG, "--after", "2", "sh", "-c", "echo begun; sleep 1000"], capture_output=True, text=True,
        timeout=PATIENCE, check=False)
    assert ran.returncode == 124
    assert "begun" in ran.stdout and "no progress for 2 s" in ran.stdout
    assert "Thread 1" in ran.stdout and "sleep" in ran.stdout


def test_work_without_output_is_progress():
    busy = "import time\nend = time.process_time() + 6\nwhile time.process_time() < end: pass"
    ran = subprocess.run(
        [WATCHDOG, "--after", "3", "python3", "-c", busy], capture_output=True, text=True, timeout=PATIENCE,
        check=False)
    assert (ran.returncode, ran.stdout) == (0, "")
