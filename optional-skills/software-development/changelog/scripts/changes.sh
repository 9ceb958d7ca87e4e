#!/usr/bin/env bash
# Commits between two versions, grouped by Conventional Commit type; breaking ones first. Reads only.
set -u
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "not a Git work tree" >&2; exit 2; }
from=${1:-$(git describe --tags --abbrev=0 2>/dev/null || true)}
to=${2:-HEAD}
range=${from:+$from..}$to

echo "Changes in $range"
git log --no-merges --format='%h%x1f%s%x1f%b%x1e' "$range" | awk -v RS='\036' -v FS='\037' '
  {
    gsub(/^\n+/, "", $1)
    if ($1 == "") next
    subject = $2
    line = "- " subject " (" $1 ")"
    if (match(subject, /^[a-z]+(\([^)]*\))?!?:/)) {
      head = substr(subject, 1, RLENGTH)
      type = head
      sub(/[(!:].*/, "", type)
      if (head ~ /!:$/ || $3 ~ /BREAKING CHANGE/) breaking = breaking line "\n"
    } else type = "other"
    if (!(type in group)) order[++n] = type
    group[type] = group[type] line "\n"
  }
  END {
    if (breaking != "") printf "\nbreaking\n%s", breaking
    for (i = 1; i <= n; i++) printf "\n%s\n%s", order[i], group[order[i]]
    if (n == 0) print "\nnothing"
  }'
