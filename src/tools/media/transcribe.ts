// Speech to text: an OpenAI-compatible service, or a program on this machine.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const LIMIT_MS = 300_000;
const MAX_BYTES = 25 * 1024 * 1024;
const REASON_CHARS = 300;

export type Listening =
  | {
      readonly kind: "service";
      readonly label: string;
      readonly baseUrl: string;
      readonly key: string | undefined;
      readonly model: string;
      readonly language: string;
    }
  /** A shell command with {input_path}, {output_dir}, {model} and {language}; it prints the text or writes a .txt file. */
  | { readonly kind: "command"; readonly command: string; readonly model: string; readonly language: string };

/** Runs a program to its end; the caller decides about its environment. */
export type RunProgram = (
  argv: readonly string[],
  timeoutMs: number,
) => Promise<{
  readonly code: number | null;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
}>;

export type Transcript = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

function failed(reason: string): Transcript {
  return { ok: false, reason: reason.slice(0, REASON_CHARS) };
}

async function byService(path: string, by: Extract<Listening, { kind: "service" }>): Promise<Transcript> {
  const bytes = await readFile(path);
  if (bytes.length > MAX_BYTES) return failed("the recording is larger than 25 MB");
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(bytes)]), basename(path));
  form.set("model", by.model);
  form.set("response_format", "json");
  if (by.language !== "") form.set("language", by.language);
  const response = await fetch(`${by.baseUrl.replace(/\/+$/, "")}/audio/transcriptions`, {
    method: "POST",
    body: form,
    headers: by.key ? { authorization: `Bearer ${by.key}` } : {},
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  const body = await response.text();
  if (!response.ok) return failed(`${by.label} answered ${response.status}: ${body}`);
  const { text } = JSON.parse(body) as { readonly text?: unknown };
  return typeof text === "string" ? { ok: true, text: text.trim() } : failed(`${by.label} gave no text`);
}

function quoted(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}

async function byCommand(
  path: string,
  by: Extract<Listening, { kind: "command" }>,
  run: RunProgram,
): Promise<Transcript> {
  const folder = await mkdtemp(join(tmpdir(), "hermes-listen-"));
  try {
    const values: { readonly [name: string]: string } = {
      input_path: path,
      output_dir: folder,
      model: by.model,
      language: by.language || "en",
    };
    const command = by.command.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
      name in values ? quoted(values[name] ?? "") : whole,
    );
    const { code, timedOut, stdout, stderr } = await run(["/bin/sh", "-c", command], LIMIT_MS);
    if (timedOut) return failed("the program took too long");
    if (code !== 0) return failed(`the program ended with code ${code}: ${stderr.trim() || stdout.trim()}`);
    const written = (await readdir(folder)).find((name) => name.endsWith(".txt"));
    const text = written ? await readFile(join(folder, written), "utf8") : stdout;
    return { ok: true, text: text.trim() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What was said in the recording. Trouble is data. */
export async function transcribe(path: string, by: Listening, run: RunProgram): Promise<Transcript> {
  try {
    return by.kind === "service" ? await byService(path, by) : await byCommand(path, by, run);
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}
