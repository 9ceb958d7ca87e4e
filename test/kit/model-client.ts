// A provider client over fake model servers, with limits scaled down so that tests are quick.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/message.ts";
import type { ModelEvent, ModelRequest } from "../../src/core/model/provider.ts";
import { ProviderClient } from "../../src/providers/calls/client.ts";
import { ModelFacts } from "../../src/providers/facts/limits.ts";
import { Credentials } from "../../src/providers/keys/credentials.ts";
import type { ModelSelection } from "../../src/providers/resolve.ts";
import { readProviderSettings, type TimeLimits } from "../../src/providers/settings.ts";
import { anthropicMessages } from "../../src/providers/transports/anthropic-messages.ts";
import { chatCompletions } from "../../src/providers/transports/chat-completions.ts";
import { codexResponses } from "../../src/providers/transports/codex-responses.ts";
import type { Transport } from "../../src/providers/transports/transport.ts";
import { effectiveConfig } from "./effective-config.ts";
import { MemoryLedger } from "./memory-ledger.ts";
import { requireEndpoint } from "./require-endpoint.ts";

export const QUICK: Partial<TimeLimits> = {
  backoffBaseMs: 5,
  backoffMaxMs: 20,
  firstTokenMs: 1_000,
  interTokenMs: 1_000,
  explicit: true,
};

export interface ClientSetup {
  readonly config: JsonObject;
  readonly ask?: ModelSelection;
  readonly env?: Record<string, string>;
  readonly time?: Partial<TimeLimits>;
}

/** The client, its ledger and its key file; call `close` at the end. */
export async function setUpClient(setup: ClientSetup) {
  const folder = await mkdtemp(join(tmpdir(), "hermes-client-"));
  const env = setup.env ?? {};
  const read = readProviderSettings(effectiveConfig(setup.config), env);
  const settings = { ...read, time: { ...read.time, ...QUICK, ...setup.time } };
  const contextLength = read.config.model.context_length;
  const credentials = new Credentials({
    path: join(folder, "auth.json"),
    strategies: settings.config.credential_pool_strategies,
  });
  const context = { settings, env };
  const ledger = new MemoryLedger();
  const failures: unknown[] = [];
  const set: { readonly [name: string]: Transport } = {
    chat_completions: chatCompletions(),
    anthropic_messages: anthropicMessages(),
    codex_responses: codexResponses(),
  };
  const options = {
    settings,
    credentials,
    ledger,
    facts: new ModelFacts({
      cachePath: join(folder, "context_length_cache.yaml"),
      configured: contextLength === undefined ? undefined : { model: settings.model.model, contextLength },
    }),
    cacheTtl: settings.config.prompt_caching.cache_ttl,
    transport: async (name: string) => {
      const transport = set[name];
      if (!transport) throw new Error(`no transport ${name}`);
      return transport;
    },
    onError: (error: unknown) => void failures.push(error),
  };
  const open = () =>
    new ProviderClient({
      ...options,
      primary: requireEndpoint(setup.ask ?? {}, context),
      fallbacks: settings.fallbacks.map((fallback) => requireEndpoint(fallback, context)),
    });
  return {
    client: open(),
    open,
    options,
    context,
    credentials,
    ledger,
    failures,
    folder,
    close: async () => {
      await credentials.settled();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function modelRequest(extra: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: "You are a test.",
    messages: [{ role: "user", content: "hello" }],
    tools: [],
    conversationId: "c1",
    purpose: "turn",
    sessionId: "s1",
    ...extra,
  };
}

export async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const seen: ModelEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

export async function send(client: ProviderClient, request = modelRequest(), signal = new AbortController().signal) {
  const events = await collect(client.stream(request, signal));
  const last = events.at(-1);
  return {
    events,
    types: events.map((event) => event.type),
    text: last?.type === "done" ? String(last.response.message.content ?? "") : null,
    failure: last?.type === "failed" ? last.failure : null,
    last,
  };
}
