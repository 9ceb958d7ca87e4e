// The `Human` of a request that must be answered at once: denies every question and records it for the client.
import { type ApprovalRequest, absentHuman, type Human } from "../../core/human.ts";
import type { JsonObject } from "../../core/message.ts";

const MAX_SHOWN = 200;

/** Denies, and records what it denied. */
export class AbsentHuman implements Human {
  readonly present = false;
  readonly absence = "this kind of request cannot ask for approval; send it to POST /v1/runs to be asked";
  readonly approve = absentHuman.approve;
  readonly clarify = absentHuman.clarify;
  readonly secret = absentHuman.secret;
  readonly #denied: ApprovalRequest[] = [];

  onDenied(request: ApprovalRequest): void {
    if (!this.#denied.some(({ intent }) => intent === request.intent)) this.#denied.push(request);
  }

  /** For programs; empty when no approval was denied. */
  get denied(): readonly JsonObject[] {
    return this.#denied.map(({ toolName, action, reason }) => ({ tool: toolName, action, reason }));
  }

  /** For the reader of the answer: what was not done, and how to allow it. Empty when no approval was denied. */
  get note(): string {
    if (this.#denied.length === 0) return "";
    const lines = this.#denied.map(({ action, reason }) => {
      const line = action.replaceAll(/\s+/g, " ");
      return `- ${line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line} (it ${reason})`;
    });
    return [
      "[Not done, because it needs approval and this request cannot ask for it:",
      ...lines,
      "To be asked, send the request to POST /v1/runs and answer POST /v1/runs/{id}/approval; or allow it in config.yaml (approvals.mode, command_allowlist).]",
    ].join("\n");
  }
}
