// Bounded maps for long-running programs.

/** Sets the entry as the newest of the map and removes the oldest ones beyond `most`. */
export function rememberNewest<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
