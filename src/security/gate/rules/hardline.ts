// Hardline rules, never allowed in any mode: irreversible damage to the whole machine.

import { argTexts, hasFlag, type Invocation, operands, type ShellEnvironment } from "../shell/shell-types.ts";
import { absolutePath } from "../shell/shell-walk.ts";
import { nonEmpty, paths, type ShellRule } from "./rule.ts";
import { isDisk, isVital } from "./vital-paths.ts";

const DELETERS = ["rm", "rmdir", "shred", "srm", "unlink", "grm", "rimraf", "trash"];

function vitalTargets(invocation: Invocation, host: ShellEnvironment): string[] {
  return operands(invocation)
    .filter((word) => isVital(word.text, invocation.cwd, host))
    .map((word) => absolutePath(word.text, invocation.cwd, host));
}

/** The start folders of a `find` command. */
function findRoots(invocation: Invocation): string[] {
  const texts = argTexts(invocation);
  const end = texts.findIndex((text) => /^[-(!]/.test(text) && !/^-[HLP]$/.test(text));
  return texts.slice(0, end === -1 ? texts.length : end).filter((text) => !text.startsWith("-"));
}

/** True for a `find` test that excludes most files: a name with letters, an age, a specific size. */
function narrows(test: string, value: string): boolean {
  if (/^-(?:i?name|i?path|i?wholename|i?regex|i?lname)$/.test(test))
    return /[\p{L}\p{N}]/u.test(value.replace(/\[[^\]]*\]/g, ""));
  if (test === "-size") return !/^-\d+[GTP]$|^\+0/.test(value);
  if (/^-[acm](?:time|min)$/.test(test)) return !/^\+0$|^-\d{4,}$/.test(value);
  return /^-(?:newer\w*|empty|inum|samefile)$/.test(test);
}

function writesDisk(invocation: Invocation, host: ShellEnvironment): string[] {
  const redirected = invocation.redirects.filter(({ operator }) => operator.includes(">")).map(({ target }) => target);
  const written = argTexts(invocation).flatMap((text) => (/^of=/.test(text) ? [text.slice(3)] : []));
  return [
    ...paths(redirected, invocation, host),
    ...written.map((text) => absolutePath(text, invocation.cwd, host)),
  ].filter(isDisk);
}

