"""What the tests of the command line have in common. The binary is the program's first argument."""
import json
import os
import pathlib
import subprocess
import sys
import time

BINARY = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/aqueduck").resolve())
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def aq(*args, stdin="", env=None, seconds=60):
    environment = {"PATH": os.environ["PATH"], "HOME": os.getcwd(), **(env or {})}
    return subprocess.run([BINARY, *args], input=stdin, capture_output=True, text=True, env=environment, timeout=seconds)


def code(done, wanted):
    assert done.returncode == wanted, f"exit code {done.returncode}, not {wanted}\n{done.stdout}\n{done.stderr}"
    return done


def has(text, *parts):
    for part in parts:
        assert part in text, f"no {part!r} in:\n{text}"


def write(name, text):
    pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(name).write_text(text)
    return name


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


def generator(rows=10, sql="SELECT id FROM batch", sink="console: {}", extra="", columns="{id: i}", more=""):
    count = "" if rows is None else f"    rows: {rows}\n"
    return write("p.yml", f"pipeline: p\nsource:\n  generator:\n{count}{more}    columns: {columns}\n"
                          f"sql: {sql}\nsink:\n  {sink}\n{extra}")


def wait_for(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.02)
