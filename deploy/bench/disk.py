"""How long the disk takes, on which the rows of pushes depend."""

import os
import pathlib
import time


def sync_milliseconds(folder: pathlib.Path, count: int) -> list[float]:
    """Of so many fdatasync, 64 KiB each; the shortest first."""
    file = os.open(folder / "sync", os.O_CREAT | os.O_WRONLY)
    try:
        spans = []
        for _ in range(count):
            os.write(file, bytes(1 << 16))
            start = time.monotonic()
            os.fdatasync(file)
            spans.append((time.monotonic() - start) * 1000)
        return sorted(spans)
    finally:
        os.close(file)
