// Rules about protected places: whoever names one must be a program that plainly does no harm to it.
import { secretPlace, within } from "../../protected-places.ts";
import { isBelow } from "../../real-path.ts";
import type { Category, Effect } from "../effects.ts";
import { isForbidden } from "../guest.ts";
import { STATE_PROGRAMS } from "../outside/local-programs.ts";
import {
  argTexts,
  hasFlag,
  type Invocation,
  operands,
  programOf,
  type ShellEnvironment,
} from "../shell/shell-types.ts";
import { absolutePath } from "../shell/shell-walk.ts";
import { argumentPlaces, namedPlaces, placesFor, redirectTexts } from "./named-places.ts";
import type { ShellRule } from "./rule.ts";
import { isGuardedFile } from "./vital-paths.ts";
import { writeTargets } from "./write-targets.ts";

const set = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** They show names and states, never the content. */
const NAMES_ONLY = set(
  "ls dir stat test [ [[ file cd pushd popd dirname basename realpath readlink which type echo printf du tree pwd true export",
);
/** A key file is an ordinary argument for them, or they change only its place and mode, which other rules judge. */
const KEY_USERS = set(
  "ssh ssh-add ssh-keygen ssh-copy-id sftp mosh autossh ansible ansible-playbook chmod chown mkdir touch rm rmdir unlink mv shred hermes",
);
/** They only print what they read. */
const READERS = set(
  "cat head tail bat nl wc grep egrep fgrep rg cut tr diff cmp md5sum sha1sum sha256sum sha512sum cksum od hexdump strings column tac rev base64 fold",
);
/** What they run is judged by itself. */
const TRANSPARENT = set(
  "env nice nohup time timeout stdbuf setsid ionice command builtin exec eval sudo doas xargs parallel watch script",
);
const SHELLS = /^(?:ba|z|da|k|a)?sh$/;

function isTransparent(invocation: Invocation): boolean {
  const program = programOf(invocation);
  return (
    TRANSPARENT.has(program) || (SHELLS.test(program) && argTexts(invocation).some((text) => /^-\w*c$/.test(text)))
  );
}

function findsOnly(invocation: Invocation): boolean {
  return (
    /^(?:find|fd|fdfind)$/.test(programOf(invocation)) &&
    !argTexts(invocation).some((text) =>
      /^-{1,2}(?:exec|execdir|ok|okdir|delete|fprint\w*|fls|x|X|exec-batch)$/.test(text),
    )
  );
}

function namesOnly(invocation: Invocation): boolean {
  return NAMES_ONLY.has(programOf(invocation)) || findsOnly(invocation);
}

