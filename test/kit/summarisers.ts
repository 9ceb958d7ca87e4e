// Summarisers that misbehave, each in its own way, and one that works.
import type { SideAnswer, SideModel, SideRequest } from "../../src/core/model/provider.ts";

const identity = { provider: "test", model: "summariser", baseUrl: "", transport: "offline" } as const;

export function answer(text: string, finishReason = "stop"): SideAnswer {
  return { ok: true, text, finishReason, identity };
}

export interface CountingSide extends SideModel {
  readonly requests: readonly SideRequest[];
}

/** A side model with a window, which counts its calls and answers by `respond`. */
export function sideModel(
  respond: (request: SideRequest, signal?: AbortSignal) => Promise<SideAnswer> | SideAnswer,
  window = 200_000,
): CountingSide {
  const requests: SideRequest[] = [];
  return {
    requests,
    contextLength: async () => window,
    ask: async (request, signal) => {
      requests.push(request);
      return respond(request, signal);
    },
  };
}

const GOOD =
  "## Active Task\nPort the project.\n\n## Goal\nThe new wire format.\n\n## Critical Context\nThe parser keeps its name.";

export const workingSummariser = () => sideModel(() => answer(GOOD));

export const deadSummariser = () =>
  sideModel(() => ({ ok: false, failure: { kind: "server_error", message: "the service is down" } }));

const never = () => new Promise<SideAnswer>(() => undefined);

export const FAULTY: { readonly [name: string]: () => CountingSide } = {
  dead: deadSummariser,
  slow: () => sideModel(never),
  echo: () => sideModel((request) => answer(request.prompt)),
  empty: () => sideModel(() => answer("  \n")),
  truncated: () => sideModel(() => answer(`${GOOD.slice(0, 60)}`, "length")),
  refusing: () => sideModel(() => answer("I'm sorry, but I can't help with that request.")),
  garbage: () => sideModel(() => answer("zxq vrrp oooo lkjh ".repeat(60))),
  "smaller window": () =>
    sideModel(
      (request) =>
        request.prompt.length / 4 > 4_096
          ? { ok: false, failure: { kind: "context_overflow", message: "prompt too long", limitTokens: 4_096 } }
          : answer(GOOD),
      4_096,
    ),
};
