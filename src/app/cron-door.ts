// The door to scheduled jobs: their code is loaded at the first use; the gateway puts its deliverer in here.
import type { Deliverer } from "../core/job.ts";
import type { Cron, CronBook } from "./cron-book.ts";
import { unconnected } from "./deliver.ts";

export interface CronOpeners {
  book(): Promise<CronBook>;
  cron(book: CronBook): Promise<Cron>;
}

export class CronDoor {
  readonly #openers: CronOpeners;
  #deliverer: Deliverer;
  #book: Promise<CronBook> | undefined;
  #cron: Promise<Cron> | undefined;

  constructor(env: { readonly [name: string]: string | undefined }, openers: CronOpeners) {
    this.#openers = openers;
    this.#deliverer = unconnected(env);
  }

  get deliverer(): Deliverer {
    return this.#deliverer;
  }

  /** From now on results leave by this one. */
  deliverBy(deliverer: Deliverer): void {
    this.#deliverer = deliverer;
  }

  /** The jobs, without the means to run them. */
  book(): Promise<CronBook> {
    this.#book ??= this.#openers.book();
    return this.#book;
  }

  open(): Promise<Cron> {
    this.#cron ??= this.book().then((book) => this.#openers.cron(book));
    return this.#cron;
  }

  /** Interrupts runs of this process; each gets its end in the ledger. */
  async close(): Promise<void> {
    await (await this.#cron)?.scheduler.stop();
    (await this.#book)?.close();
  }
}
