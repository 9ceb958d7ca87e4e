#!/usr/bin/env bash
# What fills a folder: largest folders, largest files, known caches. Reads only, stays on one file system.
set -u
folder=${1:-$HOME}
count=${2:-15}
[ -d "$folder" ] || { echo "no such folder: $folder" >&2; exit 1; }

human() {
  awk -v k="$1" 'BEGIN { split("K M G T P", u, " "); i = 1; while (k >= 1024 && i < 5) { k /= 1024; i++ } printf "%.1f%s", k, u[i] }'
}

echo "File system"
df -h "$folder" | sed 's/^/  /'

echo
echo "Largest folders in $folder"
du -xk "$folder"/* "$folder"/.[!.]* 2>/dev/null | sort -rn | awk -v n="$count" 'NR <= n' | while IFS=$'\t' read -r size path; do
  printf '  %8s  %s\n' "$(human "$size")" "$path"
done

echo
echo "Largest files"
find "$folder" -xdev -type f -size +1024k -exec du -k {} + 2>/dev/null | sort -rn | awk -v n="$count" 'NR <= n' | while IFS=$'\t' read -r size path; do
  printf '  %8s  %s\n' "$(human "$size")" "$path"
done

echo
echo "Caches that programs rebuild"
for cache in .cache .npm/_cacache .cargo/registry .gradle/caches Library/Caches .m2/repository; do
  [ -d "$folder/$cache" ] || continue
  size=$(du -sk "$folder/$cache" 2>/dev/null | cut -f1)
  printf '  %8s  %s\n' "$(human "${size:-0}")" "$folder/$cache"
done
exit 0
