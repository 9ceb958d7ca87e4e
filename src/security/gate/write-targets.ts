// Which files a command writes, as far as its words tell.

import { argTexts, hasFlag, type Invocation, operands, programOf, type ShellWorld, type Word } from "./shell-types.ts";
import { absolutePath } from "./shell-walk.ts";

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

function lastOperand(invocation: Invocation): string[] {
  const into = optionValues(invocation, "-t", "--target-directory");
  const words = operands(invocation);
  return into.length > 0 ? into : words.length > 1 ? [words[words.length - 1]?.text ?? ""] : [];
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
  sed: (invocation) => (hasFlag(invocation, "i", "--in-place") ? texts(operands(invocation)) : []),
  perl: (invocation) => (argTexts(invocation).some((text) => /^-\w*i/.test(text)) ? texts(operands(invocation)) : []),
  curl: (invocation) => optionValues(invocation, "-o", "--output", "--output-dir"),
  wget: (invocation) => optionValues(invocation, "-O", "--output-document", "-P", "--directory-prefix"),
  truncate: (invocation) => texts(operands(invocation)),
  touch: (invocation) => texts(operands(invocation)),
  patch: (invocation) => texts(operands(invocation)).slice(0, 1),
  tar: (invocation) =>
    hasFlag(invocation, "x", "--extract", "--get") || /^x/.test(argTexts(invocation)[0] ?? "")
      ? optionValues(invocation, "-C", "--directory")
      : [],
  unzip: (invocation) => optionValues(invocation, "-d"),
  ex: (invocation) => texts(operands(invocation)),
  ed: (invocation) => texts(operands(invocation)),
  visudo: () => ["/etc/sudoers"],
  vipw: () => ["/etc/passwd"],
};

/** Absolute paths that the command writes, appends to or replaces. */
export function writeTargets(invocation: Invocation, world: ShellWorld): string[] {
  const redirected = invocation.redirects.flatMap(({ operator, target }) =>
    operator.includes(">") && !/^(?:\d+|-)$/.test(target.text) ? [target.text] : [],
  );
  const written = WRITERS[programOf(invocation)]?.(invocation) ?? [];
  return [...redirected, ...written]
    .filter((text) => text !== "")
    .map((text) => absolutePath(text, invocation.cwd, world));
}
