// Offers the person the one permission that a sandbox kept back.
import type { ToolContext } from "../../core/tool.ts";
import type { PathRequest } from "./backend.ts";

export async function askForPath(
  options: PathRequest,
  context: ToolContext,
  what: { readonly toolName: string; readonly purpose: string },
): Promise<"once" | "session" | "deny"> {
  if (!context.human.present) return "deny";
  const answer = await context.human.approve(
    {
      action: `${options.access} ${options.path}\nfor: ${what.purpose}`,
      reason: "the sandbox stopped this path; when you allow it, the work goes on with it",
      intent: `sandbox ${options.access} ${options.path}`,
      choices: ["once", "session", "deny"],
      toolName: what.toolName,
    },
    context.signal,
  );
  return answer.choice === "once" || answer.choice === "session" ? answer.choice : "deny";
}
