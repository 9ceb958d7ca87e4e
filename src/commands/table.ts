// Every built-in slash command, of the terminal and of chats.
import type { Review } from "../core/review.ts";
import type { BuiltinCommand } from "./builtin-command.ts";
import { chatCommands } from "./chat.ts";
import { type CronJobs, cronCommands } from "./cron.ts";
import { reviewCommands } from "./review.ts";
import { sessionCommands } from "./sessions.ts";
import { type SkillCommandDeps, skillsCommands } from "./skills.ts";
import { turnCommands } from "./turns.ts";

export interface CommandDeps {
  readonly review: () => Promise<Review>;
  readonly jobs: () => Promise<CronJobs>;
  readonly skills: SkillCommandDeps;
}

export function builtinCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  return [
    ...turnCommands,
    ...sessionCommands,
    ...skillsCommands(deps.skills),
    ...cronCommands(deps.jobs),
    ...reviewCommands(deps.review),
    ...chatCommands,
  ];
}
