// Removes terminal control sequences from output.

const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[PX^_][^\u001b]*\u001b\\|[@-Z\\-_])|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u007f]/g;

/** Of a line that was overwritten with carriage returns, as by progress bars, only the last state is kept. */
export function stripAnsi(text: string): string {
  const plain = text.replaceAll(SEQUENCES, "").replaceAll("\r\n", "\n");
  if (!plain.includes("\r")) return plain;
  return plain
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1))
    .join("\n");
}
