// Rules for protected paths: a command that names one needs approval unless its program is known to be harmless.
import { classifySecretPath, relativeTo } from "../../protected-paths.ts";
import { isBelow } from "../../real-path.ts";
import type { Category, Effect } from "../effects.ts";
import { isForbidden } from "../guest.ts";
import { STATE_PROGRAMS } from "../outside/local-programs.ts";
import {
  argTexts,
  hasFlag,
  type Invocation,
  operands,
  programName,
  type ShellEnvironment,
} from "../shell/shell-types.ts";
import { absolutePath } from "../shell/shell-walk.ts";
import { cachedRoots, findProtectedPaths, protectedArguments, redirectTexts } from "./named-paths.ts";
import { nonEmpty, type ShellRule } from "./rule.ts";
import { isGuardedFile } from "./vital-paths.ts";
import { writeTargets } from "./write-targets.ts";

const set = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** They show names and states, never file content. */
const NAMES_ONLY = set(
  "ls dir stat test [ [[ file cd pushd popd dirname basename realpath readlink which type echo printf du tree pwd true export",
);
/** They use key files as intended, or change only the location and mode of a file, which other rules check. */
const KEY_USERS = set(
  "ssh ssh-add ssh-keygen ssh-copy-id sftp mosh autossh ansible ansible-playbook chmod chown mkdir touch rm rmdir unlink mv shred hermes",
);
/** They only print what they read. */
const READERS = set(
  "cat head tail bat nl wc grep egrep fgrep rg cut tr diff cmp md5sum sha1sum sha256sum sha512sum cksum od hexdump strings column tac rev base64 fold",
);
/** The command that they run is checked on its own. */
const TRANSPARENT = set(
  "env nice nohup time timeout stdbuf setsid ionice command builtin exec eval sudo doas xargs parallel watch script",
);
const SHELLS = /^(?:ba|z|da|k|a)?sh$/;

function isTransparent(invocation: Invocation): boolean {
  const program = programName(invocation);
  return (
    TRANSPARENT.has(program) || (SHELLS.test(program) && argTexts(invocation).some((text) => /^-\w*c$/.test(text)))
  );
}

function findsOnly(invocation: Invocation): boolean {
  return (
    /^(?:find|fd|fdfind)$/.test(programName(invocation)) &&
    !argTexts(invocation).some((text) =>
      /^-{1,2}(?:exec|execdir|ok|okdir|delete|fprint\w*|fls|x|X|exec-batch)$/.test(text),
    )
  );
}

function namesOnly(invocation: Invocation): boolean {
  return NAMES_ONLY.has(programName(invocation)) || findsOnly(invocation);
}

/** True for programs that only read, and for others when their arguments only read. */
function readsOnly(invocation: Invocation): boolean {
  const program = programName(invocation);
  const texts = argTexts(invocation);
  if (READERS.has(program) || namesOnly(invocation)) return true;
  if (program === "less" || program === "more") return !texts.some((text) => /^-\w*[oO]|^--log-file/i.test(text));
  if (program === "uniq" || program === "xxd")
    return operands(invocation).length < 2 && !texts.some((text) => /^-\w*r/.test(text));
  if (program === "sort") return !texts.some((text) => /^-\w*o|^--o/.test(text));
  if (program === "jq" || program === "yq") return !texts.some((text) => /^-\w*i|^--in/.test(text));
  if (program === "sed")
    return (
      texts.every((text) => !/^-\w*i|^--in/.test(text)) &&
      /^[\d,$!;pqd=\s]*$|^\/[^/]*\/[pd!]?$|^s(.)(?:(?!\1).)*\1(?:(?!\1).)*\1[gp\d]*$/.test(
        operands(invocation)[0]?.text ?? "",
      )
    );
  if (program === "awk" || program === "gawk")
    return (
      !/[>|]|system|getline/.test(operands(invocation)[0]?.text ?? "") &&
      !texts.some((text) => /^-i|inplace/.test(text))
    );
  if (program === "sqlite3") return hasReadOnlySql(texts);
  return false;
}

