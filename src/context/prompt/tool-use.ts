// The reminder to use tools instead of announcing it, for models that need it: `agent.tool_use_enforcement`.

type ToolUseSetting = string | boolean | readonly string[];

/** Parts of the names of models that tend to describe a step instead of taking it. */
const NEED_REMINDER: readonly string[] = ["gpt", "codex", "gemini", "gemma", "grok", "glm"];
const ALWAYS: readonly string[] = ["true", "always", "yes", "on"];
const NEVER: readonly string[] = ["false", "never", "no", "off"];

const REMINDER = `# Using tools
- When a step needs a tool, call it in the same reply. Do not end a reply with a plan or a promise of what you will do next.
- Continue until the task is done and its result is checked, or until you need an answer from the user.
- Do not guess what a tool can tell you: contents of files, the state of the machine, the date, results of commands.`;

/** `auto`, or an unknown word, uses the built-in list of models. */
function needsReminder(setting: ToolUseSetting, model: string): boolean {
  if (typeof setting === "boolean") return setting;
  const name = model.toLowerCase();
  const matches = (parts: readonly string[]) => parts.some((part) => part !== "" && name.includes(part.toLowerCase()));
  if (typeof setting !== "string") return matches(setting);
  const word = setting.trim().toLowerCase();
  if (ALWAYS.includes(word)) return true;
  return NEVER.includes(word) ? false : matches(NEED_REMINDER);
}

/** Empty when the model gets no reminder. */
export function toolUseReminder(setting: ToolUseSetting, model: string): string {
  return needsReminder(setting, model) ? REMINDER : "";
}
