// The door to scheduled jobs: their code is loaded at the first use; the gateway puts its deliverer in here.
import type { Deliverer } from "../core/job.ts";
import type { Cron, JobRepository } from "../cron/job-repository.ts";

export interface CronLoaders {
  /** The deliverer until a surface brings its own. */
  deliverer(): Promise<Deliverer>;
  repository(): Promise<JobRepository>;
  cron(repository: JobRepository): Promise<Cron>;
}

export class LazyCron {
  readonly #openers: CronLoaders;
  #deliverer: Promise<Deliverer> | undefined;
  #repository: Promise<JobRepository> | undefined;
  #cron: Promise<Cron> | undefined;

  constructor(openers: CronLoaders) {
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
  repository(): Promise<JobRepository> {
    this.#repository ??= this.#openers.repository();
    return this.#repository;
  }

  open(): Promise<Cron> {
    this.#cron ??= this.repository().then((repository) => this.#openers.cron(repository));
    return this.#cron;
  }

  /** Interrupts runs of this process; each gets its end in the ledger. */
  async close(): Promise<void> {
    await (await this.#cron)?.scheduler.stop();
    (await this.#repository)?.close();
  }
}
