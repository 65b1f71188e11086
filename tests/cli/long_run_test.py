"""Long runs: what a terminal shows meanwhile, and that memory doesn't grow with the input."""
import os
import pty
import re
import select
import subprocess
import time

from command_line import BINARY, test, write

LINE = '{"id": %d, "name": "a name of some length", "price": 12.5}\n'


def lines(name, count):
    block = "".join(LINE % i for i in range(1000))
    with open(name, "w") as out:
        for _ in range(count // 1000):
            out.write(block)


@test
def a_terminal_sees_how_far_a_file_is():
    lines("in.jsonl", 400_000)
    write("p.yml", "pipeline: p\nsource: {file: {path: in.jsonl}}\nbatch: {rows: 20_000}\nsink: console\n")
    terminal, theirs = pty.openpty()
    # Nobody reads stdout yet, so the run can't end before it has been seen.
    process = subprocess.Popen([BINARY, "run", "p.yml"], stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    try:
        shown, end = "", time.monotonic() + 30
        pattern = r"p: [0-9_]+ messages, [0-9_]+/s, [0-9]+ %, \S+ left"
        while not re.search(pattern, shown):
            assert time.monotonic() < end and process.poll() is None, shown
            if select.select([terminal], [], [], 0.2)[0]:
                shown += os.read(terminal, 4096).decode()
        rows = sum(block.count(b"\n") for block in iter(lambda: process.stdout.read(1 << 20), b""))
        assert rows == 400_000, rows
        while select.select([terminal], [], [], 5)[0]:
            try:
                shown += os.read(terminal, 4096).decode()
            except OSError:  # the other end is closed
                break
        assert process.wait(timeout=30) == 0, shown
        # The line is taken away, and the summary is the last word.
        assert "\r\x1b[K" in shown and re.search(r"400000 messages", shown.split("\x1b[K")[-1]), shown
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
        os.close(terminal)


def peak_memory(pipeline):  # KiB
    process = subprocess.Popen([BINARY, "run", pipeline, "--log-level", "error"])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, process.returncode
    return usage.ru_maxrss


@test
def memory_does_not_grow_with_the_input():
    sinks = {"jsonl": "{file: {path: out.jsonl}}", "parquet": "{parquet: {path: lake}}"}
    for name, sink in sinks.items():
        peaks = []
        for count in (100_000, 1_000_000):
            lines("in.jsonl", count)
            write("p.yml", f"pipeline: p\nsource: {{file: {{path: in.jsonl}}}}\nbatch: {{rows: 10_000}}\n"
                           f"sql: SELECT id, upper(name) AS name, price * 2 AS price FROM batch\nsink: {sink}\n")
            peaks.append(peak_memory("p.yml"))
        assert peaks[1] <= 1.1 * peaks[0] + 16 * 1024, f"{name}: {peaks} KiB for 1x and 10x the rows"
