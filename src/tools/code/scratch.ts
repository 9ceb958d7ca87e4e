// The private folder, socket path and token of one run. Folders of killed programs are removed later.
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Scratch {
  readonly dir: string;
  /** Where the script runs. */
  readonly cwd: string;
  readonly socketPath: string;
  readonly token: string;
}

const PREFIX = "hermes-code-";
/** The path of a socket is limited, so longer temp paths are not used. */
const MAX_TEMP_PATH = 60;
/** No script runs this long. */
const ABANDONED_MS = 24 * 3_600_000;

async function clearAbandoned(base: string): Promise<void> {
  const names = (await readdir(base)).filter((name) => name.startsWith(PREFIX));
  for (const name of names) {
    const info = await stat(join(base, name)).catch(() => null);
    if (!info?.isDirectory() || info.uid !== process.getuid?.()) continue;
    if (Date.now() - info.mtimeMs > ABANDONED_MS) await rm(join(base, name), { recursive: true, force: true });
  }
}

/** Creates a folder that only its owner can access. In strict mode the script runs in it, otherwise in `projectCwd`. */
export async function openScratch(mode: "project" | "strict", projectCwd: string): Promise<Scratch> {
  const base = tmpdir().length > MAX_TEMP_PATH ? "/tmp" : tmpdir();
  await clearAbandoned(base).catch(() => undefined);
  const dir = await mkdtemp(join(base, PREFIX));
  const cwd = mode === "strict" ? join(dir, "work") : projectCwd;
  if (mode === "strict") await mkdir(cwd, { mode: 0o700 });
  return { dir, cwd, socketPath: join(dir, "rpc.sock"), token: randomBytes(24).toString("base64url") };
}
