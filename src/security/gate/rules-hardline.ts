// Never allowed, in no mode and for nobody: what cannot be undone on the whole machine.
import { paths, type ShellRule } from "./rule.ts";
import { argTexts, hasFlag, type Invocation, operands, type ShellWorld } from "./shell-types.ts";
import { absolutePath } from "./shell-walk.ts";
import { isDisk, isVital } from "./vital-paths.ts";

const DELETERS = ["rm", "rmdir", "shred", "srm", "unlink", "grm", "rimraf", "trash"];

function vitalTargets(invocation: Invocation, world: ShellWorld): string[] {
  return operands(invocation)
    .filter((word) => isVital(word.text, invocation.cwd, world))
    .map((word) => absolutePath(word.text, invocation.cwd, world));
}

/** `find / -delete` without a filter that narrows it. */
function findRoots(invocation: Invocation): string[] {
  const texts = argTexts(invocation);
  const end = texts.findIndex((text) => /^[-(!]/.test(text) && !/^-[HLP]$/.test(text));
  return texts.slice(0, end === -1 ? texts.length : end).filter((text) => !text.startsWith("-"));
}

function writesDisk(invocation: Invocation, world: ShellWorld): string[] {
  const redirected = invocation.redirects.filter(({ operator }) => operator.includes(">")).map(({ target }) => target);
  const written = argTexts(invocation).flatMap((text) => (/^of=/.test(text) ? [text.slice(3)] : []));
  return [
    ...paths(redirected, invocation, world),
    ...written.map((text) => absolutePath(text, invocation.cwd, world)),
  ].filter(isDisk);
}

const some = <T>(list: readonly T[]): readonly T[] | null => (list.length > 0 ? list : null);

export const HARDLINE_RULES: readonly ShellRule[] = [
  {
    id: "delete_vital",
    category: "deletion",
    level: "hardline",
    reason: "deletes the system or the home directory",
    programs: DELETERS,
    match: (invocation, world) => some(vitalTargets(invocation, world)),
  },
  {
    id: "move_vital",
    category: "deletion",
    level: "hardline",
    reason: "moves the system or the home directory away",
    programs: ["mv"],
    match: (invocation, world) =>
      some(
        operands(invocation)
          .slice(0, -1)
          .filter((word) => isVital(word.text, invocation.cwd, world))
          .map((word) => word.text),
      ),
  },
  {
    id: "find_delete_vital",
    category: "deletion",
    level: "hardline",
    reason: "deletes everything below the system or the home directory",
    programs: ["find"],
    match: (invocation, world) => {
      const texts = argTexts(invocation);
      const deletes =
        texts.includes("-delete") ||
        texts.some(
          (text, at) => /^-(?:exec|execdir)$/.test(text) && /(?:^|\/)(?:rm|shred|unlink)$/.test(texts[at + 1] ?? ""),
        );
      const narrowed = texts.some((text) =>
        /^-(?:i?name|i?path|i?wholename|i?regex|mtime|mmin|size|newer|empty|user|inum|samefile)/.test(text),
      );
      if (!deletes || narrowed) return null;
      return some(findRoots(invocation).filter((root) => isVital(root, invocation.cwd, world)));
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
    match: (invocation, world) => some(writesDisk(invocation, world)),
  },
  {
    id: "copy_to_disk",
    category: "disk",
    level: "hardline",
    reason: "overwrites a raw disk",
    programs: ["cp", "tee", "shred", "cat", "mv", "install", "badblocks", "sgdisk", "truncate"],
    match: (invocation, world) => {
      const targets = paths(operands(invocation), invocation, world);
      const written = ["cp", "mv", "install"].includes(invocation.name.text.split("/").pop() ?? "")
        ? targets.slice(-1)
        : targets;
      return invocation.name.text.endsWith("cat") ? null : some(written.filter(isDisk));
    },
  },
  {
    id: "kill_everything",
    category: "service",
    level: "hardline",
    reason: "kills every process",
    legacy: ["kill all processes"],
    programs: ["kill"],
    match: (invocation) => {
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
    programs: ["systemctl", "loginctl"],
    match: (invocation) =>
      /^(?:poweroff|reboot|halt|kexec|soft-reboot)$/.test(operands(invocation)[0]?.text ?? "") ? [] : null,
  },
  {
    id: "sysrq",
    category: "shutdown",
    level: "hardline",
    reason: "triggers the kernel's emergency keys",
    match: (invocation, world) =>
      some(
        paths(
          [
            ...invocation.redirects.map(({ target }) => target),
            ...(invocation.name.text.endsWith("tee") ? operands(invocation) : []),
          ],
          invocation,
          world,
        ).filter((path) => path === "/proc/sysrq-trigger"),
      ),
  },
];