function hasReadOnlySql(texts: readonly string[]): boolean {
  if (texts.includes("-readonly") || texts.includes("--readonly"))
    return !texts.some((text) => /^\s*\.(?:shell|system|output|once|import)/.test(text));
  const sql = texts.filter((text) => !text.startsWith("-")).slice(1);
  return (
    sql.length > 0 &&
    sql.every(
      (text) =>
        /^\s*(?:select\b|\.(?:schema|tables|indexes|databases|headers|mode)\b|explain\b|pragma\s+\w+\s*(?:\(\w*\))?\s*;?\s*$)/i.test(
          text,
        ) && !/;\s*\S/.test(text),
    )
  );
}

/** True for `cp` from a protected path to another one: only the target is written. */
function copiesOut(invocation: Invocation, hits: (texts: readonly string[]) => boolean): boolean {
  if (programName(invocation) !== "cp" || hasFlag(invocation, "t", "--target-directory")) return false;
  const words = operands(invocation).map((word) => word.text);
  const last = words.at(-1) ?? "";
  const made = words.slice(0, -1).map((text) => `${last}/${text.split("/").pop() ?? ""}`);
  return !hits([last, ...made]);
}

const MANY = /^(?:tar|zip|rsync|scp|7z|7za|cpio|dump|restic|borg|rclone)$/;

/** True when the command reads the content of whole folders. */
function readsTrees(invocation: Invocation): boolean {
  const program = programName(invocation);
  const texts = argTexts(invocation);
  if (/^[ef]?grep$/.test(program)) return hasFlag(invocation, "rR", "--recursive", "--dereference-recursive");
  if (program === "rg" || program === "ag" || program === "ack")
    return texts.some((text) => /^-\w*[u.]|^--(?:hidden|unrestricted|no-ignore)/.test(text));
  if (program === "cp") return hasFlag(invocation, "raR", "--recursive", "--archive");
  if (program === "find" || program === "fd") return !findsOnly(invocation) && !texts.includes("-delete");
  if (program === "tar")
    return (
      !/^-?\w*x/.test(texts[0] ?? "") &&
      !hasFlag(invocation, "", "--extract", "--get", "--list") &&
      !/^-?\w*t/.test(texts[0] ?? "")
    );
  return MANY.test(program);
}

/** True when a filter by name excludes all credential files. */
function hasSafeFilter(invocation: Invocation): boolean {
  const texts = argTexts(invocation);
  const filters = texts.flatMap((text, at) => {
    if (/^-i?name$|^-g$|^--i?glob$|^-t$|^--type$/.test(text)) return [texts[at + 1] ?? ""];
    const joined = /^--(?:include|i?glob|type)=(.*)$/.exec(text);
    return joined ? [joined[1] ?? ""] : [];
  });
  return (
    filters.length > 0 &&
    filters.every(
      (filter) =>
        /\w{2,}$/.test(filter) &&
        !/key|pem|rsa|ed25519|ecdsa|env|json|cred|conf|netrc|npmrc|id_|token|history/i.test(filter),
    )
  );
}

/** The user's home or a folder above it, when the command reads it recursively. */
function treesAbove(invocation: Invocation, host: ShellEnvironment): string[] {
  if (!readsTrees(invocation) || hasSafeFilter(invocation)) return [];
  const words = operands(invocation).map((word) =>
    absolutePath(word.text.replace(/\/\*?$/, "") || "/", invocation.cwd, host),
  );
  const named = words.filter((path) => isBelow(path, host.userHome));
  // Without a path the current folder is read. A single operand may be the search pattern.
  const here =
    words.length <= 1 &&
    /^(?:[ef]?grep|rg|ag|ack|find|fd)$/.test(programName(invocation)) &&
    isBelow(invocation.cwd, host.userHome);
  return [...named, ...(here ? [invocation.cwd] : [])];
}

function secretsRead(invocation: Invocation, host: ShellEnvironment): readonly string[] {
  const places = cachedRoots(host);
  const read = findProtectedPaths(redirectTexts(invocation, true), invocation, host).secrets;
  const program = programName(invocation);
  const above = treesAbove(invocation, host);
  if (read.length > 0 || above.length > 0) return [...read, ...above];
  if (program === "xargs" || program === "parallel" || program === "cpio" || /^(?:tar|rsync)$/.test(program)) {
    const fed = invocation.upstream.flatMap((earlier) => [...protectedArguments(earlier, host).secrets]);
    if (fed.length > 0 && !onlyNamesInside(invocation)) return fed;
  }
  if (namesOnly(invocation) || KEY_USERS.has(program) || isTransparent(invocation)) return [];
  if (program === "git" && argTexts(invocation).some((text) => /sshCommand=/i.test(text))) return [];
  const named = protectedArguments(invocation, host).secrets;
  if (named.length > 0) return named;
  // In a folder with keys, every unknown word may name one of them.
  const inside = classifySecretPath(invocation.cwd, places) !== null;
  return inside && invocation.name.text !== "" && invocation.args.some((word) => word.dynamic) ? [invocation.cwd] : [];
}

