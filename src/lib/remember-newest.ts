// Maps in programs that run for months: what was used last is kept, the rest goes.

/** The entry becomes the newest of the map; the oldest go until no more than `most` are left. */
export function rememberNewest<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
