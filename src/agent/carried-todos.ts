// Carries open todo items through a compaction: they are repeated in the new session.
import type { Message, UserMessage } from "../core/message.ts";
import { contentText } from "../core/message.ts";
import { TODO_NOTE } from "../core/tool/todo-note.ts";

interface TodoItem {
  readonly id: string;
  readonly content: string;
  readonly status: string;
}

function todosIn(text: string): TodoItem[] | undefined {
  if (!text.includes('"todos"')) return undefined;
  try {
    const value = JSON.parse(text) as { todos?: unknown };
    if (!Array.isArray(value.todos)) return undefined;
    return value.todos.filter(
      (item): item is TodoItem =>
        typeof item === "object" && item !== null && typeof (item as TodoItem).content === "string",
    );
  } catch {
    return undefined;
  }
}

/** The newest list in the log: a tool result with a `todos` array, or the note of an earlier compaction. */
export function todoNote(log: readonly Message[]): UserMessage | undefined {
  for (let index = log.length - 1; index >= 0; index--) {
    const message = log[index];
    const text = contentText(message?.content);
    if (message?.role === "user" && text.startsWith(TODO_NOTE)) return { role: "user", content: text };
    const todos = message?.role === "tool" ? todosIn(text) : undefined;
    if (todos === undefined) continue;
    const open = todos.filter((item) => item.status === "pending" || item.status === "in_progress");
    if (open.length === 0) return undefined;
    const lines = open.map((item) => `- [${item.status === "in_progress" ? ">" : " "}] ${item.id}. ${item.content}`);
    return { role: "user", content: [TODO_NOTE, ...lines].join("\n") };
  }
  return undefined;
}

/** The compacted messages with the list in them once: before a waiting question, else at the end. */
export function withTodoNote(messages: readonly Message[], note: UserMessage | undefined): Message[] {
  const rest = messages.filter(
    (message) => message.role !== "user" || !contentText(message.content).startsWith(TODO_NOTE),
  );
  if (note === undefined) return rest;
  const last = rest.at(-1);
  return last?.role === "user" ? [...rest.slice(0, -1), note, last] : [...rest, note];
}