function onlyNamesInside(invocation: Invocation): boolean {
  const program = operands(invocation)[0]?.text ?? "echo";
  return NAMES_ONLY.has(program);
}

/** Programs of STATE_PROGRAMS that change files. */
const CHANGERS = set("rm rmdir unlink touch truncate mkdir chmod chown chgrp mktemp tmux screen");

/** Paths in Hermes' homes that the command may change. */
function homeChanged(invocation: Invocation, host: ShellEnvironment): readonly string[] {
  const written = findProtectedPaths(redirectTexts(invocation, false), invocation, host).home;
  if (written.length > 0) return written;
  if (programName(invocation) === "hermes" || isTransparent(invocation) || readsOnly(invocation)) return [];
  if (STATE_PROGRAMS.has(programName(invocation)) && !CHANGERS.has(programName(invocation))) return [];
  const hits = (texts: readonly string[]) => findProtectedPaths(texts, invocation, host).home.length > 0;
  if (copiesOut(invocation, hits)) return [];
  const named = protectedArguments(invocation, host).home;
  if (named.length > 0) return named;
  const inside =
    relativeTo(cachedRoots(host).hermesHomes, invocation.cwd) !== null &&
    findProtectedPaths([`${invocation.cwd}/x`], invocation, host).home.length > 0;
  return inside && invocation.name.text !== "" ? [invocation.cwd] : [];
}

/** They use start-up files as intended, or other rules check them. */
const STARTUP_USERS = set("mkdir chmod source . hermes code which");
const GIT_WRITES = /^(?:-o|--output|--output-directory|--work-tree)/;

function startupChanged(invocation: Invocation, host: ShellEnvironment): readonly string[] {
  const written = findProtectedPaths(redirectTexts(invocation, false), invocation, host).startup;
  if (written.length > 0) return written;
  const program = programName(invocation);
  if (readsOnly(invocation) || isTransparent(invocation)) return [];
  if (STARTUP_USERS.has(program) || SHELLS.test(program) || (KEY_USERS.has(program) && program !== "mv")) return [];
  if (program === "git" && !argTexts(invocation).some((text) => GIT_WRITES.test(text))) return [];
  const hits = (texts: readonly string[]) => findProtectedPaths(texts, invocation, host).startup.length > 0;
  if (copiesOut(invocation, hits)) return [];
  // The program name is not included: running a program from such a folder does not change it.
  return protectedArguments(invocation, host).startup;
}

/** Archives that are unpacked directly into the user's home may contain start-up files. */
function unpackedHome(invocation: Invocation, host: ShellEnvironment): readonly string[] {
  const program = programName(invocation);
  const texts = argTexts(invocation);
  const unpacks =
    program === "unzip" ||
    (program === "tar" && (/^-?\w*x/.test(texts[0] ?? "") || hasFlag(invocation, "x", "--extract", "--get"))) ||
    program === "cpio";
  if (!unpacks) return [];
  const into = [
    invocation.cwd,
    ...texts.map((text) => absolutePath(text.replace(/^-[Cd]|^--directory=/, "") || ".", invocation.cwd, host)),
  ];
  return into.filter((path) => path === host.userHome);
}

