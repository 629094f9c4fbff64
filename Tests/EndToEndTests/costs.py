"""Counts what each test costs: CPU time, server starts, process starts and sleeps.

The counts are properties of each test in the JUnit file. `scripts/costs` prints and limits them. Files that ask for the
same servers run on one worker, which starts each of them once.
"""

import pathlib
import sys
import time

import pytest
from cost_counters import COSTS
from xdist.scheduler import LoadFileScheduling

#: Names of test files, without `test_`. One worker runs all files of a row.
TOGETHER = [
    "browser clock deepgram_sdk early_frames exec explained_refusals journal_heads journal_streams listen_access "
    "metrics namespaces_settings process_starts process_storage sessions snapshots tls_clients",
    "cors cross_site_logins faults_sockets granted_tokens host_names journal journal_searches listen_results "
    "start_errors webhooks",
    "hostile_connections http2_floods http2_limits http2_requests http2_transfers memory_doors tls_handshakes",
    "listen_streams live_consultations live_encodings",
    "omi_audio omi_conversations omi_failures omi_pages omi_segments",
    "ambient_servers consultation python_sdk recordings",
    "s3_checksums s3_copies s3_forms s3_multipart s3_objects s3_signatures s3_tools",
]
UNITS = {f"test_{name}": row for row in TOGETHER for name in row.split()}


def unit(name: str) -> str:
    """The row of a test file, or the file itself."""
    return UNITS.get(name, name)


class TogetherScheduling(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return unit(pathlib.PurePath(super()._split_scope(nodeid)).stem)


class CostsPlugin:
    def __init__(self):
        sys.addaudithook(COSTS.audit)
        time.sleep = COSTS.sleep
        self.before = COSTS.reading()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if call.when == "teardown":
            now = COSTS.reading()
            spent = {name: max(0, value - self.before[name]) for name, value in now.items()}
            self.before = now
            report.user_properties += [(name, round(value, 3)) for name, value in spent.items()]
        return report
