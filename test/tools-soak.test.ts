import { spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import { createHermes } from "../src/index.ts";
import { bundle } from "./kit/bundle.ts";
import { containerProblem } from "./kit/container-fixture.ts";
import { fullProof } from "./kit/full-proof.ts";
import { openSoak } from "./kit/soak-cycles.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { until } from "./kit/until.ts";
import { calls, hang, startFakeLlm, text } from "./servers/fake-llm.ts";

const CYCLES = fullProof ? 300 : 100;
const KILLS = 5;
const DELEGATES = fullProof ? 300 : 20;
const noContainer = await containerProblem();
const linux = process.platform === "linux";
if (!linux) process.stderr.write("skipped: the soak of processes, because it counts them in /proc\n");

/** Running processes with the marker in their environment. */
function marked(marker: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const zombie = readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
        return !zombie && readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HERMES_SOAK=${marker}`);
      } catch {
        return false;
      }
    });
}

function descriptors(): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) !== "";
    } catch {
      return false;
    }
  }).length;
}

/** Waits until the count is the same as before, within two, once ended processes are reaped. */
async function settles(count: () => number, start: number): Promise<void> {
  for (let tries = 0; tries < 100 && Math.abs(count() - start) > 2; tries++) await sleep(50);
  expect(Math.abs(count() - start), `${count()} now, ${start} at the start`).toBeLessThanOrEqual(2);
}

let host: string;
beforeAll(async () => {
  if (linux) host = await bundle("test/children/soak-host.ts");
});

/** Lets the program run for a while and kills it in the middle of its work. */
async function killedHost(marker: string, rounds: number): Promise<void> {
  // A killed program cannot remove its temporary folders; these go with the test.
  const temp = tempDir("hermes-soak-");
  const env = { ...process.env, TMPDIR: temp };
  const program = spawn(process.execPath, [host, marker], { env, stdio: ["ignore", "pipe", "inherit"] });
  const gone = new Promise<void>((resolve) => program.once("exit", () => resolve()));
  let seen = "";
  await new Promise<void>((resolve) => {
    program.stdout.on("data", (chunk) => {
      seen += chunk;
      if (seen.split("round").length > rounds) resolve();
    });
    program.once("exit", () => resolve());
  });
  await sleep(rounds * 7);
  program.kill("SIGKILL");
  await gone;
  rmSync(temp, { recursive: true, force: true });
}

it.skipIf(!linux)(
  `starts and kills ${CYCLES} process trees, with a program killed in between, and nothing is left`,
  async () => {
    const marker = `cycles-${process.pid}`;
    const soak = openSoak(marker);
    await soak.cycle(0);
    const [fds, processes] = [descriptors(), marked(marker).length];
    for (let index = 0; index < CYCLES; index += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, at) => soak.cycle(index + at + 1)));
      if (index % (CYCLES / KILLS) === 0) await killedHost(marker, 1 + ((index / 10) % 3));
    }
    await settles(() => marked(marker).length, processes);
    await settles(descriptors, fds);
    await soak.close();
    // The watcher of a pseudo-terminal looks once a second whether its program still runs.
    await until(() => marked(marker).length === 0, {
      timeoutMs: 5_000,
      describe: () => `the end of ${marked(marker)}`,
    });
  },
  60_000 + DELEGATES * 3_000,
);

it.skipIf(!linux)(
  "interrupts delegates again and again, each with a command running, and nothing is left",
  async () => {
    const marker = `delegates-${process.pid}`;
    const home = tempDir("hermes-soak-");
    const llm = await startFakeLlm({
      script: ({ body }) => {
        const sent = JSON.stringify(body);
        if (sent.includes("Task: wait for it"))
          return sent.includes('"role":"tool"')
            ? hang()
            : calls([{ name: "terminal", args: { command: "sleep 300" } }]);
        return sent.includes("delegate now")
          ? calls([{ name: "delegate_task", args: { goal: "wait for it" } }])
          : text("Fine.");
      },
    });
    const hermes = await createHermes({
      home,
      env: { PATH: process.env.PATH, HOME: home, HERMES_SOAK: marker },
      cwd: tempDir("hermes-soak-project-"),
      config: {
        model: { default: "test-model", provider: "custom", base_url: `${llm.url}/v1`, context_length: 128_000 },
        // Without a container the command would wait for an approval.
        terminal: {
          auto_source_bashrc: false,
          env_passthrough: ["HERMES_SOAK"],
          ...(noContainer ? { container: "host" } : {}),
        },
      },
    });
    try {
      const once = async () => {
        const talk = await hermes.conversation();
        const stop = new AbortController();
        const before = marked(marker).length;
        const watching = (async () => {
          let running = false;
          for (let tries = 0; tries < 400 && !running; tries++) {
            await sleep(10);
            running = marked(marker).length > before;
          }
          stop.abort();
          return running;
        })();
        const ends: unknown[] = [];
        for await (const event of talk.send("delegate now", { signal: stop.signal }))
          if (event.type === "ended") ends.push(event.end);
        expect(await watching, "the command of the delegate runs").toBe(true);
        await talk.close();
        expect(ends).toEqual(["interrupted"]);
      };
      await once();
      await settles(() => marked(marker).length, 0);
      const fds = descriptors();
      for (let round = 0; round < DELEGATES; round++) await once();
      await settles(() => marked(marker).length, 0);
      await settles(descriptors, fds);
    } finally {
      await hermes.close();
      await llm.close();
      rmSync(home, { recursive: true, force: true });
    }
  },
  60_000 + DELEGATES * 3_000,
);
