// News of background processes: the chat that started one is told, and its agent goes on with the result.
import { randomUUID } from "node:crypto";
import type { InboxRow } from "../../core/mailbox.ts";
import type { InboundEvent } from "../../core/platform.ts";
import type { ProcessNotice } from "../../core/process-notice.ts";
import { rememberNewest } from "../../lib/remember-newest.ts";
import type { GatewayContext, ProcessStarters } from "../control/gateway-context.ts";
import { sessionKey } from "../inbound/session-key.ts";
import { Replies } from "../outbound/replies.ts";

const MOST = 2_000;

/** Whether the person hears of it, by `display.background_process_notifications`. */
function isWorthALine(mode: string, notice: ProcessNotice): boolean {
  if (mode === "all") return true;
  if (mode === "result") return notice.kind === "completed";
  return mode === "error" && notice.failed;
}

/** Of the message that started something: only what is needed to reach its chat. There are many of them. */
type Starter = Pick<InboxRow, "platform"> & Pick<InboundEvent, "account" | "source" | "deliverTo">;

/** Processes end with the program, so it is enough to remember here who started them. */
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
    const place = deliverTo === undefined ? {} : { deliverTo };
    rememberNewest(this.#starters, conversationId, { platform: row.platform, account, source, ...place }, MOST);
  }

  alive(key: string): boolean {
    const { opened, keyRules } = this.#gateway();
    for (const [conversationId, { source }] of this.#starters)
      if (sessionKey(source, keyRules) === key && opened.app.hasProcesses(conversationId)) return true;
    return false;
  }

  async tell(notice: ProcessNotice): Promise<void> {
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
    if (isWorthALine(app.config.display.background_process_notifications, notice))
      for (const each of rows) await new Replies(gateway).say(each, `🔔 ${notice.line}`, "process");
    for (const each of rows) this.#receive(each);
  }
}
