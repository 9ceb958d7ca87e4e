// Finds Hermes Agent v0.14 and calls its functions, for tests that exchange files with it.
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const VERSION = "0.14.0";
const CACHED = join(dirname(here), "node_modules", ".hermes", "reference", "bin", "python");
const DRIVER = join(here, "fixtures", "reference", "driver.py");
const PROBE = "import importlib.metadata as m; print(m.version('hermes-agent'))";

/** One call: `db.<method>` of its session database, or `<module>:<function>`. */
export interface ReferenceCall {
  readonly call: string;
  readonly args?: { readonly [name: string]: unknown };
}

export type ReferenceResult = { readonly value: unknown } | { readonly error: string };

export interface Reference {
  /** The Python that has it installed. */
  readonly python: string;
  /** Why its command line cannot run, when only the session database can. */
  readonly noCli: string | undefined;
  /** Its answers, in order; an exception is a result too. */
  run(home: string, calls: readonly ReferenceCall[]): Promise<ReferenceResult[]>;
  /** Its command line; what it printed. Rejects when it fails. */
  cli(home: string, ...args: string[]): Promise<string>;
}

function execute(command: string, args: readonly string[], home: string, input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: home,
      env: { PATH: process.env.PATH ?? "", HOME: home, HERMES_HOME: home, PYTHONUTF8: "1", TZ: "UTC" },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      const text = Buffer.concat(out).toString("utf8");
      if (code === 0) resolve(text);
      else reject(new Error(`${args.join(" ")} ended with ${code}: ${text}${Buffer.concat(err).toString("utf8")}`));
    });
    // It may end without reading its input.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}

/** Hermes Agent v0.14 when a Python that holds it is there, else why it is not. */
export function findReference(): Reference | { readonly missing: string } {
  const python = process.env.HERMES_REFERENCE_PYTHON ?? CACHED;
  if (!existsSync(python)) {
    return { missing: `no Python with hermes-agent ${VERSION}: name one in HERMES_REFERENCE_PYTHON` };
  }
  const probe = spawnSync(python, ["-c", PROBE], { encoding: "utf8" });
  const version = probe.stdout?.trim() ?? "";
  if (version !== VERSION) {
    return { missing: `${python} has hermes-agent ${version === "" ? "not installed" : version}, not ${VERSION}` };
  }
  const cli = join(dirname(python), "hermes");
  const whole = spawnSync(python, ["-c", "import croniter, dotenv, httpx, yaml"]).status === 0;
  return {
    python,
    noCli: whole ? undefined : "its command line lacks croniter, httpx, python-dotenv or pyyaml",
    run: async (home, calls) =>
      JSON.parse(await execute(python, [DRIVER, join(home, "state.db")], home, JSON.stringify(calls))),
    cli: (home, ...args) => execute(cli, args, home, ""),
  };
}

/** The value of a call that must not fail. */
export function unwrapResult<T>(result: ReferenceResult | undefined): T {
  if (!result || "error" in result) throw new Error(`the call failed: ${result?.error ?? "no result"}`);
  return result.value as T;
}
