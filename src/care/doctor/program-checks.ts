// Checks that open the program: the model, tools, skills, plugins, hooks, memory, chats, the gateway and jobs.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openModelsContext } from "../../app/open-models.ts";
import type { Home } from "../../core/home.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { type Check, type Finding, good, skipped, warning, wrong } from "./check.ts";

const CALL_MS = 60_000;

function modelCheck(home: Home): Check {
  return {
    id: "model.call",
    area: "Model",
    title: "the model",
    timeoutMs: CALL_MS,
    run: async (signal) => {
      const { testModel } = await import("../../providers/api/models.ts");
      const result = await testModel(openModelsContext(home), {}, signal);
      const { identity } = result;
      if (identity.transport === "offline")
        return [warning("no model is configured: the built-in offline model answers", "hermes setup")];
      const ignored = result.notes
        .filter((note) => note.startsWith("Fallback"))
        .map((note) => warning(note, "Correct fallback_providers: hermes config edit"));
      const name = `${identity.model} (${identity.provider})`;
      if (!result.ok)
        return [
          wrong(`${name}: ${result.failure ?? "no answer"}`, result.hint ?? "hermes model test shows the details."),
          ...ignored,
        ];
      const ms = result.firstTokenMs ?? result.totalMs;
      const window = result.limits.contextLength.toLocaleString("en-US");
      return [good(`${name} answers after ${ms} ms; window ${window} tokens`), ...ignored];
    },
  };
}

function toolsCheck(home: Home): Check {
  return {
    id: "tools.available",
    area: "Tools",
    title: "tools",
    run: async () => {
      const [{ openApp }, { listToolsets }] = await Promise.all([
        import("../../app/compose.ts"),
        import("../../tools/api.ts"),
      ]);
      const app = await openApp(home);
      try {
        const tools = (await listToolsets(app, { platform: "cli", all: false })).flatMap((set) => set.tools);
        const offered = tools.filter((tool) => tool.built && tool.on);
        const missing = offered.filter((tool) => !tool.available);
        const ready = good(`${offered.length - missing.length} tools are ready`);
        if (missing.length === 0) return [ready];
        const names = missing.map((tool) => `${tool.name} (${tool.reason ?? "not available"})`).join(", ");
        return [ready, skipped(`not set up: ${names}`)];
      } finally {
        await app.close();
      }
    },
  };
}

function skillsCheck(home: Home): Check {
  return {
    id: "skills.files",
    area: "Skills, plugins, hooks",
    title: "skills",
    run: async () => {
      const [{ openOwnSkills }, { openApp }] = await Promise.all([
        import("../../app/open-skills.ts"),
        import("../../app/compose.ts"),
      ]);
      const { skills, problems, waiting } = await openOwnSkills(home, () => openApp(home)).list();
      const findings: Finding[] = problems.map(({ file, line, message, hint }) =>
        warning(`${file}, line ${line}: ${message}`, hint || `Edit ${file}`),
      );
      if (waiting.length > 0)
        findings.push(warning(`${waiting.length} changes of skills wait for your approval`, "hermes skills review"));
      return findings.length > 0 ? findings : [good(`${skills.length} skills can be read`)];
    },
  };
}

function pluginsCheck(home: Home): Check {
  return {
    id: "plugins.load",
    area: "Skills, plugins, hooks",
    title: "plugins",
    timeoutMs: 60_000,
    run: async () => {
      const { openPluginActions } = await import("../../app/plugin-actions.ts");
      const rows = await openPluginActions(home).check(() => undefined);
      const used = rows.filter(({ status }) => status === "enabled" || status === "selected");
      const findings = used.flatMap(({ key, problem, missingEnv }): Finding[] => [
        ...(problem
          ? [
              wrong(
                `the plugin ${key} does not work: ${problem}`,
                `hermes plugins update ${key}, or hermes plugins disable ${key}`,
              ),
            ]
          : []),
        ...missingEnv.map((name) => warning(`the plugin ${key} needs ${name}`, `hermes config set ${name} …`)),
      ]);
      const others = rows.filter(({ status, problem }) => problem && !["enabled", "selected"].includes(status));
      for (const { key, problem } of others)
        findings.push(warning(`the plugin ${key} could not be used: ${problem}`, `hermes plugins remove ${key}`));
      return findings.length > 0 ? findings : [good(`${used.length} plugins are enabled`)];
    },
  };
}

function hooksCheck(home: Home): Check {
  return {
    id: "hooks.shell",
    area: "Skills, plugins, hooks",
    title: "shell hooks",
    timeoutMs: 60_000,
    run: async () => {
      const { openHookActions } = await import("../../app/plugin-actions.ts");
      const { checks, problems } = await openHookActions(home).doctor();
      const findings: Finding[] = problems.map((problem) => wrong(problem, "hermes config edit"));
      for (const { event, command, problems: own } of checks)
        for (const problem of own)
          findings.push(
            warning(`the hook ${command} at ${event}: ${problem}`, "hermes hooks doctor, hermes hooks approve"),
          );
      return findings.length > 0 ? findings : [good(`${checks.length} shell hooks`)];
    },
  };
}

