// Opens the scheduled jobs of a home, the means to run them, and the tool by which a conversation reaches them.
import { join } from "node:path";
import type { Config } from "../core/config/config.ts";
import type { ConversationOptions } from "../core/conversation.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import type { Deliverer, JobLedger } from "../core/job.ts";
import type { Tool } from "../core/tool.ts";
import type { Cron, JobRepository } from "../cron/job-repository.ts";
import type { Owners } from "../cron/owner.ts";
import { privateDatabase } from "../home/home-layout.ts";
import { nearest } from "../lib/nearest.ts";
import { toolNames } from "../tools/tool-selection.ts";
import type { App } from "./app.ts";
import type { Services } from "./services.ts";

export interface JobRepositoryOptions {
  readonly home: Home;
  readonly config: Config;
  deliverer(): Promise<Deliverer>;
}

const TICKER_SILENT_MS = 180_000;

type Rule = (text: string) => string | undefined;

/** `hostile` for the whole text of a run; `wish` for a prompt, which whoever writes it can write without hidden characters. */
async function scanRules(): Promise<{ readonly hostile: Rule; readonly options: Rule }> {
  const { scanText } = await import("../security/injection-scan.ts");
  const hostile: Rule = (text) => {
    const { verdict, findings } = scanText(text, { kind: "cron" });
    if (verdict !== "hostile") return undefined;
    return findings.find((finding) => finding.severity === "high")?.rule ?? findings[0]?.rule ?? "suspicious";
  };
  const hidden: Rule = (text) =>
    scanText(text, { kind: "cron" }).findings.find(({ rule }) => rule === "invisible_unicode")?.rule;
  return { hostile, options: (text) => hostile(text) ?? hidden(text) };
}

/** The configured zone when it exists, else that of the machine. */
async function zoneOf(config: Config): Promise<{ readonly zone: string; readonly problem?: string | undefined }> {
  const { hostZone, isZone } = await import("../cron/zone.ts");
  const named = config.timezone.trim();
  if (named === "") return { zone: hostZone() };
  if (isZone(named)) return { zone: named };
  const zone = hostZone();
  return { zone, problem: `"${named}" is not a time zone; jobs go by ${zone}. Correct it: hermes config set timezone` };
}

function tickerProblem(ledger: JobLedger, owners: Owners, now: () => number): () => Promise<string | undefined> {
  return async () => {
    const alive = (await ledger.signs()).filter(
      (sign) => now() - sign.tickedAt < TICKER_SILENT_MS && owners.lives(sign.owner) !== "no",
    );
    const [newest] = alive;
    if (!newest) return "Nothing runs jobs at the moment. Start: hermes gateway run (or call: hermes cron tick)";
    return alive.every((sign) => sign.failure !== "") ? `Jobs are not run: ${newest.failure}` : undefined;
  };
}

export async function openJobRepository(
  sources: JobRepositoryOptions,
  now: () => number = Date.now,
): Promise<JobRepository> {
  const { home, config } = sources;
  const [
    { JobFile },
    { JobActions },
    { RemovedJobs },
    { processOwner },
    { createCronLedger },
    { openRuntimeDbOrView },
  ] = await Promise.all([
    import("../cron/job-file.ts"),
    import("../cron/job-actions.ts"),
    import("../cron/removed-jobs.ts"),
    import("../cron/owner.ts"),
    import("../store/runtime/cron-ledger.ts"),
    import("../store/runtime-db.ts"),
  ]);
  const [{ options: scan }, { zone, problem: zoneProblem }, sets] = await Promise.all([
    scanRules(),
    zoneOf(config),
    import("../tools/toolsets.ts"),
  ]);
  const folder = join(home.path, "cron");
  const output = join(folder, "output");
  const file = new JobFile(folder, () => zone);
  const ledger = createCronLedger(() => openRuntimeDbOrView(privateDatabase(home, "runtime.db")));
  const owners = processOwner();
  const { scriptsFolder } = await import("../cron/script.ts");
  const checks = {
    zone: () => zone,
    scripts: scriptsFolder(home.path),
    deliverer: () => sources.deliverer(),
    scan,
    checkToolsets: (names: readonly string[]) => {
      for (const name of names) refuseTypo(name, sets);
    },
    mainProvider: () => mainProvider(config),
  };
  return {
    file,
    ledger,
    owners,
    output,
    actions: new JobActions({ file, removed: new RemovedJobs(folder, now), checks, output, now }),
    zone: () => zone,
    zoneProblem,
    tickerProblem: tickerProblem(ledger, owners, now),
    close: () => ledger.close(),
  };
}

