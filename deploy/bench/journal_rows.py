"""Rows of durable appends: the journal as event loops use it, against a bare file with as many records for each fdatasync."""

import argparse
import pathlib
import shutil
import subprocess
import tempfile

from rows import Row
from session import Session

PEER = pathlib.Path(__file__).parents[2] / "Tests" / "Benchmarks" / "Peers" / "file.c"
RECORDS = (100, 360)
# Callers, and how many submissions of each are on their way: a caller that is alone and waits, and four that do not.
CALLERS = ((1, 1), (4, 8))


def journal_rows(options: argparse.Namespace) -> list[Row]:
    """Durable appends: the gateway's journal and a bare file take turns on the same disk."""
    # Beside the program, since temporary folders may be memory, where nothing has to be waited for.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="journal-", dir=pathlib.Path(options.journal_program).resolve().parent))
    try:
        peer = folder / "file"
        subprocess.run(["cc", "-O3", "-o", peer, PEER], check=True)
        journal = Session(options.journal_program, folder / "log")
        file = Session(peer, folder / "bare")
        try:
            return [row for callers, waiting in CALLERS for records in RECORDS
                    for row in measured(journal, file, records, callers, waiting, options)]
        finally:
            journal.stop()
            file.stop()
    finally:
        shutil.rmtree(folder)


def measured(
    journal: Session, file: Session, records: int, callers: int, waiting: int, options: argparse.Namespace
) -> list[Row]:
    own, bare, batches = [], [], []
    milliseconds = options.seconds * 200
    for _ in range(options.rounds):
        answer = journal.ask("append", records, callers, waiting, milliseconds)
        # What one commit took along is what the file writes before it waits for the disk.
        batches.append(answer["batch"])
        own.append(answer["perSecond"])
        bare.append(file.ask("append", answer["batch"], milliseconds)["perSecond"])
    name = f"durable appends, {records} records of 200 bytes a submission, {callers} caller{'s' if callers > 1 else ''}"
    return [Row("journal", name, "/s", own, "bare file and fdatasync", bare, target=0.6, times_faster=False,
                note=f"{sorted(batches)[len(batches) // 2]} records a commit")]