export const HARDLINE_RULES: readonly ShellRule[] = [
  {
    id: "delete_vital",
    category: "deletion",
    level: "hardline",
    reason: "deletes the system or the home directory",
    programs: DELETERS,
    match: (invocation, host) => nonEmpty(vitalTargets(invocation, host)),
  },
  {
    id: "move_vital",
    category: "deletion",
    level: "hardline",
    reason: "moves the system or the home directory",
    programs: ["mv"],
    match: (invocation, host) =>
      nonEmpty(
        operands(invocation)
          .slice(0, -1)
          .filter((word) => isVital(word.text, invocation.cwd, host))
          .map((word) => word.text),
      ),
  },
  {
    id: "find_delete_vital",
    category: "deletion",
    level: "hardline",
    reason: "deletes everything below the system or the home directory",
    programs: ["find"],
    match: (invocation, host) => {
      const texts = argTexts(invocation);
      const deletes =
        texts.includes("-delete") ||
        texts.some(
          (text, at) => /^-(?:exec|execdir)$/.test(text) && /(?:^|\/)(?:rm|shred|unlink)$/.test(texts[at + 1] ?? ""),
        );
      const narrowed = texts.some((text, at) => narrows(text, texts[at + 1] ?? ""));
      if (!deletes || narrowed) return null;
      return nonEmpty(findRoots(invocation).filter((root) => isVital(root, invocation.cwd, host)));
    },
  },
  {
    id: "tree_vital",
    category: "permissions",
    level: "hardline",
    reason: "changes the permissions of the whole system or home",
    programs: ["chmod", "chown", "chgrp", "setfacl", "chattr"],
    match: (invocation, host) =>
      hasFlag(invocation, "R", "--recursive") ? nonEmpty(vitalTargets(invocation, host)) : null,
  },
  {
    id: "replace_vital",
    category: "deletion",
    level: "hardline",
    reason: "deletes the system or the home directory",
    programs: ["tar", "bsdtar", "rsync", "git", "btrfs", "zip"],
    match: (invocation, host) => {
      const texts = argTexts(invocation);
      const clean = texts.includes("clean") && texts.some((text) => /^-[a-z]*f/.test(text));
      const removes =
        clean ||
        texts.some((text) => /^--(?:remo|del)/.test(text)) ||
        (texts.includes("subvolume") && texts.includes("delete"));
      const places = clean ? texts.flatMap((text, at) => (text === "-C" ? [texts[at + 1] ?? ""] : [])) : [];
      const words = [...operands(invocation).map((word) => word.text), ...places].filter((text) => /^[/~.]/.test(text));
      return removes ? nonEmpty(words.filter((text) => isVital(text, invocation.cwd, host))) : null;
    },
  },
  {
    id: "format_disk",
    category: "disk",
    level: "hardline",
    reason: "formats a file system",
    legacy: ["format filesystem"],
    match: (invocation) =>
      /(?:^|\/)(?:mkfs(?:\.\w+)?|mke2fs|mkswap|newfs(?:_\w+)?|wipefs|blkdiscard)$/.test(invocation.name.text) &&
      invocation.args.some((word) => !/^(?:-V|-h|--help|--version)$/.test(word.text))
        ? argTexts(invocation).filter((text) => text.startsWith("/"))
        : null,
  },
  {
    id: "write_disk",
    category: "disk",
    level: "hardline",
    reason: "writes to a raw disk",
    match: (invocation, host) => nonEmpty(writesDisk(invocation, host)),
  },
  {
    id: "copy_to_disk",
    category: "disk",
    level: "hardline",
    reason: "overwrites a raw disk",
    programs: [
      "cp",
      "tee",
      "shred",
      "cat",
      "mv",
      "install",
      "badblocks",
      "sgdisk",
      "truncate",
      "ddrescue",
      "pv",
      "dcfldd",
      "dc3dd",
    ],
    match: (invocation, host) => {
      const targets = paths(operands(invocation), invocation, host);
      const written = ["cp", "mv", "install", "ddrescue"].includes(invocation.name.text.split("/").pop() ?? "")
        ? targets.slice(-1)
        : targets;
      return invocation.name.text.endsWith("cat") ? null : nonEmpty(written.filter(isDisk));
    },
  },
  {
    id: "kill_everything",
    category: "service",
    level: "hardline",
    reason: "kills every process",
    legacy: ["kill all processes"],
    programs: ["kill", "killall5"],
    match: (invocation) => {
      if (invocation.name.text.endsWith("killall5")) return ["-1"];
      const texts = argTexts(invocation);
      const dash = texts.indexOf("--");
      const rest = dash === -1 ? texts.slice(1) : texts.slice(dash + 1);
      return rest.includes("-1") ? ["-1"] : null;
    },
  },
  {
    id: "shutdown",
    category: "shutdown",
    level: "hardline",
    reason: "shuts the machine down",
    programs: ["shutdown", "reboot", "halt", "poweroff"],
    match: (invocation) =>
      hasFlag(invocation, "", "--help", "--version") || argTexts(invocation).includes("-c") ? null : [],
  },
  {
    id: "runlevel",
    category: "shutdown",
    level: "hardline",
    reason: "shuts the machine down",
    programs: ["init", "telinit"],
    match: (invocation) => (/^[06]$/.test(operands(invocation)[0]?.text ?? "") ? [] : null),
  },
  {
    id: "systemctl_shutdown",
    category: "shutdown",
    level: "hardline",
    reason: "shuts the machine down",
    programs: ["systemctl", "loginctl", "busctl", "dbus-send", "gdbus", "qdbus"],
    match: (invocation) => {
      const texts = operands(invocation).map((word) => word.text);
      const target = texts.some((text) =>
        /^(?:poweroff|reboot|halt|shutdown|kexec|rescue|emergency|runlevel[016])\.target$/.test(text),
      );
      const call = texts.some((text) => /(?:^|\.)(?:PowerOff|Reboot|Halt|KExec)\w*$/.test(text));
      const first = /^(?:poweroff|reboot|halt|kexec|soft-reboot)$/.test(texts[0] ?? "");
      return first || call || (target && /^(?:start|isolate)$/.test(texts[0] ?? "")) ? [] : null;
    },
  },
  {
    id: "sysrq",
    category: "shutdown",
    level: "hardline",
    reason: "triggers the kernel's emergency keys",
    match: (invocation, host) =>
      nonEmpty(
        paths(
          [
            ...invocation.redirects.map(({ target }) => target),
            ...(invocation.name.text.endsWith("tee") ? operands(invocation) : []),
          ],
          invocation,
          host,
        ).filter((path) => path === "/proc/sysrq-trigger"),
      ),
  },
];
