// Expands `@file`, `@folder`, `@diff`, `@staged`, `@git:N`, `@url`, `@session` and `@skill` in user input, below the message.

import { execFile } from "node:child_process";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import { estimateTextTokens } from "../../core/model/tokens.ts";
import { isEnvFile } from "../../core/redactor.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { isPathInside } from "../../lib/path-inside.ts";

export interface ReferenceOptions {
  readonly cwd: string;
  readonly userHome: string;
  readonly hermesHome: string;
  readonly contextLength: number;
  /** The text of a page; rejects with a message for the user. */
  readonly fetchText?: ((url: string, signal: AbortSignal) => Promise<string>) | undefined;
  /** The messages of a stored session, shortened; rejects with a message for the user. */
  readonly sessionText?: ((id: string) => Promise<string>) | undefined;
  /** The instructions of a skill; rejects with a message for the user. */
  readonly skillText?: ((name: string) => Promise<string>) | undefined;
  /** Refuses more paths than the built-in list: a reason, or undefined. */
  readonly refusePath?: (realPath: string) => string | undefined | Promise<string | undefined>;
  /** Masks secrets in what is attached; `env` for the lines of an env file. */
  readonly mask?: ((text: string, about: { readonly env: boolean }) => string) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ExpandedReferences {
  /** The message with its attachments, or exactly as typed. */
  readonly text: string;
  readonly warnings: readonly string[];
  /** Attachments include text from the web. */
  readonly untrusted: boolean;
}

const SOFT_SHARE = 0.25;
const HARD_SHARE = 0.5;
const FOLDER_ENTRIES = 200;
const MAX_COMMITS = 10;
/** A repository may configure programs to run on its diffs; a reference runs none of them. */
const PLAIN = ["--no-ext-diff", "--no-textconv"];
const GIT_TIMEOUT_MS = 10_000;
/** A target in quotes or backticks may hold spaces; lines may follow it. */
const QUOTED_TARGET = `"[^"\\n]+"(?::\\d+(?:-\\d+)?)?|'[^'\\n]+'(?::\\d+(?:-\\d+)?)?|\`[^\`\\n]+\`(?::\\d+(?:-\\d+)?)?`;
const REFERENCE = new RegExp(
  `(?<![\\w@])@(?:(file|folder|url|git|session|skill):(${QUOTED_TARGET}|[^\\s]+)|(diff|staged)\\b)`,
  "g",
);

/** The target without its quotes, with the lines that follow them. */
function unquoted(target: string): string {
  return target.replace(/^(["'`])(.+)\1/, "$2");
}
const BLOCKED_FOLDERS = [".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".config/gh"];
const BLOCKED_FILES = [
  ".bashrc",
  ".zshrc",
  ".profile",
  ".bash_profile",
  ".zprofile",
  ".netrc",
  ".pgpass",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
];
const BLOCKED_IN_HERMES = [".env", "auth.json", "skills/.hub"];

interface Attachment {
  readonly title: string;
  readonly body: string;
}

async function refusal(path: string, options: ReferenceOptions): Promise<string | undefined> {
  const home = await realpath(options.userHome).catch(() => options.userHome);
  const hermes = await realpath(options.hermesHome).catch(() => options.hermesHome);
  if (BLOCKED_FOLDERS.some((folder) => isPathInside(path, join(home, folder))))
    return "it lies in a credentials folder";
  if (BLOCKED_FILES.some((file) => path === join(home, file))) return "it is a start-up or credentials file";
  if (BLOCKED_IN_HERMES.some((file) => isPathInside(path, join(hermes, file)))) return "it belongs to Hermes itself";
  if (/^id_(rsa|dsa|ecdsa|ed25519)/.test(basename(path))) return "it is a private key";
  const workspace = await realpath(options.cwd);
  if (!isPathInside(path, workspace)) return "it is outside the working directory";
  return options.refusePath?.(path);
}

/** The real path of a file or folder below the working directory; rejects with the reason when it must not be read. */
async function allowedPath(path: string, options: ReferenceOptions): Promise<string> {
  const typed = path.startsWith("~/") ? join(options.userHome, path.slice(2)) : path;
  const full = isAbsolute(typed) ? typed : resolve(options.cwd, typed);
  const real = await realpath(full).catch(() => full);
  const reason = await refusal(real, options);
  if (reason !== undefined) throw new Error(`${path} is not attached: ${reason}`);
  await stat(real).catch(() => {
    throw new Error(`${path} does not exist`);
  });
  return real;
}

async function attachFile(target: string, options: ReferenceOptions): Promise<Attachment> {
  const range = /^(.*?):(\d+)(?:-(\d+))?$/.exec(target);
  const path = range?.[1] ?? target;
  const real = await allowedPath(path, options);
  if ((await stat(real)).isDirectory()) throw new Error(`${path} is a folder: use @folder:${path}`);
  const bytes = await readFile(real);
  if (bytes.subarray(0, 8_192).includes(0)) throw new Error(`${path} is not a text file`);
  const text = masked(bytes.toString("utf8"), isEnvFile(real), options);
  if (range === null) return { title: `file ${path}`, body: text };
  const from = Math.max(1, Number(range[2]));
  const to = Number(range[3] ?? range[2]);
  return {
    title: `file ${path}, lines ${from}-${to}`,
    body: text
      .split("\n")
      .slice(from - 1, to)
      .join("\n"),
  };
}

function masked(text: string, env: boolean, options: ReferenceOptions): string {
  return options.mask?.(text, { env }) ?? text;
}

/** The diff, masked file by file: env files need stricter rules. */
function maskedDiff(text: string, options: ReferenceOptions): string {
  const files = text.split(/^(?=diff --git )/m);
  return files.map((part) => masked(part, isEnvFile(part.split("\n", 1)[0] ?? ""), options)).join("");
}

async function attachFolder(path: string, options: ReferenceOptions): Promise<Attachment> {
  const real = await allowedPath(path, options);
  if (!(await stat(real)).isDirectory()) throw new Error(`${path} is a file: use @file:${path}`);
  const lines: string[] = [];
  const queue = [real];
  for (let folder = queue.shift(); folder !== undefined && lines.length <= FOLDER_ENTRIES; folder = queue.shift()) {
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => a.name.localeCompare(b.name))) {
      if (entry.name === ".git" || entry.name === "node_modules") continue;
      const full = join(folder, entry.name);
      lines.push(`${relative(real, full)}${entry.isDirectory() ? "/" : ""}`);
      if (entry.isDirectory()) queue.push(full);
    }
  }
  const more = lines.length > FOLDER_ENTRIES ? [`[only the first ${FOLDER_ENTRIES} entries]`] : [];
  return { title: `folder ${path}`, body: [...lines.slice(0, FOLDER_ENTRIES), ...more].join("\n") };
}

function gitProblem(command: string, error: Error): string {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return "git is not installed, or not on the search path";
  return `git ${command} failed here: is this a git repository?`;
}

function git(args: readonly string[], options: ReferenceOptions): Promise<string> {
  return new Promise((done, fail) => {
    const settings = { cwd: options.cwd, timeout: GIT_TIMEOUT_MS, maxBuffer: 8_000_000, signal: options.signal };
    execFile("git", ["--no-pager", "-c", "core.quotepath=off", ...args], settings, (error, stdout) =>
      error ? fail(new Error(gitProblem(args[0] ?? "", error))) : done(stdout),
    );
  });
}

async function attachGit(kind: string, count: string, options: ReferenceOptions): Promise<Attachment> {
  const diff = async (args: readonly string[]) => maskedDiff(await git(args, options), options);
  if (kind === "diff") return { title: "git diff", body: await diff(["diff", ...PLAIN]) };
  if (kind === "staged") return { title: "git diff --staged", body: await diff(["diff", "--staged", ...PLAIN]) };
  const commits = Number(count);
  if (!Number.isInteger(commits) || commits < 1 || commits > MAX_COMMITS) {
    throw new Error(`@git:${count}: give a number of commits from 1 to ${MAX_COMMITS}`);
  }
  return { title: `git log -${commits} -p`, body: await diff(["log", `-${commits}`, "-p", ...PLAIN]) };
}

async function attachUrl(url: string, options: ReferenceOptions): Promise<Attachment> {
  if (!/^https?:\/\//i.test(url)) throw new Error(`@url:${url} is not a web address`);
  if (options.fetchText === undefined) throw new Error(`@url:${url}: fetching pages is not available here`);
  return { title: `url ${url}`, body: await options.fetchText(url, options.signal ?? AbortSignal.timeout(30_000)) };
}

async function attachStored(kind: "session" | "skill", name: string, options: ReferenceOptions): Promise<Attachment> {
  const read = kind === "session" ? options.sessionText : options.skillText;
  if (read === undefined) throw new Error(`@${kind}:${name} is not available here`);
  return { title: `${kind} ${name}`, body: masked(await read(name), false, options) };
}

function attach(kind: string, target: string, options: ReferenceOptions): Promise<Attachment> {
  if (kind === "file") return attachFile(target, options);
  if (kind === "folder") return attachFolder(target, options);
  if (kind === "url") return attachUrl(target, options);
  if (kind === "session" || kind === "skill") return attachStored(kind, target, options);
  return attachGit(kind, target, options);
}

/** Never rejects: what cannot be attached becomes a warning; attachments of more than half the window are left out. */
export async function expandReferences(message: string, options: ReferenceOptions): Promise<ExpandedReferences> {
  const warnings: string[] = [];
  const attachments: Attachment[] = [];
  const seen = new Set<string>();
  let untrusted = false;
  for (const match of message.matchAll(REFERENCE)) {
    const kind = match[1] ?? match[3] ?? "";
    const written = match[2] ?? "";
    const target = /^["'`]/.test(written) ? unquoted(written) : written.replace(/[.,;:!?)\]}'"»]+$/, "");
    if (seen.has(`${kind}:${target}`)) continue;
    seen.add(`${kind}:${target}`);
    try {
      attachments.push(await attach(kind, target, options));
      untrusted ||= kind === "url";
    } catch (error) {
      warnings.push(errorMessage(error));
    }
  }
  if (attachments.length === 0) return { text: message, warnings, untrusted: false };
  const blocks = attachments.map(({ title, body }) => `[${title}]\n${body.trim() === "" ? "(empty)" : body.trimEnd()}`);
  const attached = blocks.join("\n\n");
  const share = estimateTextTokens(attached) / options.contextLength;
  const percent = Math.round(share * 100);
  if (share > HARD_SHARE) {
    warnings.push(`The references would fill ${percent}% of the context window and were left as typed. Attach less.`);
    return { text: message, warnings, untrusted: false };
  }
  if (share > SOFT_SHARE) warnings.push(`The references fill ${percent}% of the context window.`);
  return { text: `${message}\n\n--- Attached Context ---\n\n${attached}`, warnings, untrusted };
}
