// Scripts of jobs: interpreter, exit codes, output.
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { CronFixture } from "./kit/cron-fixture.ts";

let host: CronFixture;
beforeEach(async () => {
  host = await CronFixture.start();
});
afterEach(() => host.close());

it("run by extension or first line, and their output is the message of a job without a model", async () => {
  await host.open();
  const programs = [
    ["a.sh", "echo from-shell"],
    ["b.py", "print('from-python')"],
    ["c.mjs", "import { sep } from 'node:path'; console.log('from-node' + sep);"],
    ["d.ts", "const word: string = 'from-typescript'; console.log(word);"],
    ["e", "#!/usr/bin/env bash\necho from-shebang\n"],
    ["f", "print('from-v014')\n"],
  ] as const;
  const cron = await host.app.cron();
  for (const [name, content] of programs) {
    host.script(name, content);
    const job = await cron.actions.create({ schedule: "1h", script: name, no_agent: true, deliver: "telegram" });
    expect(await cron.scheduler.runNow(job.id)).toMatchObject({ state: "ran", sessionId: null });
  }
  const said = host.sent.map(({ message }) => /from-\w+/.exec(message.text)?.[0]);
  expect(said).toEqual(["from-shell", "from-python", "from-node", "from-typescript", "from-shebang", "from-v014"]);
  expect(host.llm.requests).toEqual([]);
});

it("deliver nothing with empty output, and can skip the model", async () => {
  await host.open();
  host.script("quiet.sh", "true\n");
  host.script("gate.sh", "echo found nothing\necho '{\"wakeAgent\": false}'\n");
  host.script("silent.sh", "echo 'all well [silent]'\n");
  const cron = await host.app.cron();
  const quiet = await cron.actions.create({
    schedule: "every 1h",
    script: "quiet.sh",
    no_agent: true,
    deliver: "telegram",
  });
  const gated = await cron.actions.create({
    schedule: "every 1h",
    script: "gate.sh",
    prompt: "Look.",
    deliver: "telegram",
  });
  const silent = await cron.actions.create({
    schedule: "every 1h",
    script: "silent.sh",
    no_agent: true,
    deliver: "telegram",
  });
  expect((await cron.scheduler.runNow(quiet.id)).state).toBe("ran");
  expect((await cron.scheduler.runNow(gated.id)).state).toBe("ran");
  expect((await cron.scheduler.runNow(silent.id)).state).toBe("ran");
  expect(host.sent).toEqual([]);
  expect(host.llm.requests).toEqual([]);
});

it("are ended with all their children when they take too long", async () => {
  await host.open("", { HERMES_CRON_SCRIPT_TIMEOUT: "1" });
  const marker = join(host.home.path, "late");
  host.script("slow.sh", `(sleep 3; touch ${marker}) &\nsleep 30\n`);
  const cron = await host.app.cron();
  const job = await cron.actions.create({
    schedule: "every 1h",
    script: "slow.sh",
    no_agent: true,
    deliver: "telegram",
  });
  const run = await cron.scheduler.runNow(job.id);
  expect(run.reason).toContain("longer than 1 s");
  expect(host.sent[0]?.message.text).toContain("failed");
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(existsSync(marker)).toBe(false);
});

it("end with their own process, even when they left a program in the background", async () => {
  await host.open();
  const pid = join(host.home.path, "pid");
  host.script(
    "start.sh",
    `setsid sh -c 'echo $$ > ${pid}; exec sleep 600' &\nwhile [ ! -s ${pid} ]; do sleep 0.05; done\necho started\n`,
  );
  const cron = await host.app.cron();
  const job = await cron.actions.create({
    schedule: "every 1h",
    script: "start.sh",
    no_agent: true,
    deliver: "telegram",
  });
  try {
    expect((await cron.scheduler.runNow(job.id)).state).toBe("ran");
    expect(host.sent[0]?.message.text).toContain("started");
  } finally {
    process.kill(Number(readFileSync(pid, "utf8")));
  }
});

it("report exit code, errors and output when they fail, without secrets", async () => {
  await host.open("", { OPENAI_API_KEY: "sk-abcdefghijklmnopqrstuvwxyz0123456789" });
  host.script("bad.sh", 'echo partial; echo "key $OPENAI_API_KEY" >&2; exit 3\n');
  const cron = await host.app.cron();
  const job = await cron.actions.create({ schedule: "every 1h", script: "bad.sh", no_agent: true });
  const run = await cron.scheduler.runNow(job.id);
  expect(run.reason).toContain("code 3");
  expect(run.reason).toContain("partial");
  expect(run.reason).not.toContain("abcdefghijklmnop");
  expect(host.notices.join()).toContain("failed");
});

it("outside the folder are refused, also through links", async () => {
  await host.open();
  host.script("ok.sh", "true");
  writeFileSync(join(host.home.path, "outside.sh"), "echo out");
  chmodSync(join(host.home.path, "outside.sh"), 0o755);
  symlinkSync(join(host.home.path, "outside.sh"), join(host.home.path, "scripts", "link.sh"));
  const { actions } = await host.app.cron();
  for (const name of ["../outside.sh", join(host.home.path, "outside.sh"), "link.sh", "absent.sh"])
    await expect(actions.create({ schedule: "1h", script: name, no_agent: true })).rejects.toThrow(/script/);
});
