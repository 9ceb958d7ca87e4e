// Reads the environment of the user's login shell, for variables such as PATH that start-up files set.
import { spawn } from "node:child_process";

const TIMEOUT_MS = 5_000;
const MARK = "__hermes_environment__";

export interface LoginOptions {
  readonly env: { readonly [name: string]: string };
  /** Files to source after the user's own start-up files. */
  readonly initFiles: readonly string[];
  readonly useBashrc: boolean;
}

function parseEnvironment(output: string): { [name: string]: string } | null {
  const start = output.indexOf(`${MARK}\0`);
  if (start < 0) return null;
  const found: { [name: string]: string } = {};
  for (const pair of output.slice(start + MARK.length + 1).split("\0")) {
    const cut = pair.indexOf("=");
    if (cut > 0) found[pair.slice(0, cut)] = pair.slice(cut + 1);
  }
  return found;
}

/** Returns the given environment when the shell is missing, fails or takes too long. */
export async function loginEnvironment(options: LoginOptions): Promise<{ [name: string]: string }> {
  const sources = [
    ...(options.useBashrc ? ["$HOME/.profile", "$HOME/.bash_profile", "$HOME/.bashrc"] : []),
    ...options.initFiles,
  ];
  const script = `${sources.map((file) => `[ -r "${file}" ] && . "${file}" </dev/null >/dev/null 2>&1;`).join(" ")} printf '%s\\0' ${MARK}; env -0`;
  return new Promise((resolve) => {
    const fallback = { ...options.env };
    const child = spawn("bash", ["-c", script], {
      env: options.env,
      stdio: ["ignore", "pipe", "ignore"],
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.on("error", () => resolve(fallback));
    child.on("close", () => resolve(parseEnvironment(output) ?? fallback));
  });
}
