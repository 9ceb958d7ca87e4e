// Reports background processes to the chat that started them; its agent continues with the result.
import { randomUUID } from "node:crypto";
import type { InboundEvent } from "../../core/chat/platform.ts";
import type { ProcessNotice } from "../../core/chat/process-notice.ts";
import type { InboxRow } from "../../core/store/mailbox.ts";
import { rememberNewest } from "../../lib/remember-newest.ts";
import type { GatewayContext, ProcessStarters } from "../control/gateway-context.ts";
import { sessionKey } from "../inbound/session-key.ts";
import { Replies } from "../outbound/replies.ts";

const MAX_STARTERS = 2_000;

/** By `display.background_process_notifications`. */
function shouldNotify(mode: string, notice: ProcessNotice): boolean {
  if (mode === "all") return true;
  if (mode === "result") return notice.kind === "completed";
  return mode === "error" && notice.failed;
}

/** The fields of the message that started a process, used to reach its chat. */
type Starter = Pick<InboxRow, "platform"> & Pick<InboundEvent, "account" | "source" | "deliverTo">;

/** In memory only: background processes end with the gateway. */
export class ProcessNotifier implements ProcessStarters {
  readonly #gateway: () => GatewayContext;
  readonly #receive: (row: InboxRow) => void;
  readonly #starters = new Map<string, Starter>();

  constructor(gateway: () => GatewayContext, receive: (row: InboxRow) => void) {
    this.#gateway = gateway;
    this.#receive = receive;
  }

  remember(conversationId: string, row: InboxRow): void {
    const { account, source, deliverTo } = row.event;
    rememberNewest(
      this.#starters,
      conversationId,
      { platform: row.platform, account, source, deliverTo },
      MAX_STARTERS,
    );
  }

  alive(key: string): boolean {
    const { opened, keyRules } = this.#gateway();
    for (const [conversationId, { source }] of this.#starters)
      if (sessionKey(source, keyRules) === key && opened.app.hasProcesses(conversationId)) return true;
    return false;
  }

  async notify(notice: ProcessNotice): Promise<void> {
    const starter = this.#starters.get(notice.conversationId);
    if (!starter) return;
    const { platform, ...chat } = starter;
    const gateway = this.#gateway();
    const { app, mailbox } = gateway.opened;
    const event: InboundEvent = {
      ...chat,
      messageId: `process:${randomUUID()}`,
      text: notice.message,
      internal: true,
      at: gateway.now(),
    };
    const rows = await mailbox.accept(platform, [event]);
    if (shouldNotify(app.config.display.background_process_notifications, notice))
      for (const each of rows) await new Replies(gateway).say(each, `🔔 ${notice.line}`, "process");
    for (const each of rows) this.#receive(each);
  }
}
