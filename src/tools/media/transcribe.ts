// Speech to text: an OpenAI-compatible service, or a program on this machine.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { errorMessage } from "../../lib/error-message.ts";
import { shellQuote } from "../../lib/text/shell-quote.ts";

const LIMIT_MS = 300_000;
const MAX_BYTES = 25 * 1024 * 1024;
const REASON_CHARS = 300;

export type Transcriber =
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

/** Runs a program to its end, in an environment that the caller chooses. */
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

function failure(reason: string): Transcript {
  return { ok: false, reason: reason.slice(0, REASON_CHARS) };
}

async function callService(path: string, by: Extract<Transcriber, { kind: "service" }>): Promise<Transcript> {
  const bytes = await readFile(path);
  if (bytes.length > MAX_BYTES) return failure("the recording is larger than 25 MB");
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
  if (!response.ok) return failure(`${by.label} answered ${response.status}: ${body}`);
  const { text } = JSON.parse(body) as { readonly text?: unknown };
  return typeof text === "string" ? { ok: true, text: text.trim() } : failure(`${by.label} returned no text`);
}

async function runCommand(
  path: string,
  by: Extract<Transcriber, { kind: "command" }>,
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
      name in values ? shellQuote(values[name] ?? "") : whole,
    );
    const { code, timedOut, stdout, stderr } = await run(["/bin/sh", "-c", command], LIMIT_MS);
    if (timedOut) return failure("the program took too long");
    if (code !== 0) return failure(`the program ended with code ${code}: ${stderr.trim() || stdout.trim()}`);
    const written = (await readdir(folder)).find((name) => name.endsWith(".txt"));
    const text = written ? await readFile(join(folder, written), "utf8") : stdout;
    return { ok: true, text: text.trim() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The text of the recording. Failures are returned, not thrown. */
export async function transcribe(path: string, by: Transcriber, run: RunProgram): Promise<Transcript> {
  try {
    return by.kind === "service" ? await callService(path, by) : await runCommand(path, by, run);
  } catch (error) {
    return failure(errorMessage(error));
  }
}
