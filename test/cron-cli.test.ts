// `hermes cron` end to end.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";

let home: TempHome;
beforeEach(() => {
  home = tempHome();
});
afterEach(() => home.remove());

const hermes = (...args: string[]) => runHermes(["cron", ...args], { home: home.path, env: { TZ: "UTC" } });

it("creates a job, runs it with a receipt, shows its history and removes it", async () => {
  mkdirSync(join(home.path, "scripts"));
  writeFileSync(join(home.path, "scripts", "hello.sh"), "echo hello from the script\n");
  const made = await hermes(
    "create",
    "0 9 * * 1-5",
    "--script",
    "hello.sh",
    "--no-agent",
    "--name",
    "Hello",
    "--tz",
    "Asia/Tokyo",
    "--json",
  );
  expect(made.stderr).toBe("");
  const job = JSON.parse(made.stdout);
  expect(job).toMatchObject({ name: "Hello", deliver: "local", schedule: { tz: "Asia/Tokyo" } });
  expect(job.next_run_at).toMatch(/T09:00:00\+09:00$/);
  const before = readFileSync(join(home.path, "cron", "jobs.json"), "utf8");
  const [list, next, status] = await Promise.all([
    hermes("list"),
    hermes("next", "-n", "3", "--json"),
    hermes("status"),
  ]);
  expect(list.stdout).toContain("Hello");
  expect(list.stdout).toContain("No process runs jobs");
  expect(JSON.parse(next.stdout)).toHaveLength(3);
  expect(status.stdout).toContain("1 of 1 jobs are active");
  expect(readFileSync(join(home.path, "cron", "jobs.json"), "utf8")).toBe(before);
  const run = await hermes("run", "hello");
  expect(run.code).toBe(0);
  expect(run.stdout).toContain("ran");
  const document = /Document: (\S+)/.exec(run.stdout)?.[1] ?? "";
  expect(readFileSync(document, "utf8")).toContain("hello from the script");
  expect(JSON.parse((await hermes("history", "--json")).stdout)).toMatchObject([{ state: "ran", trigger: "manual" }]);
  expect((await hermes("pause", "Hello", "--reason", "holiday")).stdout).toContain("Paused");
  expect((await hermes("remove", job.id)).stdout).toContain("Removed");
  expect((await hermes("list")).stdout).toContain("No scheduled jobs");
});

it("runs a script in TypeScript", async () => {
  mkdirSync(join(home.path, "scripts"));
  const script =
    'import { basename } from "node:path";\nconst count: number = 3;\nconsole.log(basename("/a/b"), count);\n';
  writeFileSync(join(home.path, "scripts", "count.ts"), script);
  await hermes("create", "every 1d", "--script", "count.ts", "--no-agent", "--name", "Count");
  const run = JSON.parse((await hermes("run", "Count", "--json")).stdout);
  expect(run).toMatchObject({ state: "ran", reason: null });
  expect(readFileSync(run.document, "utf8")).toContain("b 3");
});

it("reports the reason of a failed run once, in its receipt", async () => {
  mkdirSync(join(home.path, "scripts"));
  writeFileSync(join(home.path, "scripts", "bad.sh"), "echo broken >&2; exit 3\n");
  await hermes("create", "every 1d", "--script", "bad.sh", "--no-agent", "--name", "Bad");
  const run = await hermes("run", "Bad");
  expect(run.code).toBe(1);
  expect(`${run.stdout}${run.stderr}`.match(/ended with code 3/g)).toHaveLength(1);
  expect(run.stdout).toContain("broken");
});

it("prints a hint for what it cannot do", async () => {
  const results = await Promise.all([
    hermes("create", "sometimes", "x"),
    hermes("create", "1h", "x", "--deliver", "telegram"),
    hermes("pause", "nobody"),
  ]);
  expect(results.map((result) => result.code)).toEqual([2, 2, 2]);
  expect(results[0]?.stderr).toContain("every 30m");
  expect(results[1]?.stderr).toContain("telegram");
  expect(results[2]?.stderr).toContain("hermes cron list");
});

