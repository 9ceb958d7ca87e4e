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

async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  try {
    const response = await httpFetch(url, { signal });
    return response.ok ? parseJson(await response.text()) : undefined;
  } catch {
    // No server, too slow, or another kind of server.
    return undefined;
  }
}

function records(value: unknown, ...keys: readonly string[]): Record<string, unknown>[] {
  for (const key of keys) {
    const list = isRecord(value) ? value[key] : undefined;
    if (Array.isArray(list)) return list.filter(isRecord);
  }
  return [];
}

/** The ids of the models in memory. Using another one would load it, which takes minutes or more memory than there is. */
async function loadedModels({ provider, baseUrl }: ProbeTarget, signal: AbortSignal): Promise<string[]> {
  const root = baseUrl.replace(/\/v1$/, "");
  if (provider === "ollama") {
    const running = records(await fetchJson(`${root}/api/ps`, signal), "models");
    return running.map((item) => String(item.model ?? item.name ?? ""));
  }
  if (provider !== "lmstudio") return [];
  const [current, older] = await Promise.all([
    fetchJson(`${root}/api/v1/models`, signal),
    fetchJson(`${root}/api/v0/models`, signal),
  ]);
  const instances = records(current, "models").flatMap((item) =>
    records(item, "loaded_instances").map((instance) => String(instance.id ?? item.key ?? "")),
  );
  const marked = records(older, "data").filter((item) => item.state === "loaded");
  return [...instances, ...marked.map((item) => String(item.id ?? ""))];
}

async function probe(target: ProbeTarget, signal: AbortSignal): Promise<LocalServer | undefined> {
  if (!(await listens(target.baseUrl, signal))) return undefined;
  const [body, loaded] = await Promise.all([
    fetchJson(`${target.baseUrl}/models`, signal),
    loadedModels(target, signal),
  ]);
  const ids = records(body, "data").map((item) => (typeof item.id === "string" ? item.id : ""));
  const chat = ids.filter((id) => id !== "" && !NOT_CHAT.test(id));
  const model = chat.find((id) => loaded.includes(id)) ?? chat[0];
  return model === undefined ? undefined : { ...target, model };
}

/** True when something listens at the address of a local server. */
export function isLocalServer(baseUrl: string): Promise<boolean> {
  return listens(baseUrl, AbortSignal.timeout(DEADLINE_MS));
}

/** The first target, in the given order, that serves a chat model within the deadline; undefined when none does. */
export async function discoverLocal(
  options: { readonly targets?: readonly ProbeTarget[] | undefined; readonly deadlineMs?: number } = {},
): Promise<LocalServer | undefined> {
  const signal = AbortSignal.timeout(options.deadlineMs ?? DEADLINE_MS);
  const answers = await Promise.all((options.targets ?? TARGETS).map((target) => probe(target, signal)));
  return answers.find((answer) => answer !== undefined);
}
