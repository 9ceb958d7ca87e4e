#!/usr/bin/env python3
"""Group the lines of a log by what they mean and count them. Standard library only."""
import argparse
import json
import re
import sys

TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)")
LEVEL = re.compile(r"\b(FATAL|CRITICAL|ERROR|ERR|WARN(?:ING)?|INFO|DEBUG|TRACE)\b", re.I)
SAME = {"fatal": "error", "critical": "error", "err": "error", "warning": "warn"}
MARKS = [
    (re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d\b"), "<time>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "<address>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b", re.I), "<id>"),
    (re.compile(r"\b0x[0-9a-f]+\b|\b[0-9a-f]{12,}\b", re.I), "<hex>"),
    (re.compile(r"\"[^\"]{0,200}\"|'[^']{0,200}'"), "<text>"),
    (re.compile(r"(?:/[\w.@-]+){2,}"), "<path>"),
    (re.compile(r"\d+"), "<n>"),
]


def shape(line):
    for pattern, mark in MARKS:
        line = pattern.sub(mark, line)
    return " ".join(line.split())[:300]


def level_of(line):
    match = LEVEL.search(line)
    word = match.group(1).lower() if match else ""
    return SAME.get(word, word)


def time_of(line):
    match = TIME.search(line)
    return f"{match.group(1)} {match.group(2)}" if match else ""


def read(lines, args):
    groups, total, first, last = {}, 0, "", ""
    wanted = set(args.level.split(",")) if args.level else None
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\n")
        if not line.strip() or line[:1] in " \t":
            continue
        when, level = time_of(line), level_of(line)
        if (args.start and when and when < args.start) or (args.end and when and when > args.end):
            continue
        if wanted and level not in wanted:
            continue
        total += 1
        first, last = first or when, when or last
        group = groups.setdefault(
            (level, shape(line)), {"level": level, "count": 0, "line": number, "first": when, "last": when, "example": line[:300]}
        )
        group["count"] += 1
        group["last"] = when or group["last"]
    ordered = sorted(groups.values(), key=lambda g: (g["count"] if args.rare else -g["count"], g["line"]))
    return {"lines": total, "kinds": len(ordered), "from": first, "to": last, "groups": ordered[: args.max]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="a log file, or - for standard input")
    parser.add_argument("--level", help="comma separated: error, warn, info, debug")
    parser.add_argument("--from", dest="start", default="", help='for example "2026-03-01 10:00"')
    parser.add_argument("--to", dest="end", default="")
    parser.add_argument("--rare", action="store_true", help="rare messages first")
    parser.add_argument("--max", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    try:
        source = sys.stdin if args.file == "-" else open(args.file, encoding="utf-8", errors="replace")
    except OSError as error:
        print(f"{args.file} cannot be read: {error.strerror}", file=sys.stderr)
        return 1
    with source:
        report = read(source, args)
    if args.json:
        print(json.dumps(report, indent=2, ensure_ascii=False))
        return 0
    print(f"{report['lines']} lines, {report['kinds']} kinds, {report['from'] or '?'} to {report['to'] or '?'}")
    for group in report["groups"]:
        print(f"{group['count']:>8}x {group['level'] or '-':<6} line {group['line']:<8} {group['example']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
