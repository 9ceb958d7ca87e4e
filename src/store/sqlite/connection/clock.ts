// Unix seconds with microseconds, strictly rising within the process.

/** A wall clock that was set back by more than this is followed; smaller steps are bridged. */
const MAX_BRIDGE_MICROS = 60_000_000;

export function risingClock(wallMillis: () => number = Date.now): () => number {
  let last = 0;
  return () => {
    const wall = Math.floor(wallMillis() * 1000);
    last = wall > last || last - wall > MAX_BRIDGE_MICROS ? wall : last + 1;
    return last / 1_000_000;
  };
}
