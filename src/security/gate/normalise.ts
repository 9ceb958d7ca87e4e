// One spelling for commands: what a terminal would hide or a keyboard could vary is removed before anything is judged.

const MAX_TEXT = 200_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is being removed
const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is being removed
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g;

/** Without escape sequences, control and invisible characters, compatibility forms and line continuations. */
export function normaliseCommand(command: string): string {
  return command
    .slice(0, MAX_TEXT)
    .replace(ANSI, "")
    .replace(CONTROL, "")
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replace(/\r\n?/g, "\n")
    .replace(/\\\n/g, "")
    .trim();
}

/** For comparison of intents: runs of blanks outside of meaning are one blank. */
export function comparisonText(command: string): string {
  return normaliseCommand(command).replace(/[ \t]+/g, " ");
}
