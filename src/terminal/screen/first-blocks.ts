// What is shown when a conversation opens: the welcome, notices, and the last exchanges of a resumed session.
import type { App } from "../../app/app.ts";
import type { OpenedConversation } from "../../core/conversation.ts";
import { contentText, type Message } from "../../core/message.ts";
import type { Block } from "../view/block.ts";
import type { ScreenView } from "../view/screen-view.ts";
import type { RecapMessage } from "../view/user-message.ts";

/** Messages that are enough for the last exchanges. */
const RECAP_MESSAGES = 120;

function recapMessages(messages: readonly Message[]): RecapMessage[] {
  return messages.slice(-RECAP_MESSAGES).flatMap((message): RecapMessage[] => {
    if (message.role !== "user" && message.role !== "assistant") return [];
    const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
    return [{ role: message.role, text: contentText(message.content), calls: calls.map((call) => call.function.name) }];
  });
}

export interface FirstBlocksOptions {
  readonly app: App;
  readonly view: ScreenView;
  readonly version: string;
  /** The first conversation of this run of the program. */
  readonly first: boolean;
  readonly branch: string | undefined;
}

export async function firstBlocks(opened: OpenedConversation, options: FirstBlocksOptions): Promise<Block[]> {
  const { app, view, version, first, branch } = options;
  const { conversation, identity } = opened;
  const blocks: Block[] = [];
  const row = opened.resumed ? await app.store.getSession(conversation.sessionId) : null;
  if (first)
    blocks.push(
      view.welcome({
        version,
        model: identity.model,
        provider: identity.provider,
        offline: identity.provider === "offline",
        folder: app.home.cwd,
        branch,
        sessionId: conversation.sessionId,
        title: row?.title ?? undefined,
        resumedMessages: row?.message_count,
        profile: app.home.profile === "default" ? undefined : app.home.profile,
        toolCount: opened.toolCount,
        skillCount: 0,
      }),
    );
  // The welcome says it already.
  const said = first && identity.provider === "offline" ? opened.modelNotices : [];
  for (const text of opened.notices) if (!said.includes(text)) blocks.push(view.notice({ level: "info", text }));
  if (opened.caching) blocks.push(view.notice({ level: "info", text: opened.caching }));
  if (!opened.resumed) return blocks;
  const recap = view.recap(recapMessages(conversation.messages));
  return recap ? [...blocks, { render: () => [""] }, recap] : blocks;
}
