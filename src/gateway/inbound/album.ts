// Combines messages that belong together, such as the pictures of an album, into one.
import type { InboxRow } from "../../core/store/mailbox.ts";

/** This long after its last message an album is complete. */
const QUIET_MS = 800;

function joined(rows: readonly InboxRow[]): InboxRow | undefined {
  const [first, ...others] = rows;
  if (!first) return undefined;
  const text = rows
    .map(({ event }) => event.text)
    .filter((words) => words !== "")
    .join("\n");
  const attachments = rows.flatMap(({ event }) => event.attachments ?? []);
  return { ...first, event: { ...first.event, text, attachments }, absorbed: others.map(({ id }) => id) };
}

/** Collects the albums of one chat. After a crash the stored messages are collected again. */
export class Album {
  readonly #ready: (row: InboxRow) => void;
  #rows: InboxRow[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(ready: (row: InboxRow) => void) {
    this.#ready = ready;
  }

  get open(): boolean {
    return this.#rows.length > 0;
  }

  /** True when the message joins an album, which is passed on later. Any other message first completes the open album. */
  takes(row: InboxRow): boolean {
    const { group, edited } = row.event;
    const piece = group !== undefined && edited !== true;
    if (!piece || (this.open && this.#rows[0]?.event.group !== group)) this.#complete();
    if (!piece) return false;
    this.#rows.push(row);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#complete(), QUIET_MS).unref();
    return true;
  }

  #complete(): void {
    clearTimeout(this.#timer);
    const whole = joined(this.#rows.splice(0));
    if (whole) this.#ready(whole);
  }
}
