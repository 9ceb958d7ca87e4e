// Compares the installed files with those that would replace them.
import type { FileChange } from "../../core/skill-hub.ts";
import type { Hashed } from "./hash.ts";

const MAX_DIFFED = 200_000;

function decodeText(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return "";
  if (bytes.length > MAX_DIFFED || bytes.subarray(0, 8_192).includes(0)) return undefined;
  return new TextDecoder().decode(bytes);
}

async function diffFile(path: string, before?: Uint8Array, after?: Uint8Array): Promise<FileChange> {
  const kind = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  const from = decodeText(before);
  const to = decodeText(after);
  if (from === undefined || to === undefined) return { path, kind, plus: 0, minus: 0, patch: "" };
  const { createTwoFilesPatch } = await import("diff");
  const whole = createTwoFilesPatch(path, path, from, to, "", "", { context: 3, timeout: 2_000 }) ?? "";
  // Skip the first two lines, which only repeat the file name.
  const [, , ...shown] = whole.split("\n");
  const lines = shown.slice(2);
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { path, kind, plus: count("+"), minus: count("-"), patch: shown.join("\n") };
}

export async function diffFiles(before: readonly Hashed[], after: readonly Hashed[]): Promise<FileChange[]> {
  const old = new Map(before.map((file) => [file.path, file.bytes]));
  const fresh = new Map(after.map((file) => [file.path, file.bytes]));
  const paths = [...new Set([...old.keys(), ...fresh.keys()])].sort();
  const same = (path: string) => {
    const [left, right] = [old.get(path), fresh.get(path)];
    return left !== undefined && right !== undefined && Buffer.compare(left, right) === 0;
  };
  return Promise.all(paths.filter((path) => !same(path)).map((path) => diffFile(path, old.get(path), fresh.get(path))));
}
