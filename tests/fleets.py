#!/usr/bin/env python3
"""Runs what docs/FLEETS.md shows, with DuckDB, and compares the answers with counts of its own.

fleets.py HUNKWISE: the program. Needs the package duckdb.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import duckdb

ROOT = pathlib.Path(__file__).resolve().parent.parent


def blocks(page):
    """The blocks of code of the page: (language, text)."""
    return re.findall(r"^```(\w+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def lines(name):
    return [json.loads(line) for line in pathlib.Path(name).read_text().splitlines()]


def check(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}:\n  found  {found}\n  wanted {wanted}")
    print(f"ok: {what}: {len(found) if isinstance(found, (list, dict)) else found}")


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    work = tempfile.TemporaryDirectory()
    os.chdir(work.name)
    os.symlink(program, "hunkwise")
    os.makedirs("tests")
    os.symlink(ROOT / "tests/logs", "tests/logs")
    environment = {"PATH": f"{work.name}:{os.environ['PATH']}", "HOME": work.name, "LC_ALL": "C.UTF-8"}

    answers, base = [], duckdb.connect()
    for language, text in blocks((ROOT / "docs/FLEETS.md").read_text()):
        if language == "sql":
            answers.append(base.execute(text).fetchall())
        elif language == "sh" and "parallel" not in text:
            # The logs hold broken ones on purpose: nothing of them may be missed, and no more than that is said.
            run = subprocess.run(["bash", "-c", text], env=environment, capture_output=True, text=True)
            if run.returncode not in (0, 2):
                sys.exit(f"{text}{run.stderr}")
    _, agents, _again, sessions, _, todo = answers

    # The same from the cards, counted without the rows and without the engine.
    cards = lines("cards.jsonl")
    edits, failed, per_log = collections.Counter(), collections.Counter(), {}
    for card in cards:
        source, log = card["source"], card["source"]["log"]
        calls, files, counts = per_log.setdefault(log, (set(), set(), [0, 0]))
        calls.add((source["line"], source.get("callId")))
        for file in card["files"] or [{}]:
            status = file.get("status", card["status"])
            edits[source["format"]] += 1
            failed[source["format"]] += status == "failed"
            if "path" in file:
                files.add(file["path"])
            if status in ("applied", "partial"):
                counts[0] += file.get("added", 0)
                counts[1] += file.get("removed", 0)
    check("edits of each agent", {row[0]: row[1:3] for row in agents}, {name: (edits[name], failed[name]) for name in edits})
    wanted = sorted(((log, len(calls), len(files), *counts) for log, (calls, files, counts) in per_log.items()),
                    key=lambda row: (-row[3], row[0]))
    check("sessions", [row[:5] for row in sessions], wanted[:20])
    hunks = collections.Counter(diff["path"] for card in cards for diff in card["diffs"] if "total" in diff["newText"])
    check("hunks with a word", dict(todo), dict(hunks))

    # In shares, as another machine or Spark would have them, the rows are the same.
    paths = sorted({row["log"] for row in lines("edits.jsonl")})
    whole = subprocess.run(["hunkwise", "replay", "--files-from", "-", "--output", "stat", "--json"], env=environment,
                           input="\n".join(paths), capture_output=True, text=True).stdout
    shares = ""
    for start in range(0, len(paths) + 7, 7):
        share = "\n".join(paths[start:start + 7])
        run = subprocess.run(["hunkwise", "replay", "--files-from", "-", "--output", "stat", "--json"], env=environment,
                             input=share, capture_output=True, text=True)
        shares += run.stdout
        if not share and (run.returncode, run.stdout) != (0, ""):
            sys.exit(f"an empty share: {run}")
    check("rows in shares", shares.splitlines(), whole.splitlines())


main()
