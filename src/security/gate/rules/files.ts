// Rules for files: deletion, permissions, and changes to system, start-up and credential files.

import {
  argTexts,
  hasFlag,
  type Invocation,
  operands,
  programName,
  type ShellEnvironment,
  UNKNOWN,
} from "../shell/shell-types.ts";
import { nonEmpty, paths, type ShellRule } from "./rule.ts";
import { isGuardedFile, isOutside, isSystemPath } from "./vital-paths.ts";
import { writeTargets } from "./write-targets.ts";

const findTargets = (invocation: Invocation, host: ShellEnvironment): string[] =>
  paths(operands(invocation), invocation, host);

const isRecursive = (invocation: Invocation): boolean => hasFlag(invocation, "rR", "--recursive");

/** The paths that a command deletes, empties or moves. */
function removedPaths(invocation: Invocation, host: ShellEnvironment): string[] {
  const targets = findTargets(invocation, host);
  if (programName(invocation) === "ln") return hasFlag(invocation, "f", "--force") ? targets.slice(-1) : [];
  if (programName(invocation) !== "mv") return targets.filter((path) => path !== invocation.cwd);
  const into = argTexts(invocation).some((text) => /^(?:-t|--target-directory)/.test(text));
  return into ? targets : targets.slice(0, -1);
}

function opensToAll(mode: string): boolean {
  if (/^[0-7]{3,4}$/.test(mode)) return (Number.parseInt(mode.slice(-1), 8) & 2) !== 0;
  return mode
    .split(",")
    .some((part) => /^[ugoa]*[+=][rxXst]*w/.test(part) && /^(?:[ug]*[oa]|[+=])/.test(part) && !/^[+=]/.test(part));
}

function setsId(mode: string): boolean {
  return /^[2467][0-7]{3}$/.test(mode) || /[ug]*\+[rwx]*s/.test(mode);
}

