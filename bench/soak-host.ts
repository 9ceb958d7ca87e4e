// The gateway of the soak, with its workers, in a process whose scheduler uses a simulated clock.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openGateway } from "../src/app/open-gateway.ts";
import { Gateway } from "../src/gateway/control/gateway.ts";
import { openHome } from "../src/home/api.ts";

export interface Sample {
  readonly heap: number;
  readonly rss: number;
  /** Counts open files and pipes. */
  readonly fds: number;
  readonly sockets: number;
  readonly threads: number;
  readonly children: number;
  readonly openAgents: number;
  readonly waiting: number;
}

export type Order = { readonly ticks: number } | { readonly job: string } | "sample" | "stop";
export type Report = { readonly sample: Sample } | { readonly done: string } | { readonly log: string };

const MINUTE = 60_000;

/** The target of a descriptor; empty when it was closed in the meantime. */
function targetOf(id: string): string {
  try {
    return readlinkSync(join("/proc/self/fd", id));
  } catch {
    return "";
  }
}

function ownCounts(): Pick<Sample, "fds" | "sockets" | "threads" | "children"> {
  const tasks = readdirSync("/proc/self/task");
  const children = tasks.flatMap((id) =>
    readFileSync(join("/proc/self/task", id, "children"), "utf8")
      .split(" ")
      .filter(Boolean),
  );
  const targets = readdirSync("/proc/self/fd").map(targetOf).filter(Boolean);
  const sockets = targets.filter((target) => target.startsWith("socket:")).length;
  return { fds: targets.length - sockets, sockets, threads: tasks.length, children: children.length };
}

/** Runs until it receives the stop message. */
export async function runSoakHost(): Promise<void> {
  const tell = (report: Report) => void process.send?.(report);
  const { home } = openHome([], {
    env: process.env,
    cwd: process.cwd(),
    platform: process.platform,
    homedir: process.env.HOME ?? process.cwd(),
  });
  const opened = await openGateway(home, { host: "worker", onNotice: (log) => tell({ log }) });
  // Fewer open conversations than chats: they are closed and opened again all the time.
  const gateway = new Gateway(opened, {
    log: (level, text) => level !== "info" && tell({ log: `${level}: ${text}` }),
    agents: { most: 60, idleMs: 5_000 },
    choresMs: 2_000,
  });
  await gateway.start();
  const realNow = Date.now;
  let simulated = Math.ceil(realNow() / MINUTE) * MINUTE;
  // The scheduler keeps the clock that is set when it opens; everything else uses the real clock.
  Date.now = () => simulated;
  const cron = await opened.app.cron();
  Date.now = realNow;

  const sample = async (): Promise<Sample> => {
    await sleep(300);
    globalThis.gc?.();
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    const { openAgents, mailbox } = await gateway.status();
    return { heap: heapUsed, rss, openAgents, waiting: mailbox.inbox + mailbox.outbox, ...ownCounts() };
  };
  const obey = async (order: Order): Promise<void> => {
    if (order === "sample") return tell({ sample: await sample() });
    if (order === "stop") {
      await gateway.stop(5_000);
      await opened.close();
      tell({ done: "stop" });
      return process.disconnect();
    }
    if ("job" in order) {
      await cron.actions.create(JSON.parse(order.job));
      return tell({ done: "job" });
    }
    for (let tick = 0; tick < order.ticks; tick++) {
      simulated += MINUTE;
      await cron.scheduler.tick();
      await cron.scheduler.idle();
    }
    tell({ done: "ticks" });
  };
  let work = Promise.resolve();
  process.on("message", (order) => {
    work = work
      .then(() => obey(order as Order))
      .catch((error: unknown) => tell({ log: `error: ${error instanceof Error ? error.stack : String(error)}` }));
  });
  tell({ done: "start" });
}
