// Durations, token counts and prices as short text.

/** `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
}

/** Whole seconds, for figures that change while they are shown. */
export function formatElapsed(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  return seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1000);
}

/** `950`, `12.8K`, `128K`, `1.05M`. */
export function formatTokens(count: number): string {
  if (count < 1000) return String(Math.round(count));
  if (count < 99_950) return `${(count / 1000).toFixed(1).replace(/\.0$/, "")}K`;
  if (count < 999_500) return `${Math.round(count / 1000)}K`;
  return `${(count / 1_000_000).toFixed(2).replace(/\.?0+$/, "")}M`;
}

/** `$0.0042`, `$0.32`, `$12.50`. */
export function formatCost(usd: number): string {
  if (usd === 0) return "$0";
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** The time of day in 24 hours, as the machine's zone or the given one has it. */
export function formatTime(at: number, timeZone?: string): string {
  const options: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hour12: false };
  return new Intl.DateTimeFormat("en-GB", timeZone ? { ...options, timeZone } : options).format(at);
}