it("keeps every field that it is given, and clears what is empty", async () => {
  mkdirSync(join(home.path, "scripts"));
  writeFileSync(join(home.path, "scripts", "look.py"), "print(1)\n");
  const other = JSON.parse((await hermes("create", "every 1d", "Other", "--json")).stdout);
  const made = await hermes(
    ...["create", "every 2h", "Look", "--repeat", "3", "--skill", "one", "--skill", "two", "--script", "look.py"],
    ...["--workdir", home.path, "--model", "m", "--provider", "openrouter", "--base-url", "http://127.0.0.1:9/v1"],
    ...["--context-from", other.id, "--toolset", "web", "--toolset", "file", "--catch-up", "all"],
    ...["--catch-up-limit", "4", "--name", "Full", "--json"],
  );
  expect(JSON.parse(made.stdout)).toMatchObject({
    repeat: { times: 3, completed: 0 },
    skills: ["one", "two"],
    skill: "one",
    script: "look.py",
    workdir: home.path,
    model: "m",
    provider: "openrouter",
    base_url: "http://127.0.0.1:9/v1",
    context_from: [other.id],
    enabled_toolsets: ["web", "file"],
    catch_up: "all",
    catch_up_limit: 4,
  });
  const cleared = await hermes(
    ...["edit", "full", "--clear-skills", "--add-skill", "three", "--script", "", "--workdir", "", "--model", ""],
    ...["--provider", "", "--base-url", "", "--context-from", "", "--toolset", "", "--repeat", "0", "--json"],
  );
  expect(JSON.parse(cleared.stdout)).toMatchObject({
    ...{ repeat: { times: null }, skills: ["three"], skill: "three", script: null, workdir: null, model: null },
    ...{ provider: null, base_url: null, context_from: null, enabled_toolsets: null },
  });
});

it("removes control characters from names that come from a prompt", async () => {
  const prompt = "First line\nsecond \u001b]0;title\u0007\u001b[31mred line, long enough to be cut off at fifty";
  const made = await hermes("create", "1h", prompt);
  const list = await hermes("list");
  expect(made.stdout).toContain("name      First line second ]0;title [31mred line");
  for (const shown of [made.stdout, list.stdout]) {
    expect(shown).not.toContain("\u001b]");
    expect(shown).not.toContain("\u0007");
  }
});

it("refuses changes without effect and changes that leave a job without a task", async () => {
  const made = JSON.parse((await hermes("create", "1h", "Do it", "--name", "Once", "--json")).stdout);
  const results = await Promise.all([
    hermes("edit", "Once"),
    hermes("edit", "Once", "--prompt", ""),
    hermes("edit", "Once", "--tz", "Europe/Berlin"),
    hermes("history", "Twice"),
  ]);
  expect(results.map((result) => result.code)).toEqual([2, 2, 2, 2]);
  const said = ["what should change", "a prompt, a skill or a script", "has no zone", 'no job "Twice"'];
  said.forEach((text, at) => {
    expect(results[at]?.stderr).toContain(text);
  });
  const { jobs } = JSON.parse(readFileSync(join(home.path, "cron", "jobs.json"), "utf8"));
  expect(jobs).toEqual([made]);
});

it("lists jobs of a file that another program damaged, with the error of each", async () => {
  writeFileSync(join(home.path, "config.yaml"), "timezone: Mars/Base\n");
  mkdirSync(join(home.path, "cron"));
  const broken = [
    { id: "a".repeat(12), name: "Field", schedule: { kind: "cron", expr: "99 * * * *" }, next_run_at: "2020-01-01" },
    { id: "b".repeat(12), name: "Zone", schedule: { kind: "cron", expr: "0 9 * * *", tz: "Mars/Base" } },
    { id: "c".repeat(12), name: "Minutes", schedule: { kind: "interval", minutes: "soon" } },
    { id: "d".repeat(12), name: "Nothing", next_run_at: "2999-01-01T00:00:00Z" },
  ];
  writeFileSync(join(home.path, "cron", "jobs.json"), JSON.stringify({ jobs: broken }));
  const [list, next, status] = await Promise.all([hermes("list"), hermes("next"), hermes("status")]);
  // No process runs the jobs.
  expect([list.code, next.code, status.code]).toEqual([0, 0, 1]);
  expect(list.stderr).toContain('"Mars/Base" is not a time zone; jobs use UTC');
  expect(next.stdout).toContain("Nothing is due");
  expect((await hermes("tick")).stdout).toBe("0 run, 3 missed, 0 abandoned.\n");
  const after = await hermes("status");
  for (const name of ["Field", "Zone", "Minutes"]) expect(after.stdout).toContain(`Stopped by an error: ${name}`);
  const resumed = await Promise.all(broken.map(({ id }) => hermes("resume", id)));
  for (const { code, stderr } of resumed) {
    expect(code).toBe(1);
    expect(stderr).toContain("hermes cron edit ID --schedule WHEN");
  }
  expect((await hermes("edit", "Field", "--schedule", "every 2h")).code).toBe(0);
});

