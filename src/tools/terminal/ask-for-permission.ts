// Asks the user for a permission that a command or a file tool lacks.
import { describePermission, formatPermission, type Need, type PermissionScope } from "../../core/container.ts";
import type { ApprovalRequest } from "../../core/human.ts";
import type { ToolContext } from "../../core/tool/tool.ts";

/** Where no user can answer, the request is recorded and denied. */
export async function askForPermission(
  { permission, reason }: Need,
  context: ToolContext,
  what: { readonly toolName: string; readonly purpose: string },
): Promise<PermissionScope | "deny"> {
  const text = formatPermission(permission);
  const request: ApprovalRequest = {
    action: `permission ${text}: ${describePermission(permission)}\nfor: ${what.purpose}`,
    reason: `${reason}; if you allow it, the work continues ("always" holds for this project)`,
    intent: `permission ${text}`,
    choices: ["once", "session", "always", "deny"],
    toolName: what.toolName,
  };
  if (!context.human.present) {
    context.human.onDenied?.(request);
    return "deny";
  }
  const { choice } = await context.human.approve(request, context.signal);
  return choice === "always" ? "project" : choice;
}
