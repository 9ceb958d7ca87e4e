// Scheduled jobs, loaded at the first use. The gateway replaces the deliverer by its own.
import type { Deliverer } from "../core/job.ts";
import type { Cron, JobRepository } from "../cron/job-repository.ts";

export interface CronLoaders {
  /** The deliverer until `deliverBy` replaces it. */
  deliverer(): Promise<Deliverer>;
  repository(): Promise<JobRepository>;
  cron(repository: JobRepository): Promise<Cron>;
}

export class LazyCron {
  #loaders: CronLoaders | undefined;
  #deliverer: Promise<Deliverer> | undefined;
  #repository: Promise<JobRepository> | undefined;
  #cron: Promise<Cron> | undefined;

  /** Must be called before the first use. */
  loadWith(loaders: CronLoaders): void {
    this.#loaders = loaders;
  }

  get #load(): CronLoaders {
    if (this.#loaders === undefined) throw new Error("Scheduled jobs were used before the program was open.");
    return this.#loaders;
  }

  deliverer(): Promise<Deliverer> {
    this.#deliverer ??= this.#load.deliverer();
    return this.#deliverer;
  }

  /** Results are delivered by this one from now on. */
  deliverBy(deliverer: Deliverer): void {
    this.#deliverer = Promise.resolve(deliverer);
  }

  /** The jobs, without the means to run them. */
  repository(): Promise<JobRepository> {
    this.#repository ??= this.#load.repository();
    return this.#repository;
  }

  open(): Promise<Cron> {
    this.#cron ??= this.repository().then((repository) => this.#load.cron(repository));
    return this.#cron;
  }

  /** Interrupts the runs of this process; the ledger records their end. */
  async close(): Promise<void> {
    await (await this.#cron)?.scheduler.stop();
    (await this.#repository)?.close();
  }
}
