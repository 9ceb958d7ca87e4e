// Opens the program, or a part of it, for one command and closes it afterwards: platforms, deliveries and scheduled jobs.

import type { Platform } from "../core/chat/platform.ts";
import { readPlatformSettings } from "../core/chat/platform-settings.ts";
import type { Home } from "../core/home.ts";
import type { Deliverer } from "../core/job.ts";
import type { Review } from "../core/review.ts";
import type { Cron, JobRepository } from "../cron/api.ts";
import * as setup from "../delivery/api/platform-setup.ts";
import type { App } from "./app.ts";
import { type OpenAppOptions, openApp } from "./compose.ts";
import { openDeliverer } from "./open-delivery.ts";
import { allPlatforms } from "./platforms.ts";

async function withApp<T>(home: Home, work: (app: App) => Promise<T>, options?: OpenAppOptions): Promise<T> {
  const app = await openApp(home, options);
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

function withPlatforms<T>(home: Home, work: (platforms: readonly Platform[], app: App) => Promise<T> | T): Promise<T> {
  return withApp(home, async (app) => work(await allPlatforms(app), app));
}

/** Opens the program, runs `work` with its deliverer and closes the program. */
export function withDeliverer<T>(home: Home, work: (deliverer: Deliverer) => T | Promise<T>): Promise<T> {
  return withApp(home, async (app) => work(await openDeliverer(app)));
}

export function platformStates(home: Home): Promise<readonly setup.PlatformState[]> {
  return withPlatforms(home, (platforms, app) =>
    platforms.map((platform) =>
      setup.describePlatform(platform, readPlatformSettings(app, platform.name, platform.settings)),
    ),
  );
}

export function checkPlatform(home: Home, name: string): Promise<setup.PlatformCheck> {
  return withPlatforms(home, async (platforms, app) => {
    const platform = platforms.find((each) => each.name === name);
    if (!platform) return { ok: false, reason: `there is no platform "${name}"` };
    const settings = readPlatformSettings(app, name, platform.settings);
    const check = await setup.checkPlatform(platform, settings, home.path);
    return check.ok ? check : { ok: false, reason: app.redact(check.reason) };
  });
}

/** Opens the jobs for `work` without the means to run or deliver them, and closes them afterwards. */
export async function withJobs<T>(home: Home, work: (repository: JobRepository) => Promise<T>): Promise<T> {
  const [{ openJobRepository }, { openSettings }] = await Promise.all([
    import("./open-cron.ts"),
    import("../config/api.ts"),
  ]);
  const { config } = await openSettings(home).load();
  const deliverer = () => Promise.reject(new Error("this command delivers nothing"));
  const repository = await openJobRepository({ home, config, deliverer });
  try {
    return await work(repository);
  } finally {
    repository.close();
  }
}

/** Records the user's decision about a cloned project. Returns its folder; undefined when it has no remote. */
export async function decideProjectTrust(home: Home, path: string, trusted: boolean): Promise<string | undefined> {
  const [{ identifyProject }, { openReviewData }] = await Promise.all([
    import("../security/project-trust.ts"),
    import("./open-store.ts"),
  ]);
  const project = await identifyProject(path);
  if (!project || project.remote === "") return undefined;
  const none = { toolResults: async () => [], getMeta: async () => null, ancestors: async () => [] };
  const data = openReviewData(home, none, { redact: (text) => text });
  try {
    await data.projects.record(project.folder, project.remote, { trusted, decidedBy: "user" });
  } finally {
    data.close();
  }
  return project.folder;
}

/** Opens the program, runs `work` with the proposed changes and closes the program. */
export function withReview<T>(home: Home, work: (review: Review) => Promise<T>): Promise<T> {
  return withApp(home, async (app) => work(await app.review()));
}

/** Opens the whole app for `work`, so that jobs can be run and checked against platforms, and closes it afterwards. */
export function withCron<T>(
  home: Home,
  options: { onNotice(text: string): void },
  work: (cron: Cron) => Promise<T>,
): Promise<T> {
  return withApp(home, async (app) => work(await app.cron()), options);
}

/** Starts a job in the running gateway. The id of the run; undefined when no gateway runs. */
export async function startJobInGateway(home: Home, id: string): Promise<number | undefined> {
  const [{ startInGateway }, { askGateway }] = await Promise.all([
    import("../cron/api.ts"),
    import("../gateway-control/api/control-socket.ts"),
  ]);
  return startInGateway((command, timeoutMs) => askGateway(home, command, timeoutMs), id);
}