export const PATH_RULES: readonly ShellRule[] = [
  {
    id: "hermes_home",
    category: "durable",
    level: "dangerous",
    reason: "may change Hermes' own files",
    match: (invocation, host) => nonEmpty(homeChanged(invocation, host)),
  },
  {
    id: "guest_home",
    category: "credentials",
    level: "hardline",
    reason: "reads files of the owner of this Hermes",
    match: (invocation, host) => {
      if (!host.guest) return null;
      const all = [...argTexts(invocation), ...redirectTexts(invocation, true), invocation.cwd];
      const named = findProtectedPaths(all, invocation, host);
      const homes = { hermesHome: host.hermesHome, realHome: host.hermesHome };
      const home = named.home.filter((path) => isForbidden(path, homes));
      return nonEmpty([...home, ...named.secrets, ...treesAbove(invocation, host)]);
    },
  },
  {
    id: "read_credentials",
    category: "credentials",
    level: "dangerous",
    reason: "reads keys or passwords",
    match: (invocation, host) => nonEmpty(secretsRead(invocation, host)),
  },
  {
    id: "write_startup",
    category: "protected_file",
    level: "dangerous",
    reason: "changes a start-up file or a folder of programs",
    match: (invocation, host) => {
      // Simple writes are covered by `write_guarded`, under which users have stored approvals.
      if (writeTargets(invocation, host).some((path) => isGuardedFile(path, host))) return null;
      return nonEmpty([...startupChanged(invocation, host), ...unpackedHome(invocation, host)]);
    },
  },
];

/** Detects `cat $(ls ~/.ssh/id_rsa)`: one command outputs the name of a key, another uses it as an unknown word. */
export function indirectReads(invocations: readonly Invocation[], host: ShellEnvironment): Effect[] {
  const finds = invocations.some(
    (invocation) =>
      namesOnly(invocation) &&
      programName(invocation) !== "cd" &&
      protectedArguments(invocation, host).secrets.length > 0,
  );
  if (!finds) return [];
  const users = invocations.filter(
    (invocation) =>
      !namesOnly(invocation) && !KEY_USERS.has(programName(invocation)) && invocation.args.some((word) => word.dynamic),
  );
  return users.length === 0 ? [] : [effect("read_credentials", "credentials", "reads keys or passwords")];
}

function effect(rule: string, category: Category, reason: string): Effect {
  return { rule, category, level: "dangerous", reason, targets: [] };
}

const HOME_NAME = /(?<![\w-])\.hermes(?![\w-])|\bHERMES_HOME\b/;
const SECRET_NAME =
  /(?<![\w-])\.(?:ssh|aws|gnupg|azure|netrc|pgpass|git-credentials|npmrc|pypirc|vault-token|password-store)(?![\w-])|(?<![\w-])id_(?:rsa|dsa|ecdsa|ed25519)(?!\w|\.pub)|\/etc\/(?:g?shadow|sudoers)|\/proc\/[^"'`\s]{1,20}\/environ/;
const STARTUP_NAME =
  /(?<![\w-])\.(?:bashrc|bash_profile|bash_login|bash_aliases|profile|zshrc|zshenv|zprofile|gitconfig|xprofile|pam_environment|vimrc)(?![\w-])|\.config\/(?:autostart|systemd|fish|environment\.d)|authorized_keys|LaunchAgents/;
const CHANGES = /["'](?:[awx]b?\+?|r\+)["']|write|append|symlink|link\(|rename|copy|move|truncate|chmod|>>?/i;

/** Protected paths that a program names, also when they are concatenated from literals. */
export function protectedPathsInCode(code: string, host: ShellEnvironment): Effect[] {
  const joined = code
    .slice(0, 200_000)
    .replace(/["'`]\s*\+\s*[rbfuRBFU]{0,2}["'`]/g, "")
    .replace(/["'`]\s*[,/]\s*[rbfuRBFU]{0,2}["'`]/g, "/")
    .replace(/["']\s+[rbfu]?["']/g, "");
  const both = [code, joined];
  const names = (pattern: RegExp) => both.some((text) => pattern.test(text));
  const home = names(HOME_NAME) || both.some((text) => text.toLowerCase().includes(host.hermesHome.toLowerCase()));
  return [
    ...(home ? [effect("hermes_home", "durable", "uses Hermes' own files in a program")] : []),
    ...(home && host.guest
      ? [
          {
            ...effect("guest_home", "credentials", "reads files of the owner of this Hermes"),
            level: "hardline" as const,
          },
        ]
      : []),
    ...(names(SECRET_NAME) ? [effect("read_credentials", "credentials", "reads keys or passwords")] : []),
    ...(names(STARTUP_NAME) && CHANGES.test(code)
      ? [effect("write_startup", "protected_file", "changes a start-up file")]
      : []),
  ];
}

export const HOME_RULES: ReadonlySet<string> = new Set(["hermes_home", "hermes_trusted"]);
