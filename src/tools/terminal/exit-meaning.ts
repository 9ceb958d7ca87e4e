// Describes exit codes, in particular those that do not mean failure, such as 1 from grep.

const MEANINGS: readonly { readonly command: RegExp; readonly codes: { readonly [code: number]: string } }[] = [
  { command: /^(grep|egrep|fgrep|rg|ag|ack|zgrep)$/, codes: { 1: "no match" } },
  { command: /^(diff|cmp|colordiff)$/, codes: { 1: "the files differ" } },
  { command: /^(test|\[)$/, codes: { 1: "the condition is false" } },
  { command: /^find$/, codes: { 1: "some folders could not be read" } },
  { command: /^git$/, codes: { 1: "differences or nothing to do" } },
  {
    command: /^curl$/,
    codes: {
      6: "the host name was not found",
      7: "the connection was refused",
      22: "the server answered with an error status",
      28: "the time limit was reached",
    },
  },
];

const GENERAL: { readonly [code: number]: string } = {
  124: "stopped at the time limit",
  126: "the working directory or the file could not be used",
  127: "the command was not found",
  130: "interrupted",
  137: "killed",
  143: "terminated",
};

/** The program that determines the exit code: that of the last command in a pipeline or list. */
function lastCommand(command: string): string {
  const last =
    command
      .split(/\|\||&&|[|;\n]/)
      .at(-1)
      ?.trim() ?? "";
  const words = last.split(/\s+/).filter((word) => !/^\w+=/.test(word) && word !== "sudo");
  return (words[0] ?? "").split("/").at(-1) ?? "";
}

export function exitMeaning(command: string, code: number): string | undefined {
  if (code === 0) return undefined;
  const name = lastCommand(command);
  const known = MEANINGS.find((entry) => entry.command.test(name))?.codes[code];
  return known ?? GENERAL[code];
}
