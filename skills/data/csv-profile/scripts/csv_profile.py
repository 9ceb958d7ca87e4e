#!/usr/bin/env python3
"""Profile a CSV file row by row: types, gaps, oddities, ranges. Standard library only."""
import argparse
import csv
import json
import re
import sys

EMPTY = {"", "na", "n/a", "null", "none", "nan", "-", "?"}
MAX_DISTINCT = 10_000
SHARE = 0.95
KINDS = [
    ("whole", re.compile(r"^[+-]?(?:0|[1-9]\d*)$")),
    ("decimal", re.compile(r"^[+-]?\d+(?:[.,]\d+)?(?:e[+-]?\d+)?$", re.I)),
    ("date", re.compile(r"^(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4})(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$")),
    ("yes/no", re.compile(r"^(?:true|false|yes|no|0|1)$", re.I)),
]


def kind_of(value):
    return next((name for name, pattern in KINDS if pattern.match(value)), "text")


class Column:
    def __init__(self, name):
        self.name, self.empty, self.filled = name, 0, 0
        self.kinds, self.examples, self.distinct = {}, {}, set()
        self.low = self.high = None

    def add(self, raw, row):
        value = raw.strip()
        if value.lower() in EMPTY:
            self.empty += 1
            return
        self.filled += 1
        kind = kind_of(value)
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        self.examples.setdefault(kind, (value[:60], row))
        if len(self.distinct) < MAX_DISTINCT:
            self.distinct.add(value)
        key = float(value.replace(",", ".")) if kind in ("whole", "decimal") else value if kind == "date" else None
        if key is not None and (self.low is None or type(key) is type(self.low)):
            self.low = key if self.low is None else min(self.low, key)
            self.high = key if self.high is None else max(self.high, key)

    def type(self):
        counts = dict(self.kinds)
        if "decimal" in counts and "whole" in counts:
            counts["decimal"] += counts.pop("whole")
        for kind, count in sorted(counts.items(), key=lambda item: -item[1]):
            if count >= SHARE * self.filled:
                return kind
        return "text"

    def report(self):
        kind = self.type()
        same = {kind, "whole"} if kind == "decimal" else {kind}
        odd = {} if kind == "text" else {k: v for k, v in self.kinds.items() if k not in same}
        full = len(self.distinct) >= MAX_DISTINCT
        return {
            "name": self.name,
            "type": kind,
            "filled": self.filled,
            "empty": self.empty,
            "distinct": f"{MAX_DISTINCT}+" if full else len(self.distinct),
            "range": [self.low, self.high] if kind in ("whole", "decimal", "date") else None,
            "odd": [{"kind": k, "count": v, "example": self.examples[k][0], "row": self.examples[k][1]} for k, v in odd.items()],
        }


def guess_separator(sample):
    try:
        return csv.Sniffer().sniff(sample, delimiters=",;\t|").delimiter
    except csv.Error:
        return ","


def encoding_of(path):
    try:
        with open(path, encoding="utf-8-sig") as file:
            for _ in file:
                pass
        return "utf-8-sig"
    except UnicodeDecodeError:
        return "latin-1"


def profile(path, separator):
    encoding = encoding_of(path)
    with open(path, newline="", encoding=encoding) as file:
        separator = separator or guess_separator(file.read(64_000))
        file.seek(0)
        rows = csv.reader(file, delimiter=separator)
        columns = [Column(name.strip() or f"column {index + 1}") for index, name in enumerate(next(rows, []))]
        count, ragged = 0, []
        for number, row in enumerate(rows, 2):
            if not row:
                continue
            count += 1
            if len(row) != len(columns) and len(ragged) < 10:
                ragged.append({"row": number, "fields": len(row)})
            for column, value in zip(columns, row):
                column.add(value, number)
    return {
        "encoding": "utf-8" if encoding == "utf-8-sig" else encoding,
        "separator": separator,
        "rows": count,
        "columns": [column.report() for column in columns],
        "ragged_rows": ragged,
    }


def as_text(report):
    lines = [f"{report['rows']} rows, {len(report['columns'])} columns, separator {report['separator']!r}, {report['encoding']}"]
    for ragged in report["ragged_rows"]:
        lines.append(f"  row {ragged['row']} has {ragged['fields']} fields")
    for column in report["columns"]:
        span = f", range {column['range'][0]} to {column['range'][1]}" if column["range"] else ""
        lines.append(f"- {column['name']}: {column['type']}, {column['empty']} empty, {column['distinct']} distinct{span}")
        for odd in column["odd"]:
            lines.append(f"    odd: {odd['count']} {odd['kind']}, for example {odd['example']!r} in row {odd['row']}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--separator")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    try:
        report = profile(args.file, args.separator)
    except OSError as error:
        print(f"{args.file} cannot be read: {error.strerror}", file=sys.stderr)
        return 1
    print(json.dumps(report, indent=2, ensure_ascii=False) if args.json else as_text(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
