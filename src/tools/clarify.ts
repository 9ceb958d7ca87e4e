// The clarify tool: asks the user a question and waits for the answer.
import { Type } from "../core/tool/schema.ts";
import { defineTool, jsonResult, type Tool, toolError } from "../core/tool/tool.ts";
import { underSignals } from "../lib/async/joined-signal.ts";

const MAX_CHOICES = 4;

export function clarifyTool(options: { timeoutMs: number }): Tool {
  return defineTool({
    name: "clarify",
    toolset: "clarify",
    minWindow: "medium",
    notForSubagents: "a subagent has no user to ask",
    description:
      "Ask the user when a decision is theirs and cannot be found out. Offer up to four choices, or none for a free answer. Do not ask for permission to run commands: the approval prompt does that.",
    parameters: Type.Object({
      question: Type.String({ description: "The question, complete in itself" }),
      choices: Type.Optional(
        Type.Array(Type.String(), { maxItems: MAX_CHOICES, description: "Up to four answers to choose from" }),
      ),
    }),
    overlap: "alone",
    timeoutMs: options.timeoutMs + 5_000,
    preview: (args) => args.question,
    run: async (args, context) => {
      const question = args.question.trim();
      if (question === "") return toolError("the question is empty");
      const choices = (args.choices ?? []).map((choice) => choice.trim()).filter(Boolean);
      if (!context.human.present) {
        return jsonResult({
          question,
          choices_offered: choices,
          user_response: null,
          note: "No user can answer here. Choose a sensible default, say which, and continue.",
        });
      }
      const answer = await underSignals([context.signal], options.timeoutMs, (deadline) =>
        context.human.clarify({ question, choices }, deadline),
      );
      if (answer === null) {
        return jsonResult({
          question,
          choices_offered: choices,
          user_response: null,
          note: "No answer in time. Choose a sensible default, say which, and continue.",
        });
      }
      return jsonResult({ question, choices_offered: choices, user_response: answer });
    },
  });
}