export const FILE_RULES: readonly ShellRule[] = [
  {
    id: "delete_recursive",
    category: "deletion",
    level: "dangerous",
    reason: "deletes folders recursively",
    legacy: [
      "recursive delete",
      "recursive delete (long flag)",
      "delete in root path",
      "xargs with rm",
      "find -exec rm",
    ],
    programs: ["rm", "grm", "srm", "rimraf"],
    match: (invocation, host) =>
      isRecursive(invocation) || programName(invocation) === "rimraf" ? findTargets(invocation, host) : null,
  },
  {
    id: "delete_unknown",
    category: "deletion",
    level: "dangerous",
    reason: "deletes files that are only known at run time",
    legacy: ["xargs with rm", "find -exec rm"],
    programs: ["rm", "grm", "unlink", "shred", "srm"],
    match: (invocation, host) => {
      const unknown = operands(invocation).some((word) => word.text.includes(UNKNOWN) || /^\/?\*$/.test(word.text));
      return unknown || programName(invocation) === "shred" ? findTargets(invocation, host) : null;
    },
  },
  {
    id: "delete_outside",
    category: "deletion",
    level: "dangerous",
    reason: "deletes files outside the working folder",
    legacy: ["delete in root path"],
    programs: ["rm", "unlink", "grm", "rmdir", "truncate", "mv", "ln"],
    match: (invocation, host) => nonEmpty(removedPaths(invocation, host).filter((path) => isOutside(path, host))),
  },
  {
    id: "find_delete",
    category: "deletion",
    level: "dangerous",
    reason: "deletes every file it finds",
    legacy: ["find -delete"],
    programs: ["find", "fd"],
    match: (invocation, host) =>
      argTexts(invocation).includes("-delete") ? paths(operands(invocation).slice(0, 1), invocation, host) : null,
  },
  {
    id: "sync_delete",
    category: "deletion",
    level: "dangerous",
    reason: "deletes files that the source does not have",
    programs: ["rsync", "rclone"],
    match: (invocation, host) =>
      argTexts(invocation).some(
        (text) => /^--(?:delete|remove-source)/.test(text) || /^(?:purge|delete|sync)$/.test(text),
      ) && !hasFlag(invocation, "n", "--dry-run")
        ? findTargets(invocation, host).slice(-1)
        : null,
  },
  {
    id: "delete_file",
    category: "deletion",
    level: "note",
    reason: "deletes, empties or moves files",
    programs: ["rm", "rmdir", "unlink", "mv", "truncate", "shred", "trash", "gio"],
    match: findTargets,
  },
  {
    id: "open_permissions",
    category: "permissions",
    level: "dangerous",
    reason: "makes files writable for all users",
    legacy: [
      "world/other-writable permissions",
      "world-writable permissions",
      "recursive world/other-writable (long flag)",
    ],
    programs: ["chmod"],
    match: (invocation, host) => {
      const mode =
        argTexts(invocation).find((text) => /^[0-7]{3,4}$|^[ugoa]*[-+=]/.test(text) && !/^-[Rrvcf]+$|^--/.test(text)) ??
        "";
      return opensToAll(mode) || setsId(mode) ? findTargets(invocation, host) : null;
    },
  },
  {
    id: "chown_root",
    category: "permissions",
    level: "dangerous",
    reason: "changes the owner of whole folders",
    legacy: ["recursive chown to root", "recursive chown to root (long flag)"],
    programs: ["chown", "chgrp"],
    match: (invocation, host) =>
      isRecursive(invocation) &&
      (/^(?:root|0)(?::|$)/.test(operands(invocation)[0]?.text ?? "") ||
        findTargets(invocation, host)
          .slice(1)
          .some((path) => isSystemPath(path) || path === "/"))
        ? findTargets(invocation, host).slice(1)
        : null,
  },
  {
    id: "chmod_tree",
    category: "permissions",
    level: "dangerous",
    reason: "changes the permissions of system folders",
    programs: ["chmod", "setfacl", "chattr"],
    match: (invocation, host) =>
      nonEmpty(findTargets(invocation, host).filter((path) => path === "/" || isSystemPath(path))),
  },
  {
    id: "write_system",
    category: "protected_file",
    level: "dangerous",
    reason: "changes system configuration",
    legacy: [
      "overwrite system config",
      "overwrite system file via tee",
      "overwrite system file via redirection",
      "copy/move file into /etc/",
      "in-place edit of system config",
      "write to block device",
    ],
    match: (invocation, host) =>
      nonEmpty(
        writeTargets(invocation, host).filter(
          (path) =>
            isSystemPath(path) ||
            (/^\/(?:proc|sys|dev)\//.test(path) &&
              !/^\/dev\/(?:null|stdout|stderr|tty|fd\/|shm\/|tcp\/|udp\/)/.test(path)),
        ),
      ),
  },
  {
    id: "write_guarded",
    category: "protected_file",
    level: "dangerous",
    reason: "changes a start-up, credential or Hermes file",
    legacy: ["overwrite system file via redirection", "overwrite system file via tee"],
    match: (invocation, host) => nonEmpty(writeTargets(invocation, host).filter((path) => isGuardedFile(path, host))),
  },
  {
    id: "remove_guarded",
    category: "protected_file",
    level: "dangerous",
    reason: "removes or moves a start-up, credential or Hermes file",
    programs: ["rm", "mv", "unlink", "chmod", "chown", "rmdir", "shred"],
    match: (invocation, host) => {
      const guarded = findTargets(invocation, host).filter(
        (path) => isGuardedFile(path, host) || path === host.hermesHome,
      );
      return /^chmod$/.test(programName(invocation)) && /^[0-7]?[0-7]00$/.test(operands(invocation)[0]?.text ?? "")
        ? null
        : nonEmpty(guarded);
    },
  },
  {
    id: "write_env",
    category: "protected_file",
    level: "dangerous",
    reason: "overwrites a file with the project's secrets",
    legacy: [
      "overwrite project env/config via redirection",
      "overwrite project env/config via tee",
      "overwrite project env/config file",
    ],
    match: (invocation, host) =>
      nonEmpty(
        writeTargets(invocation, host).filter((path) =>
          /\/\.env(?:\.(?!example$|sample$|template$|dist$)[\w-]+)?$/.test(path),
        ),
      ),
  },
];
