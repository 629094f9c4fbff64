"""Audio and times of ambient sessions in tests."""

import datetime
import random

START = datetime.datetime(2026, 5, 10, 9, 12, 33, 123456, tzinfo=datetime.UTC)


def samples(seconds: float, seed=1) -> bytes:
    return random.Random(seed).randbytes(int(32_000 * seconds))


def later(seconds: float) -> datetime.datetime:
    return START + datetime.timedelta(seconds=seconds)
