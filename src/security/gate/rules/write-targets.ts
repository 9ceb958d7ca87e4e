// Lists the files that a command writes, as far as its arguments show.
import { basename } from "node:path";
import { sedEffects } from "../shell/sed-script.ts";
import { sedScripts } from "../shell/shell-programs.ts";
import {
  argTexts,
  hasFlag,
  type Invocation,
  operands,
  programName,
  type ShellEnvironment,
  type Word,
} from "../shell/shell-types.ts";
import { absolutePath } from "../shell/shell-walk.ts";

function optionValues(invocation: Invocation, ...flags: string[]): string[] {
  const texts = argTexts(invocation);
  return texts.flatMap((text, at) => {
    const next = texts[at + 1];
    if (flags.includes(text) && next !== undefined) return [next];
    const joined = flags.find((flag) =>
      flag.startsWith("--") ? text.startsWith(`${flag}=`) : text.startsWith(flag) && text.length > flag.length,
    );
    return joined ? [text.slice(joined.length).replace(/^=/, "")] : [];
  });
}

/** An archive may contain any name, also that of a start-up file. */
function extracted(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => [folder, `${folder}/.bashrc`]);
}

/** The value of a flag at the end of a bundle: `-fsSLo file`. */
function bundled(invocation: Invocation, letters: string): string[] {
  const words = argTexts(invocation);
  const pattern = new RegExp(`^-[A-Za-z]+[${letters}]$`);
  return words.flatMap((text, at) => (pattern.test(text) ? [words[at + 1] ?? ""] : []));
}

function lastOperand(invocation: Invocation): string[] {
  const into = optionValues(invocation, "-t", "--target-directory");
  const words = operands(invocation);
  const targets = into.length > 0 ? into : words.length > 1 ? [words[words.length - 1]?.text ?? ""] : [];
  const sources = into.length > 0 ? words : words.slice(0, -1);
  // The target may be a folder.
  return targets.flatMap((target) => [target, ...sources.map((word) => `${target}/${basename(word.text)}`)]);
}

const texts = (words: readonly Word[]): string[] => words.map((word) => word.text);

const WRITERS: { readonly [program: string]: (invocation: Invocation) => string[] } = {
  tee: (invocation) => texts(operands(invocation)),
  sponge: (invocation) => texts(operands(invocation)),
  cp: lastOperand,
  mv: lastOperand,
  install: lastOperand,
  ln: lastOperand,
  rsync: lastOperand,
  scp: lastOperand,
  dd: (invocation) => argTexts(invocation).flatMap((text) => (text.startsWith("of=") ? [text.slice(3)] : [])),
  sed: (invocation) => [
    ...(hasFlag(invocation, "i", "--in-place") ? texts(operands(invocation)) : []),
    ...sedScripts(invocation).flatMap((word) => sedEffects(word.text).writes),
  ],
  perl: (invocation) => (argTexts(invocation).some((text) => /^-\w*i/.test(text)) ? texts(operands(invocation)) : []),
  curl: (invocation) => [
    ...optionValues(invocation, "-o", "--output", "--output-dir"),
    ...bundled(invocation, "o"),
    ...optionValues(invocation, "-c", "--cookie-jar", "-D", "--dump-header", "--trace", "--trace-ascii"),
  ],
  wget: (invocation) => [
    ...optionValues(invocation, "-O", "--output-document", "-P", "--directory-prefix", "-o", "-a"),
    ...bundled(invocation, "OP"),
  ],
  sort: (invocation) => [...optionValues(invocation, "-o", "--output"), ...bundled(invocation, "o")],
  openssl: (invocation) => optionValues(invocation, "-out", "-keyout"),
  find: (invocation) => optionValues(invocation, "-fprint", "-fprintf", "-fls", "-fprint0"),
  xxd: (invocation) => texts(operands(invocation)).slice(-1),
  git: (invocation) =>
    argTexts(invocation).some((text) => /^(?:format-patch|archive|bundle|diff|show|log)$/.test(text))
      ? optionValues(invocation, "-o", "--output", "--output-directory")
      : [],
  truncate: (invocation) => texts(operands(invocation)),
  touch: (invocation) => texts(operands(invocation)),
  patch: (invocation) => texts(operands(invocation)).slice(0, 1),
  tar: (invocation) =>
    hasFlag(invocation, "x", "--extract", "--get") || /^x/.test(argTexts(invocation)[0] ?? "")
      ? extracted(optionValues(invocation, "-C", "--directory"))
      : [],
  unzip: (invocation) => extracted(optionValues(invocation, "-d")),
  ex: (invocation) => texts(operands(invocation)),
  ed: (invocation) => texts(operands(invocation)),
  visudo: () => ["/etc/sudoers"],
  vipw: () => ["/etc/passwd"],
};

/** Absolute paths that the command writes, appends to or replaces. */
export function writeTargets(invocation: Invocation, host: ShellEnvironment): string[] {
  const redirected = invocation.redirects.flatMap(({ operator, target }) =>
    operator.includes(">") && !/^(?:\d+|-)$/.test(target.text) ? [target.text] : [],
  );
  const written = WRITERS[programName(invocation)]?.(invocation) ?? [];
  return [...redirected, ...written]
    .filter((text) => text !== "")
    .map((text) => absolutePath(text, invocation.cwd, host));
}