/** Programs that write when they are told to, in a form that only reads. */
function readsOnly(invocation: Invocation): boolean {
  const program = programOf(invocation);
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

/** Copies out of a place: only the last word is written. */
function copiesOut(invocation: Invocation, hits: (texts: readonly string[]) => boolean): boolean {
  if (programOf(invocation) !== "cp" || hasFlag(invocation, "t", "--target-directory")) return false;
  const words = operands(invocation).map((word) => word.text);
  const last = words.at(-1) ?? "";
  const made = words.slice(0, -1).map((text) => `${last}/${text.split("/").pop() ?? ""}`);
  return !hits([last, ...made]);
}

const MANY = /^(?:tar|zip|rsync|scp|7z|7za|cpio|dump|restic|borg|rclone)$/;

/** Reads whole trees with their content. */
function readsTrees(invocation: Invocation): boolean {
  const program = programOf(invocation);
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

/** A filter by name under which no file with keys can fall. */
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

/** The person's home or a folder above it, read with all that is in it. */
function treesAbove(invocation: Invocation, host: ShellEnvironment): string[] {
  if (!readsTrees(invocation) || hasSafeFilter(invocation)) return [];
  const words = operands(invocation).map((word) =>
    absolutePath(word.text.replace(/\/\*?$/, "") || "/", invocation.cwd, host),
  );
  const named = words.filter((path) => isBelow(path, host.userHome));
  // Without a path the folder itself is read; an operand may be the pattern, so one is not enough to tell.
  const here =
    words.length <= 1 &&
    /^(?:[ef]?grep|rg|ag|ack|find|fd)$/.test(programOf(invocation)) &&
    isBelow(invocation.cwd, host.userHome);
  return [...named, ...(here ? [invocation.cwd] : [])];
}

function secretsRead(invocation: Invocation, host: ShellEnvironment): readonly string[] {
  const places = placesFor(host);
  const read = namedPlaces(redirectTexts(invocation, true), invocation, host).secrets;
  const program = programOf(invocation);
  const above = treesAbove(invocation, host);
  if (read.length > 0 || above.length > 0) return [...read, ...above];
  if (program === "xargs" || program === "parallel" || program === "cpio" || /^(?:tar|rsync)$/.test(program)) {
    const fed = invocation.upstream.flatMap((earlier) => [...argumentPlaces(earlier, host).secrets]);
    if (fed.length > 0 && !onlyNamesInside(invocation)) return fed;
  }
  if (namesOnly(invocation) || KEY_USERS.has(program) || isTransparent(invocation)) return [];
  if (program === "git" && argTexts(invocation).some((text) => /sshCommand=/i.test(text))) return [];
  const named = argumentPlaces(invocation, host).secrets;
  if (named.length > 0) return named;
  // In a folder of keys every unknown word may be one of them.
  const inside = secretPlace(invocation.cwd, places) !== null;
  return inside && invocation.name.text !== "" && invocation.args.some((word) => word.dynamic) ? [invocation.cwd] : [];
}

function onlyNamesInside(invocation: Invocation): boolean {
  const program = operands(invocation)[0]?.text ?? "echo";
  return NAMES_ONLY.has(program);
}

/** The ones among the plain programs that change files. */
const CHANGERS = set("rm rmdir unlink touch truncate mkdir chmod chown chgrp mktemp tmux screen");

/** Paths in Hermes' homes that the command may change. */
function homeChanged(invocation: Invocation, host: ShellEnvironment): readonly string[] {
  const written = namedPlaces(redirectTexts(invocation, false), invocation, host).home;
  if (written.length > 0) return written;
  if (programOf(invocation) === "hermes" || isTransparent(invocation) || readsOnly(invocation)) return [];
  if (STATE_PROGRAMS.has(programOf(invocation)) && !CHANGERS.has(programOf(invocation))) return [];
  const hits = (texts: readonly string[]) => namedPlaces(texts, invocation, host).home.length > 0;
  if (copiesOut(invocation, hits)) return [];
  const named = argumentPlaces(invocation, host).home;
  if (named.length > 0) return named;
  const inside =
    within(placesFor(host).hermesHomes, invocation.cwd) !== null &&
    namedPlaces([`${invocation.cwd}/x`], invocation, host).home.length > 0;
  return inside && invocation.name.text !== "" ? [invocation.cwd] : [];
}

/** They use such files as they are meant to be used, or other rules judge what they do to them. */
const STARTUP_USERS = set("mkdir chmod source . hermes code which");
const GIT_WRITES = /^(?:-o|--output|--output-directory|--work-tree)/;

function startupChanged(invocation: Invocation, host: ShellEnvironment): readonly string[] {
  const written = namedPlaces(redirectTexts(invocation, false), invocation, host).startup;
  if (written.length > 0) return written;
  const program = programOf(invocation);
  if (readsOnly(invocation) || isTransparent(invocation)) return [];
  if (STARTUP_USERS.has(program) || SHELLS.test(program) || (KEY_USERS.has(program) && program !== "mv")) return [];
  if (program === "git" && !argTexts(invocation).some((text) => GIT_WRITES.test(text))) return [];
  const hits = (texts: readonly string[]) => namedPlaces(texts, invocation, host).startup.length > 0;
  if (copiesOut(invocation, hits)) return [];
  // A program that lies in such a folder is run, not changed: its name is not among the words.
  return argumentPlaces(invocation, host).startup;
}

/** Archives unpacked right into the person's home bring start-up files along. */
function unpackedHome(invocation: Invocation, host: ShellEnvironment): readonly string[] {
  const program = programOf(invocation);
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

const some = (list: readonly string[]): readonly string[] | null => (list.length > 0 ? [...new Set(list)] : null);

export const PLACE_RULES: readonly ShellRule[] = [
  {
    id: "hermes_home",
    category: "durable",
    level: "dangerous",
    reason: "may change Hermes' own files",
    match: (invocation, host) => some(homeChanged(invocation, host)),
  },
  {
    id: "guest_home",
    category: "credentials",
    level: "hardline",
    reason: "reads what belongs to the owner of this Hermes",
    match: (invocation, host) => {
      if (!host.guest) return null;
      const all = [...argTexts(invocation), ...redirectTexts(invocation, true), invocation.cwd];
      const named = namedPlaces(all, invocation, host);
      const homes = { hermesHome: host.hermesHome, realHome: host.hermesHome };
      const home = named.home.filter((path) => isForbidden(path, homes));
      return some([...home, ...named.secrets, ...treesAbove(invocation, host)]);
    },
  },
  {
    id: "read_credentials",
    category: "credentials",
    level: "dangerous",
    reason: "reads keys or passwords",
    match: (invocation, host) => some(secretsRead(invocation, host)),
  },
  {
    id: "write_startup",
    category: "protected_file",
    level: "dangerous",
    reason: "changes a start-up file or what programs run by name",
    match: (invocation, host) => {
      // Plain writes have a rule of their own, under which people keep approvals.
      if (writeTargets(invocation, host).some((path) => isGuardedFile(path, host))) return null;
      return some([...startupChanged(invocation, host), ...unpackedHome(invocation, host)]);
    },
  },
];

/** `cat $(ls ~/.ssh/id_rsa)`: one command finds the name of a key, another gets it as an unknown word. */
export function indirectReads(invocations: readonly Invocation[], host: ShellEnvironment): Effect[] {
  const finds = invocations.some(
    (invocation) =>
      namesOnly(invocation) && programOf(invocation) !== "cd" && argumentPlaces(invocation, host).secrets.length > 0,
  );
  if (!finds) return [];
  const users = invocations.filter(
    (invocation) =>
      !namesOnly(invocation) && !KEY_USERS.has(programOf(invocation)) && invocation.args.some((word) => word.dynamic),
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

/** Protected places that a program text names, also when the name is put together from literals. */
export function codePlaces(code: string, host: ShellEnvironment): Effect[] {
  const joined = code
    .slice(0, 200_000)
    .replace(/["'`]\s*\+\s*[rbfuRBFU]{0,2}["'`]/g, "")
    .replace(/["'`]\s*[,/]\s*[rbfuRBFU]{0,2}["'`]/g, "/")
    .replace(/["']\s+[rbfu]?["']/g, "");
  const both = [code, joined];
  const names = (pattern: RegExp) => both.some((text) => pattern.test(text));
  const home = names(HOME_NAME) || both.some((text) => text.toLowerCase().includes(host.hermesHome.toLowerCase()));
  return [
    ...(home ? [effect("hermes_home", "durable", "names Hermes' own files in a program")] : []),
    ...(home && host.guest
      ? [
          {
            ...effect("guest_home", "credentials", "reads what belongs to the owner of this Hermes"),
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
