// The log of a long-running process; its code is loaded at the first entry.
import type { Config } from "../core/config/config.ts";
import type { OpenedConversation } from "../core/conversation.ts";
import type { Home } from "../core/home.ts";
import type { Log, LogEntry } from "../core/log.ts";

export interface AppLog extends Log {
  /** Logs the events of this conversation from now on. */
  observe(opened: OpenedConversation): Promise<void>;
}

export function openAppLog(home: Home, config: Config, redact: (text: string) => string): AppLog {
  let opening: Promise<Log> | undefined;
  const open = () => {
    opening ??= import("../logs/api.ts").then(({ openHomeLog }) =>
      openHomeLog(home, config, { name: "agent", redact }),
    );
    return opening;
  };
  const log: Log = {
    write: (entry: LogEntry) => void open().then((file) => file.write(entry)),
    flush: async () => (await opening)?.flush(),
  };
  return {
    ...log,
    observe: async ({ conversation }) => {
      const { logConversation } = await import("../logs/log-conversation.ts");
      logConversation(conversation, log);
    },
  };
}
