// The door to scheduled jobs: their code is loaded at the first use; the gateway puts its deliverer in here.
import type { Deliverer } from "../core/job.ts";
import type { Cron, CronBook } from "./cron-book.ts";

export interface CronOpeners {
  /** The deliverer until a surface brings its own. */
  deliverer(): Promise<Deliverer>;
  book(): Promise<CronBook>;
  cron(book: CronBook): Promise<Cron>;
}

export class CronDoor {
  readonly #openers: CronOpeners;
  #deliverer: Promise<Deliverer> | undefined;
  #book: Promise<CronBook> | undefined;
  #cron: Promise<Cron> | undefined;

  constructor(openers: CronOpeners) {
    this.#openers = openers;
  }

  deliverer(): Promise<Deliverer> {
    this.#deliverer ??= this.#openers.deliverer();
    return this.#deliverer;
  }

  /** From now on results leave by this one. */
  deliverBy(deliverer: Deliverer): void {
    this.#deliverer = Promise.resolve(deliverer);
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