function memoryCheck(home: Home): Check {
  return {
    id: "memory.provider",
    area: "Memory",
    title: "memory",
    run: async () => {
      const { openMemoryActions } = await import("../../app/plugin-actions.ts");
      const { provider, state, notes } = await openMemoryActions(home).status();
      const findings: Finding[] = notes
        .filter(({ chars, limit }) => chars > limit)
        .map(({ file, chars, limit }) =>
          warning(`${file} has ${chars} of ${limit} characters`, `Shorten it: ${join(home.path, "memories", file)}`),
        );
      if (provider !== "" && state !== "ready")
        findings.push(
          wrong(`the memory provider ${provider}: ${state}`, `hermes memory setup ${provider}, or hermes memory off`),
        );
      return findings.length > 0
        ? findings
        : [good(provider === "" ? "the notes are in order" : `the notes and ${provider} are in order`)];
    },
  };
}

function platformsCheck(home: Home): Check {
  return {
    id: "chats.sign-in",
    area: "Chats and jobs",
    title: "chat platforms",
    timeoutMs: 60_000,
    run: async () => {
      const { checkPlatform, platformStates } = await import("../../app/with-app.ts");
      const states = await platformStates(home);
      const ready = states.filter((state) => state.ready);
      const half = states.filter((state) => !state.ready && state.settings.some(({ set, secret }) => set && secret));
      const signed = await Promise.all(
        ready.map(async ({ name, label }): Promise<Finding> => {
          const result = await checkPlatform(home, name);
          if (!result.ok) return wrong(`${label}: ${result.reason}`, `hermes gateway setup ${name}`);
          return good(result.account === null ? `${label} is switched on` : `${label}: signed in as ${result.account}`);
        }),
      );
      const findings = [
        ...signed,
        ...half.map(({ name, label, reason }) =>
          warning(`${label} is not complete: ${reason}`, `hermes gateway setup ${name}`),
        ),
      ];
      return findings.length > 0 ? findings : [skipped("no chat platform is set up")];
    },
  };
}

async function recordedGateway(home: Home): Promise<{ state: string; pid: number } | undefined> {
  const read = parseJson(await readFile(join(home.path, "gateway_state.json"), "utf8").catch(() => ""));
  if (!isRecord(read) || typeof read.gateway_state !== "string") return undefined;
  return { state: read.gateway_state, pid: Number(read.pid ?? 0) };
}

function gatewayCheck(home: Home): Check {
  return {
    id: "chats.gateway",
    area: "Chats and jobs",
    title: "the gateway",
    run: async () => {
      const [{ openGatewayLocks }, { isGatewayRunning }, { askGateway }, { writeState }] = await Promise.all([
        import("../../app/open-delivery.ts"),
        import("../../gateway-control/api/gateway-process.ts"),
        import("../../gateway-control/api/control-socket.ts"),
        import("../../gateway-control/api/state-file.ts"),
      ]);
      if (await isGatewayRunning(home, openGatewayLocks(home))) {
        const answer = await askGateway(home, "status");
        return [
          answer
            ? good(`the gateway runs (process ${String(answer.pid)})`)
            : wrong("the gateway holds its lock and does not answer", "hermes gateway restart"),
        ];
      }
      const recorded = await recordedGateway(home);
      if (recorded && !["stopped", "startup_failed"].includes(recorded.state))
        return [
          warning(
            `the gateway ended unexpectedly (process ${recorded.pid})`,
            "See hermes logs gateway, then: hermes gateway start",
            async () => {
              await writeState(home.path, { state: "stopped" });
              return "gateway_state.json says stopped now";
            },
          ),
        ];
      return [skipped("no gateway runs")];
    },
  };
}

function jobsCheck(home: Home): Check {
  return {
    id: "jobs.ticker",
    area: "Chats and jobs",
    title: "scheduled jobs",
    run: async () => {
      const [{ withJobs }, { cronStatus }] = await Promise.all([
        import("../../app/with-app.ts"),
        import("../../cron/api.ts"),
      ]);
      const status = await withJobs(home, cronStatus);
      if (status.jobs === 0) return [skipped("no scheduled jobs")];
      const findings: Finding[] = status.aside.map((job) =>
        wrong(`the job ${job.name} does not run until it is corrected`, `hermes cron edit ${job.id}`),
      );
      if (status.active > 0 && !status.alive)
        findings.push(
          warning(
            `${status.active} jobs are due and no process runs them: ${status.problem ?? "no ticker"}`,
            "hermes gateway start",
          ),
        );
      const [failed] = status.failures;
      if (failed)
        findings.push(
          warning(
            `${status.failures.length} runs or deliveries of jobs failed in the last week`,
            "hermes cron history",
          ),
        );
      return findings.length > 0 ? findings : [good(`${status.active} jobs, next at ${status.next?.at ?? "no time"}`)];
    },
  };
}

/** Checks that need settings and a store that can be used. */
export function programChecks(home: Home): Check[] {
  return [
    modelCheck(home),
    toolsCheck(home),
    memoryCheck(home),
    skillsCheck(home),
    pluginsCheck(home),
    hooksCheck(home),
    platformsCheck(home),
    gatewayCheck(home),
    jobsCheck(home),
  ];
}
