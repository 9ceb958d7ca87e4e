// Checks of the home folder itself: whether it can be written, file modes, space, clock, and leftovers of killed processes.
import type { Stats } from "node:fs";
import { constants } from "node:fs";
import { access, chmod, readdir, readFile, rm, stat, statfs } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Home } from "../../core/home.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { isAlive } from "../../lib/process/is-alive.ts";
import { formatBytes } from "../../lib/terminal/columns.ts";
import { shellQuote } from "../../lib/text/shell-quote.ts";
import { type Check, type Finding, good, warning, wrong } from "./check.ts";

const AREA = "Home";
const HOUR_MS = 3_600_000;
const LOW_BYTES = 500_000_000;
const VERY_LOW_BYTES = 50_000_000;

const look = (path: string): Promise<Stats | null> => stat(path).catch(() => null);

/** Folders that the program writes to. */
const FOLDERS = ["sessions", "memories", "skills", "cron", "logs", "cache"];

async function folderFinding(path: string): Promise<Finding | undefined> {
  const info = await look(path);
  if (!info) return undefined;
  if (!info.isDirectory())
    return wrong(
      `${path} is a file, but a folder is expected there`,
      `Move it away: mv ${shellQuote(path)} ${shellQuote(`${path}.old`)}`,
    );
  const writable = await access(path, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (writable) return undefined;
  const own = info.uid === process.getuid?.();
  const mode = (info.mode & 0o777).toString(8);
  return wrong(
    `${path} cannot be written (mode ${mode}${own ? "" : ", it belongs to another user"})`,
    own ? `chmod u+rwx ${shellQuote(path)}` : `sudo chown -R "$(id -un)" ${shellQuote(path)}`,
    own ? () => chmod(path, (info.mode & 0o777) | 0o700).then(() => `${path} can be written again`) : undefined,
  );
}

function foldersCheck(home: Home): Check {
  return {
    id: "home.folders",
    area: AREA,
    title: "folders",
    run: async () => {
      const paths = [home.path, ...FOLDERS.map((name) => join(home.path, name))];
      const found = (await Promise.all(paths.map(folderFinding))).filter((finding) => finding !== undefined);
      return found.length > 0 ? found : [good(`${home.path} can be written`)];
    },
  };
}

function spaceCheck(home: Home): Check {
  return {
    id: "home.space",
    area: AREA,
    title: "free space",
    run: async () => {
      const disk = await statfs((await look(home.path)) ? home.path : home.root).catch(() => statfs("/"));
      const free = disk.bavail * disk.bsize;
      const text = `${formatBytes(free)} free on the disk of the home`;
      const remedy =
        "Free some space: `hermes sessions prune`, `hermes checkpoints prune`, or move HERMES_HOME to another disk.";
      if (disk.ffree === 0 && disk.files > 0)
        return [wrong("no file can be created: the disk has no free inodes", remedy)];
      if (free < VERY_LOW_BYTES) return [wrong(`only ${text}`, remedy)];
      return [free < LOW_BYTES ? warning(`only ${text}`, remedy) : good(text)];
    },
  };
}

/** Times in the future mean that the clock was wrong, or is wrong now; a clock long before the build is wrong now. */
function clockCheck(home: Home, now: () => number): Check {
  return {
    id: "home.clock",
    area: AREA,
    title: "clock",
    run: async () => {
      const names = ["state.db", "config.yaml", "auth.json", "runtime.db"];
      const infos = await Promise.all(names.map(async (name) => ({ name, info: await look(join(home.path, name)) })));
      const late = infos.find(({ info }) => info && info.mtimeMs > now() + HOUR_MS);
      if (late?.info)
        return [
          warning(
            `the clock says ${new Date(now()).toISOString()}, but ${late.name} was changed at ${late.info.mtime.toISOString()}`,
            "Set the clock (timedatectl set-ntp true): jobs, keys and certificates depend on it.",
          ),
        ];
      return [good(`the clock says ${new Date(now()).toISOString()}`)];
    },
  };
}

const LEFTOVER = /\.(?:tmp|stale|part)$|\.lease\.[0-9a-f]{16}$/;

async function isAbandonedLock(path: string, now: number): Promise<boolean> {
  const info = await look(path);
  if (!info) return false;
  const owner = parseJson(await readFile(path, "utf8").catch(() => ""));
  const pid = isRecord(owner) ? owner.pid : undefined;
  if (isRecord(owner) && typeof pid === "number" && owner.host === hostname()) return !isAlive(pid);
  return now - info.mtimeMs > HOUR_MS;
}

/** Files that a killed process left behind; those of the last hour may be in use. */
async function findLeftovers(folder: string, now: number): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const found: string[] = [];
  for (const name of names) {
    const path = join(folder, name);
    if (name.endsWith(".lease")) {
      if (await isAbandonedLock(path, now)) found.push(path);
    } else if (LEFTOVER.test(name)) {
      const info = await look(path);
      if (info?.isFile() && now - info.mtimeMs > HOUR_MS) found.push(path);
    }
  }
  return found;
}

function leftoversCheck(home: Home, now: () => number): Check {
  return {
    id: "home.leftovers",
    area: AREA,
    title: "leftover files",
    run: async () => {
      const folders = ["", ...FOLDERS, "skills/.hub", "cache/tool-results"].map((name) => join(home.path, name));
      const paths = (await Promise.all(folders.map((folder) => findLeftovers(folder, now())))).flat();
      if (paths.length === 0) return [good("no leftover files")];
      const some = paths.slice(0, 3).join(", ");
      return [
        warning(
          `${paths.length} ${paths.length === 1 ? "file of a process that ended is" : "files of processes that ended are"} left: ${some}`,
          "hermes doctor --fix removes them.",
          async () => {
            for (const path of paths) await rm(path, { force: true });
            return `removed ${paths.join(", ")}`;
          },
        ),
      ];
    },
  };
}

/** Files that are read as text by every conversation. */
function textFilesCheck(home: Home): Check {
  return {
    id: "home.texts",
    area: AREA,
    title: "text files",
    run: async () => {
      const findings: Finding[] = [];
      for (const name of ["SOUL.md", "memories/MEMORY.md", "memories/USER.md"]) {
        const path = join(home.path, name);
        const info = await look(path);
        if (!info) continue;
        if (!info.isFile())
          findings.push(
            wrong(`${path} is not a file`, `Move it away: mv ${shellQuote(path)} ${shellQuote(`${path}.old`)}`),
          );
        else if (info.size > 1_000_000)
          findings.push(warning(`${path} has ${formatBytes(info.size)}: it is part of every prompt`, "Shorten it."));
        else {
          const bytes = await readFile(path).catch((error: Error) => error);
          if (bytes instanceof Error)
            findings.push(wrong(`${path} cannot be read: ${bytes.message}`, `chmod u+r ${shellQuote(path)}`));
          else if (bytes.includes(0))
            findings.push(wrong(`${path} is not text`, "Replace it by a text file, or restore it: hermes import."));
        }
      }
      return findings.length > 0 ? findings : [good("SOUL.md and the notes can be read")];
    },
  };
}

/** `now` is the clock, for tests. */
export function homeChecks(home: Home, now: () => number = Date.now): Check[] {
  return [foldersCheck(home), spaceCheck(home), clockCheck(home, now), leftoversCheck(home, now), textFilesCheck(home)];
}
