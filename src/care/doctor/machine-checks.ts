// Checks of the machine: Node, the programs that Hermes calls, the place where commands run.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { containerProblem, containerState } from "../../container/api.ts";
import type { Config } from "../../core/config/config.ts";
import { UNAVAILABLE_BACKENDS } from "../../core/config/execution.ts";
import type { Home } from "../../core/home.ts";
import { describeInstallation, installationText } from "../../install/api/installation.ts";
import { runToEnd } from "../../lib/process/run-to-end.ts";
import { which } from "../../lib/which.ts";
import { type Check, type Finding, good, warning, wrong } from "./check.ts";

const AREA = "Machine";
const NODE_MAJOR = 20;
const TRIAL_MS = 15_000;

function installCheck(home: Home): Check {
  return {
    id: "machine.install",
    area: AREA,
    title: "installation",
    run: async () => {
      const installation = describeInstallation(home);
      const major = Number(process.versions.node.split(".")[0]);
      if (major < NODE_MAJOR)
        return [
          wrong(`Node ${process.versions.node} is too old`, `Install Node ${NODE_MAJOR} or newer: https://nodejs.org`),
        ];
      return [good(`hermes ${installation.version}, Node ${process.versions.node}, ${installationText(installation)}`)];
    },
  };
}

function programsCheck(home: Home): Check {
  return {
    id: "machine.programs",
    area: AREA,
    title: "programs",
    run: async () => {
      const findings: Finding[] = [];
      if (!which("git", home.env.PATH))
        findings.push(
          warning("git is not installed", "Install git: checkpoints, @diff, worktrees, plugins and updates need it."),
        );
      if (!which("bash", home.env.PATH) && !which("sh", home.env.PATH))
        findings.push(wrong("there is no shell on the search path", "Set PATH so that it contains /bin and /usr/bin."));
      return findings.length > 0 ? findings : [good("git and a shell are installed")];
    },
  };
}

async function succeeds(home: Home, argv: readonly string[]): Promise<string | null> {
  const env = { PATH: home.env.PATH ?? "", HOME: home.env.HOME ?? "" };
  const run = await runToEnd(argv, { cwd: "/", env, timeoutMs: TRIAL_MS });
  if (run.code === 0) return null;
  if (run.timedOut) return `no answer after ${TRIAL_MS / 1000} s`;
  return (run.stderr || run.stdout).trim().split("\n").at(-1) || `exit code ${run.code}`;
}

async function dockerFinding(home: Home): Promise<Finding> {
  const program = ["docker", "podman"].find((name) => which(name, home.env.PATH));
  if (!program)
    return wrong(
      "terminal.backend is docker, but neither docker nor podman is installed",
      "Install one, or run commands on this machine: hermes config set terminal.backend local",
    );
  const problem = await succeeds(home, [program, "version"]);
  return problem === null
    ? good(`commands run in containers of ${program}`)
    : wrong(
        `${program} does not work: ${problem}`,
        `Start its service (${program} version must work), or: hermes config set terminal.backend local`,
      );
}

async function sshFinding(home: Home, config: Config): Promise<Finding> {
  const { ssh_host: host, ssh_user: user, ssh_port: port, ssh_key: key } = config.terminal;
  if (!host)
    return wrong(
      "terminal.backend is ssh, but terminal.ssh_host is not set",
      "hermes config set terminal.ssh_host HOST",
    );
  const options = [
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=5",
    ...(port ? ["-p", String(port)] : []),
    ...(key ? ["-i", key] : []),
  ];
  const problem = await succeeds(home, ["ssh", ...options, user ? `${user}@${host}` : host, "true"]);
  return problem === null
    ? good(`commands run on ${host}`)
    : wrong(
        `${host} cannot be reached: ${problem}`,
        `Try it: ssh ${user ? `${user}@` : ""}${host}. Or: hermes config set terminal.backend local`,
      );
}

async function containerFinding(home: Home, config: Config): Promise<Finding> {
  const state = await containerState(home, config);
  const problem = containerProblem(state);
  if (problem) return wrong(problem.text, problem.hint);
  if (state.kind === "contained") return good(`commands run in a container (${state.how})`);
  return good("commands run on this machine, which is declared the boundary (terminal.container is host)");
}

function backendCheck(home: Home, config: Config): Check {
  return {
    id: "machine.commands",
    area: AREA,
    title: "where commands run",
    timeoutMs: TRIAL_MS + 30_000,
    run: async () => {
      const { backend, cwd } = config.terminal;
      if (UNAVAILABLE_BACKENDS.includes(backend))
        return [
          wrong(
            `terminal.backend ${backend} is not available yet`,
            "hermes config set terminal.backend local (or docker, ssh)",
          ),
        ];
      if (backend === "docker") return [await dockerFinding(home)];
      if (backend === "ssh") return [await sshFinding(home, config)];
      const folder = resolve(home.cwd, cwd.replace(/^~(?=$|\/)/, home.env.HOME ?? "~"));
      if (!existsSync(folder))
        return [
          wrong(
            `terminal.cwd is ${cwd}, which does not exist`,
            `mkdir -p ${folder}, or: hermes config unset terminal.cwd`,
          ),
        ];
      const problem = await succeeds(home, ["sh", "-c", "true"]);
      if (problem !== null)
        return [wrong(`no command can be started: ${problem}`, "Check PATH and the limits of processes (ulimit -u).")];
      return [await containerFinding(home, config)];
    },
  };
}

/** The configuration may be incomplete: defaults replace what cannot be read. */
export function machineChecks(home: Home, config: Config): Check[] {
  return [installCheck(home), programsCheck(home), backendCheck(home, config)];
}
