// Opens the scheduled jobs of a home, the scheduler that runs them, and the cronjob tool of a conversation.
import { join } from "node:path";
import type { Config } from "../core/config/config.ts";
import type { ConversationOptions } from "../core/conversation.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import { absentHuman } from "../core/human.ts";
import type { Deliverer, JobLedger } from "../core/job.ts";
import type { Tool } from "../core/tool/tool.ts";
import type { Cron, JobRepository } from "../cron/job-repository.ts";
import type { JobHost } from "../cron/run/job-host.ts";
import type { Owners } from "../cron/run/owner.ts";
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

const TICKER_TIMEOUT_MS = 180_000;

/** The rule that a text violates; undefined when it violates none. */
type FindViolation = (text: string) => string | undefined;

/** `run` checks the whole text of a run; `prompt` checks the prompt of a new job, which must not have hidden characters either. */
async function scanRules(): Promise<{ readonly run: FindViolation; readonly prompt: FindViolation }> {
  const { scanText } = await import("../security/injection-scan.ts");
  const run: FindViolation = (text) => {
    const { verdict, findings } = scanText(text, { kind: "cron" });
    if (verdict !== "hostile") return undefined;
    return findings.find((finding) => finding.severity === "high")?.rule ?? findings[0]?.rule ?? "suspicious";
  };
  const hidden: FindViolation = (text) =>
    scanText(text, { kind: "cron" }).findings.find(({ rule }) => rule === "invisible_unicode")?.rule;
  return { run, prompt: (text) => run(text) ?? hidden(text) };
}

/** The configured time zone when it is valid, else that of the machine. */
async function resolveZone(config: Config): Promise<{ readonly zone: string; readonly problem?: string | undefined }> {
  const { hostZone, isZone } = await import("../cron/schedule/zone.ts");
  const named = config.timezone.trim();
  if (named === "") return { zone: hostZone() };
  if (isZone(named)) return { zone: named };
  const zone = hostZone();
  return { zone, problem: `"${named}" is not a time zone; jobs use ${zone}. Correct it: hermes config set timezone` };
}

function tickerProblem(ledger: JobLedger, owners: Owners, now: () => number): () => Promise<string | undefined> {
  return async () => {
    const alive = (await ledger.listHeartbeats()).filter(
      (sign) => now() - sign.tickedAt < TICKER_TIMEOUT_MS && owners.lives(sign.owner) !== "no",
    );
    const [newest] = alive;
    if (!newest) return "No process runs jobs at the moment. Start: hermes gateway run (or call: hermes cron tick)";
    return alive.every((sign) => sign.failure !== "") ? `Jobs are not run: ${newest.failure}` : undefined;
  };
}

export async function openJobRepository(
  options: JobRepositoryOptions,
  now: () => number = Date.now,
): Promise<JobRepository> {
  const { home, config } = options;
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
    import("../cron/run/owner.ts"),
    import("../store/runtime/cron-ledger.ts"),
    import("../store/runtime-db.ts"),
  ]);
  const [{ prompt: scan }, { zone, problem: zoneProblem }, sets] = await Promise.all([
    scanRules(),
    resolveZone(config),
    import("../tools/toolsets.ts"),
  ]);
  const folder = join(home.path, "cron");
  const output = join(folder, "output");
  const file = new JobFile(folder, () => zone);
  const ledger = createCronLedger(() => openRuntimeDbOrView(privateDatabase(home, "runtime.db")));
  const owners = processOwner();
  const { scriptsFolder } = await import("../cron/run/script.ts");
  const checks = {
    zone: () => zone,
    scripts: scriptsFolder(home.path),
    deliverer: () => options.deliverer(),
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

/** Toolsets of plugins and MCP servers are not known yet, so only a name similar to a known one is rejected. */
function refuseTypo(name: string, { isToolset, TOOLSETS }: Toolsets): void {
  const guess = isToolset(name) ? undefined : nearest(name, Object.keys(TOOLSETS));
  if (guess === undefined) return;
  throw new UserError(`There is no toolset "${name}"; did you mean "${guess}"?`, {
    hint: "See: hermes tools list --all",
    exitCode: 2,
  });
}

/** The parts of the app that a run of a job uses. */
export type JobRunApp = Pick<App, "openConversation" | "skills" | "refreshSettings">;

async function openJobHost(app: JobRunApp, services: Services, jobs: JobRepository): Promise<Omit<JobHost, "now">> {
  const [{ run: scan }, { sendableFile }, { isProtected }] = await Promise.all([
    scanRules(),
    import("../delivery/api/sendable-file.ts"),
    import("../security/protected-files.ts"),
  ]);
  const { home, config, store, redactor, cron } = services;
  return {
    home,
    config,
    output: jobs.output,
    zone: jobs.zone,
    openConversation: (options) => app.openConversation(options),
    sessions: store,
    loadSkill: async (name, signal) => {
      const context = { conversationId: "", sessionId: "", human: absentHuman, signal, platform: "cron", local: false };
      return (await app.skills()).activate(name, context);
    },
    scan,
    redact: (text) => redactor.redact(text),
    deliverer: () => cron.deliverer(),
    sendableFile,
    isProtected: (path, role) => isProtected(home, path, role),
    notice: (text) => services.notice(text),
  };
}

/** The jobs with the means to run them in conversations of this app. */
export async function openCron(app: JobRunApp, services: Services, now: () => number = Date.now): Promise<Cron> {
  const [{ Scheduler }, { CronTicker }, { runJob, sendAlert }, repository] = await Promise.all([
    import("../cron/run/scheduler.ts"),
    import("../cron/run/ticker.ts"),
    import("../cron/run/run-job.ts"),
    services.cron.repository(),
  ]);
  const { file, ledger, owners, zone } = repository;
  const host: JobHost = { ...(await openJobHost(app, services, repository)), now };
  const notice = (text: string) => services.notice(text);
  const scheduler = new Scheduler({
    ...{ file, ledger, owners, zone, now, notice },
    run: async (job, run, signal) => {
      // `.env` may have changed since the last run.
      await app.refreshSettings();
      return runJob(host, job, run, signal);
    },
    alert: (run, job) => sendAlert(host, run, job),
    maxParallel: Number(services.config.cron.max_parallel_jobs) || 0,
  });
  if (repository.zoneProblem !== undefined) notice(repository.zoneProblem);
  const flush = async () => (await services.cron.deliverer()).flush?.();
  return { ...repository, scheduler, flush, ticker: () => new CronTicker({ scheduler, ledger, owners, now, notice }) };
}

/** The cronjob tool of one conversation; the jobs are opened on its first call. */
export async function cronToolFor(services: Services, options: ConversationOptions): Promise<Tool> {
  const [{ cronjobTool }, { jobReach }] = await Promise.all([
    import("../cron/cronjob-tool.ts"),
    import("../cron/job-reach.ts"),
  ]);
  const { human, platform } = options;
  const own = toolNames(services.config, { human, platform: platform || undefined }, new Map());
  const chat = {
    // Only the owner may use scripts of the home. Checked at each call: in a shared chat the user can change.
    scripts: () => own.includes("terminal") && !human?.guest,
    origin: options.origin,
    tenant: options.userId || undefined,
  };
  return cronjobTool({
    actions: async () => (await services.cron.repository()).actions,
    gate: services.gate,
    reach: jobReach(chat, () => services.cron.deliverer()),
    tickerProblem: async () => (await services.cron.repository()).tickerProblem(),
  });
}
