#!/usr/bin/env python3
"""Search arXiv and print papers as text or JSON. Standard library only."""
import argparse
import json
import sys
import time
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ET

SERVICE = "https://export.arxiv.org/api/query"
ATOM = "{http://www.w3.org/2005/Atom}"
PAUSE_SECONDS = 3


def clean(text):
    return " ".join((text or "").split())


def parse_feed(xml):
    """Atom text -> list of papers."""
    papers = []
    for entry in ET.fromstring(xml).iter(ATOM + "entry"):
        links = {link.get("title") or link.get("rel"): link.get("href") for link in entry.findall(ATOM + "link")}
        papers.append(
            {
                "id": clean(entry.findtext(ATOM + "id")).rsplit("/abs/", 1)[-1],
                "title": clean(entry.findtext(ATOM + "title")),
                "authors": [clean(a.findtext(ATOM + "name")) for a in entry.findall(ATOM + "author")],
                "published": clean(entry.findtext(ATOM + "published"))[:10],
                "updated": clean(entry.findtext(ATOM + "updated"))[:10],
                "abstract": clean(entry.findtext(ATOM + "summary")),
                "categories": [c.get("term") for c in entry.findall(ATOM + "category")],
                "link": links.get("alternate", ""),
                "pdf": links.get("pdf", ""),
            }
        )
    return papers


def build_query(args):
    parts = []
    if args.words:
        parts.append(" AND ".join(f"all:{word}" for word in " ".join(args.words).split()))
    if args.author:
        parts.append(f'au:"{args.author}"')
    if args.category:
        parts.append(f"cat:{args.category}")
    return " AND ".join(parts)


def address(args):
    fields = {"max_results": args.max}
    if args.id:
        fields["id_list"] = ",".join(args.id)
    else:
        fields["search_query"] = build_query(args)
        fields["sortBy"] = {"date": "submittedDate", "relevance": "relevance"}[args.sort]
        fields["sortOrder"] = "descending"
    return f"{SERVICE}?{urllib.parse.urlencode(fields)}"


def as_text(papers):
    blocks = []
    for paper in papers:
        names = paper["authors"]
        who = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
        blocks.append(
            f"{paper['title']}\n  {who} ({paper['published']}) {paper['id']}\n  {paper['link']}\n  {paper['abstract']}"
        )
    return "\n\n".join(blocks) or "Nothing found."


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--author")
    parser.add_argument("--category")
    parser.add_argument("--id", action="append")
    parser.add_argument("--sort", choices=["relevance", "date"], default="relevance")
    parser.add_argument("--max", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--from-file", help="read a saved answer instead of asking the service")
    parser.add_argument("--show-address", action="store_true", help="print the address and stop")
    args = parser.parse_args()
    if not (args.words or args.author or args.category or args.id or args.from_file):
        parser.error("give some words, --author, --category or --id")
    if args.show_address:
        print(address(args))
        return 0
    try:
        if args.from_file:
            with open(args.from_file, encoding="utf-8") as file:
                xml = file.read()
        else:
            time.sleep(PAUSE_SECONDS if args.id and len(args.id) > 1 else 0)
            with urllib.request.urlopen(address(args), timeout=30) as answer:
                xml = answer.read().decode("utf-8")
        papers = parse_feed(xml)
    except (OSError, ET.ParseError) as error:
        print(f"arXiv could not be asked: {error}", file=sys.stderr)
        return 1
    print(json.dumps(papers, indent=2, ensure_ascii=False) if args.json else as_text(papers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
