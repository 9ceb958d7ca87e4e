// Asks the user for access to a path that the sandbox denied.
import type { ToolContext } from "../../core/tool/tool.ts";
import type { PathRequest } from "./backend.ts";

export async function askForPath(
  request: PathRequest,
  context: ToolContext,
  what: { readonly toolName: string; readonly purpose: string },
): Promise<"once" | "session" | "deny"> {
  if (!context.human.present) return "deny";
  const answer = await context.human.approve(
    {
      action: `${request.access} ${request.path}\nfor: ${what.purpose}`,
      reason: "the sandbox denied access to this path; if you allow it, the work continues",
      intent: `sandbox ${request.access} ${request.path}`,
      choices: ["once", "session", "deny"],
      toolName: what.toolName,
    },
    context.signal,
  );
  return answer.choice === "once" || answer.choice === "session" ? answer.choice : "deny";
}
