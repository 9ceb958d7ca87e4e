#!/usr/bin/env bash
# Lists what should not be committed: likely secrets, conflict marks, debug leftovers, large files. Exit 1 when it found some.
set -u
cd "${1:-.}" || exit 2
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "not a Git work tree" >&2; exit 2; }

found=0
report() { printf '%-9s %s\n' "$1" "$2"; found=1; }

base=HEAD
git rev-parse -q --verify HEAD >/dev/null || base=$(git hash-object -t tree /dev/null)

while IFS= read -r -d '' file; do
  [ -f "$file" ] || continue
  size=$(wc -c <"$file")
  [ "$size" -gt 1000000 ] && report large "$file ($size bytes)"
  case "$file" in
    .env | *.pem | *.p12 | *_rsa | *.keystore) report secret "$file (by its name)" ;;
  esac
done < <(git diff -z --name-only "$base"; git ls-files -z --others --exclude-standard)

added() {
  git diff -U0 "$base" | grep '^+' | grep -v '^+++'
  while IFS= read -r -d '' file; do
    grep -Iq . "$file" 2>/dev/null && sed 's/^/+/' "$file"
  done < <(git ls-files -z --others --exclude-standard)
}

while IFS= read -r line; do
  case "$line" in
    '+<<<<<<< '* | '+>>>>>>> '*) report conflict "${line:0:60}" ;;
  esac
  if [[ "$line" =~ (AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}|sk-[A-Za-z0-9_-]{20,}|xox[abp]-[0-9A-Za-z-]{10,}) ]]; then
    report secret "a key that starts with ${BASH_REMATCH[1]:0:6}"
  fi
  if [[ "$line" =~ (console\.log\(|debugger\;|breakpoint\(\)|pdb\.set_trace|binding\.pry|dbg!\() ]]; then
    report leftover "${line:1:80}"
  fi
done < <(added)

[ "$found" -eq 0 ] && echo "nothing suspicious"
exit "$found"