it("counts every run of a tick, and says how many failed", async () => {
  mkdirSync(join(home.path, "scripts"));
  mkdirSync(join(home.path, "cron"));
  writeFileSync(join(home.path, "scripts", "bad.sh"), "exit 1\n");
  const at = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const job = {
    id: "a".repeat(12),
    name: "Bad",
    script: "bad.sh",
    no_agent: true,
    schedule: { kind: "interval", minutes: 1440, display: "every 1d" },
    next_run_at: at(2.5),
    catch_up: "all",
    repeat: { times: 3, completed: 0 },
  };
  writeFileSync(join(home.path, "cron", "jobs.json"), JSON.stringify({ jobs: [job] }));
  expect((await hermes("tick")).stdout).toBe("3 run (3 failed), 0 missed, 0 abandoned.\n");
  const again = await hermes("resume", "Bad");
  expect(again.stderr).toContain("has run 3 of 3 times");
  await hermes("edit", "Bad", "--repeat", "5");
  expect((await hermes("resume", "Bad")).code).toBe(0);
});

it("shows the jobs of a home that may only be read, and says why it changes nothing", async () => {
  await hermes("create", "every 1h", "Look", "--name", "Look");
  const fresh = tempHome();
  const places = [home.path, fresh.path];
  // File modes do not restrict root, so the program then runs as another user.
  const user = process.getuid?.() === 0 ? { uid: 65534 } : {};
  for (const place of places) spawnSync("chmod", ["-R", "a+rX,a-w", place]);
  try {
    const as = (place: string, ...args: string[]) => runHermes(["cron", ...args], { home: place, ...user });
    const looks = await Promise.all(
      places.flatMap((place) => [["list"], ["status"], ["history"], ["next"]].map((args) => as(place, ...args))),
    );
    // `status` of the home with a job: no process runs it.
    expect(looks.map(({ code }) => code)).toEqual([0, 1, 0, 0, 0, 0, 0, 0]);
    expect(looks[0]?.stdout).toContain("Look");
    const changes = await Promise.all([
      as(home.path, "pause", "Look"),
      as(home.path, "remove", "Look"),
      as(home.path, "run", "Look"),
      as(home.path, "create", "1h", "x"),
    ]);
    for (const { code, stderr } of changes) {
      expect(code).toBe(1);
      expect(stderr).toContain("is not writable");
      expect(stderr).not.toContain("unexpected");
    }
  } finally {
    for (const place of places) spawnSync("chmod", ["-R", "u+w", place]);
    fresh.remove();
  }
});

it("records a run whose process was killed as abandoned, reports it once, and does not start it again", async () => {
  const marker = join(home.path, "began");
  mkdirSync(join(home.path, "scripts"));
  writeFileSync(join(home.path, "scripts", "slow.sh"), `echo x >> ${marker}\nsleep 60\n`);
  await hermes("create", "every 1d", "--script", "slow.sh", "--no-agent", "--name", "Slow");
  const env = { PATH: process.env.PATH ?? "", HOME: home.path, HERMES_HOME: home.path };
  const child = spawn(process.execPath, [hermesProgram(), "cron", "run", "Slow"], { env, stdio: "ignore" });
  while (!existsSync(marker)) await sleep(20);
  expect((await hermes("list")).stdout).toContain("running");
  child.kill("SIGKILL");
  await once(child, "exit");
  const [first, second] = [await hermes("tick"), await hermes("tick")];
  expect(first.stderr).toContain('The scheduled job "Slow" was cut off');
  expect(second.stderr).toBe("");
  const history = JSON.parse((await hermes("history", "--json")).stdout);
  expect(history).toMatchObject([{ state: "abandoned", alert: "sent" }]);
  expect(readFileSync(marker, "utf8")).toBe("x\n");
  expect((await hermes("list")).stdout).toContain("scheduled");
});
