// Opens what `hermes cron` needs: the jobs, the whole app, or the running gateway.
import type { Home } from "../core/home.ts";
import type { Cron, JobRepository } from "../cron/api.ts";

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

/** Opens the whole app for `work`, so that jobs can be run and checked against platforms, and closes it afterwards. */
export async function withCron<T>(
  home: Home,
  options: { onNotice(text: string): void },
  work: (cron: Cron) => Promise<T>,
): Promise<T> {
  const { openApp } = await import("./compose.ts");
  const app = await openApp(home, options);
  try {
    return await work(await app.cron());
  } finally {
    await app.close();
  }
}

/** Starts a job in the running gateway. The id of the run; undefined when no gateway runs. */
export async function startJobInGateway(home: Home, id: string): Promise<number | undefined> {
  const [{ startInGateway }, { askGateway }] = await Promise.all([
    import("../cron/api.ts"),
    import("../gateway-control/api/control-socket.ts"),
  ]);
  return startInGateway((command, timeoutMs) => askGateway(home, command, timeoutMs), id);
}
