// Looks for a model server on this machine when nothing is configured: all ports at once, with a short deadline.
import { connect } from "node:net";
import { httpFetch } from "../lib/http-fetch.ts";
import { isRecord } from "../lib/json/is-record.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import { LOCAL } from "./catalog/local.ts";

const DEADLINE_MS = 250;

/** A server that answered, with the model it would use. */
export interface LocalServer {
  /** Catalog id: `ollama`, `lmstudio`, `llamacpp`, `vllm`. */
  readonly provider: string;
  readonly label: string;
  readonly baseUrl: string;
  readonly model: string;
}

export interface ProbeTarget {
  readonly provider: string;
  readonly label: string;
  readonly baseUrl: string;
}

const TARGETS: readonly ProbeTarget[] = LOCAL.filter((spec) => spec.local).map((spec) => ({
  provider: spec.id,
  label: spec.label,
  baseUrl: spec.baseUrl,
}));

/** Models for embeddings and speech cannot hold a conversation. */
const NOT_CHAT = /embed|bge-|minilm|whisper|rerank|tts/i;

/** A plain connection finds out in a millisecond that no server listens; an HTTP request takes longer. */
function listens(url: string, signal: AbortSignal): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port || 80) });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
    signal.addEventListener("abort", () => end(false), { once: true });
  });
}

async function probe(target: ProbeTarget, signal: AbortSignal): Promise<LocalServer | undefined> {
  if (!(await listens(target.baseUrl, signal))) return undefined;
  try {
    const response = await httpFetch(`${target.baseUrl}/models`, { signal });
    if (!response.ok) return undefined;
    const body = parseJson(await response.text());
    const listed: unknown[] = isRecord(body) && Array.isArray(body.data) ? body.data : [];
    const ids = listed.map((item) => (isRecord(item) && typeof item.id === "string" ? item.id : "")).filter(Boolean);
    const model = ids.find((id) => !NOT_CHAT.test(id));
    return model === undefined ? undefined : { ...target, model };
  } catch {
    // No server, too slow, or another kind of server.
    return undefined;
  }
}

/** The first target, in the given order, that serves a chat model within the deadline; undefined when none does. */
export async function discoverLocal(
  options: { readonly targets?: readonly ProbeTarget[] | undefined; readonly deadlineMs?: number } = {},
): Promise<LocalServer | undefined> {
  const signal = AbortSignal.timeout(options.deadlineMs ?? DEADLINE_MS);
  const answers = await Promise.all((options.targets ?? TARGETS).map((target) => probe(target, signal)));
  return answers.find((answer) => answer !== undefined);
}
