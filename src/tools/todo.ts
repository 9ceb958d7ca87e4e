// The todo tool: the task list of a conversation. Restored from its last result in the message log on resume.

import { contentText, type Message } from "../core/message.ts";
import { Type } from "../core/tool/schema.ts";
import { defineTool, jsonResult, type Tool, toolError } from "../core/tool/tool.ts";
import { parseJson } from "../lib/json/parse-json.ts";

export interface Todo {
  readonly id: string;
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed" | "cancelled";
}

const STATUSES = ["pending", "in_progress", "completed", "cancelled"] as const;

const parameters = Type.Object({
  todos: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String(),
        content: Type.Optional(Type.String({ description: "Needed for a new item" })),
        status: Type.Optional(Type.Union(STATUSES.map((status) => Type.Literal(status)))),
      }),
      { description: "The list to write; leave out to read it" },
    ),
  ),
  merge: Type.Optional(
    Type.Boolean({ description: "Update by id and keep the others; otherwise the list is replaced" }),
  ),
});

/** One list per conversation. */
export interface TodoLists {
  get(conversationId: string): readonly Todo[];
  set(conversationId: string, todos: readonly Todo[]): void;
}

export function createTodoLists(): TodoLists {
  const lists = new Map<string, readonly Todo[]>();
  return { get: (id) => lists.get(id) ?? [], set: (id, todos) => void lists.set(id, todos) };
}

type Change = {
  readonly id: string;
  readonly content?: string | undefined;
  readonly status?: Todo["status"] | undefined;
};

/** The changed list; of two changes with the same id the last one wins. The first item without a text is returned as the problem. */
function applyChanges(
  current: readonly Todo[],
  changes: readonly Change[],
): readonly Todo[] | { readonly missing: string } {
  const byId = new Map(current.map((todo) => [todo.id, todo]));
  for (const { id, content, status } of changes) {
    const known = byId.get(id);
    const text = content ?? known?.content;
    if (text === undefined) return { missing: id };
    byId.set(id, { id, content: text, status: status ?? known?.status ?? "pending" });
  }
  return [...byId.values()];
}

function summary(todos: readonly Todo[]): { [status: string]: number } {
  const counts: { [status: string]: number } = { total: todos.length };
  for (const status of STATUSES) counts[status] = todos.filter((todo) => todo.status === status).length;
  return counts;
}

export function todoTool(lists: TodoLists): Tool {
  return defineTool({
    name: "todo",
    toolset: "todo",
    storesArguments: true,
    housekeeping: true,
    minWindow: "medium",
    description:
      "Read or write the task list of this conversation. Use it for work of three steps or more: one item in_progress at a time, completed as soon as it is done.",
    parameters,
    overlap: "alone",
    preview: (args) => (args.todos ? `${args.todos.length} items` : "read"),
    run: async (args, context) => {
      if (args.todos) {
        const changed = applyChanges(args.merge ? lists.get(context.conversationId) : [], args.todos);
        if ("missing" in changed) return toolError(`the new todo ${changed.missing} needs a content`);
        lists.set(context.conversationId, changed);
      }
      const todos = lists.get(context.conversationId);
      return jsonResult({ todos: todos.map((todo) => ({ ...todo })), summary: summary(todos) });
    },
  });
}

/** The list at the end of a stored conversation, from the newest result of the todo tool. */
export function todosFromLog(messages: readonly Message[]): readonly Todo[] {
  for (const message of messages.toReversed()) {
    if (message.role !== "tool" || message.tool_name !== "todo") continue;
    const parsed = parseJson(contentText(message.content)) as { todos?: readonly Todo[] | undefined } | undefined;
    if (Array.isArray(parsed?.todos)) return parsed.todos;
  }
  return [];
}