function mainProvider(config: Config): string | undefined {
  const named = config.model.provider;
  return named === "" || named === "auto" || named === "custom" ? undefined : named;
}

type Toolsets = typeof import("../tools/toolsets.ts");

/** Plugins and servers bring toolsets that are not known yet: only a name that is nearly a known one is refused. */
function refuseTypo(name: string, { isToolset, TOOLSETS }: Toolsets): void {
  const guess = isToolset(name) ? undefined : nearest(name, Object.keys(TOOLSETS));
  if (guess === undefined) return;
  throw new UserError(`There is no toolset "${name}"; did you mean "${guess}"?`, {
    hint: "See: hermes tools list --all",
    exitCode: 2,
  });
}

/** The book and the means to run jobs in conversations of the given program. */
export async function openCron(
  app: App,
  services: Services,
  repository: JobRepository,
  now: () => number = Date.now,
): Promise<Cron> {
  const [{ Scheduler }, { CronTicker }, { runJobParts }, { runJob, sendAlert }, { hostile: scan }] = await Promise.all([
    import("../cron/scheduler.ts"),
    import("../cron/ticker.ts"),
    import("../cron/run-agent-job.ts"),
    import("../cron/run-job.ts"),
    scanRules(),
  ]);
  const { file, ledger, owners, zone, output } = repository;
  const parts = runJobParts(app, services, { output, zone, now, scan });
  const notice = (text: string) => services.notice(text);
  const scheduler = new Scheduler({
    ...{ file, ledger, owners, zone, now, notice },
    run: async (job, run, signal) => {
      // Months may lie between two runs: a key that was changed meanwhile counts.
      await app.refreshEnv();
      return runJob(job, run, parts, signal);
    },
    alert: (run, job) => sendAlert(run, job, parts),
    maxParallel: Number(app.config.cron.max_parallel_jobs) || 0,
  });
  if (repository.zoneProblem !== undefined) notice(repository.zoneProblem);
  const flush = async () => (await services.cron.deliverer()).flush?.();
  return { ...repository, scheduler, flush, ticker: () => new CronTicker({ scheduler, ledger, owners, now, notice }) };
}

/** The cronjob tool of one conversation; the jobs are opened at its first call. */
export async function cronToolFor(services: Services, options: ConversationOptions): Promise<Tool> {
  const [{ cronjobTool }, { jobReach }] = await Promise.all([
    import("../cron/cronjob-tool.ts"),
    import("../cron/job-reach.ts"),
  ]);
  const { human, platform } = options;
  const own = toolNames(services.config, { human, ...(platform ? { platform } : {}) }, new Map());
  const chat = {
    // Scripts of the home are the owner's. A shared chat goes on with somebody else's turn: asked at each call.
    scripts: () => own.includes("terminal") && !human?.guest,
    ...(options.origin ? { origin: options.origin } : {}),
    ...(options.userId ? { tenant: options.userId } : {}),
  };
  return cronjobTool({
    actions: async () => (await services.cron.repository()).actions,
    gate: services.gate,
    reach: jobReach(chat, () => services.cron.deliverer()),
    tickerProblem: async () => (await services.cron.repository()).tickerProblem(),
  });
}
