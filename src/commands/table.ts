// Every built-in slash command, of the terminal and of chats.
import { behaviourCommands } from "./behaviour.ts";
import type { BuiltinCommand } from "./builtin-command.ts";
import { chatCommands } from "./chat.ts";
import type { CommandDeps } from "./command-deps.ts";
import { cronCommands } from "./cron.ts";
import { displayCommands } from "./display.ts";
import { exchangeCommands } from "./exchange.ts";
import { goalCommands } from "./goal.ts";
import { helpCommands } from "./help.ts";
import { mcpCommands } from "./mcp.ts";
import { modelCommands } from "./model.ts";
import { programCommands } from "./program.ts";
import { reviewCommands } from "./review.ts";
import { rollbackCommands } from "./rollback.ts";
import { sessionCommands } from "./sessions.ts";
import { skillsCommands } from "./skills.ts";
import { snapshotCommands } from "./snapshot.ts";
import { taskCommands } from "./tasks.ts";
import { toolCommands } from "./tools.ts";
import { turnCommands } from "./turns.ts";
import { usageCommands } from "./usage.ts";
import { windowCommands } from "./window.ts";

export function builtinCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  return [
    ...turnCommands,
    ...exchangeCommands(deps),
    ...goalCommands,
    ...taskCommands(deps),
    ...windowCommands(deps),
    ...sessionCommands(deps),
    ...modelCommands(deps),
    ...behaviourCommands(deps),
    ...displayCommands(deps),
    ...toolCommands(deps),
    ...mcpCommands(deps),
    ...rollbackCommands(deps),
    ...skillsCommands(deps.skills),
    ...cronCommands(deps.jobs),
    ...reviewCommands(deps.review),
    ...usageCommands(deps),
    ...snapshotCommands(deps),
    ...programCommands(deps),
    ...helpCommands,
    ...chatCommands,
  ];
}
