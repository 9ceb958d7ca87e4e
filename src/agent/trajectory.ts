// Conversations as training samples: ShareGPT lines with reasoning, tool calls and tool responses in tags.
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Content, Json, Message, ToolCall } from "../core/message.ts";
import { contentText } from "../core/message.ts";
import type { ToolSchema } from "../core/model/provider.ts";

export interface TrajectoryTurn {
  readonly from: "system" | "human" | "gpt" | "tool";
  readonly value: string;
}

export interface Trajectory {
  readonly conversations: readonly TrajectoryTurn[];
  readonly timestamp: string;
  readonly model: string;
  readonly completed: boolean;
}

function systemTurn(tools: readonly ToolSchema[]): TrajectoryTurn {
  const listed = tools.map(({ name, description, parameters }) => ({ name, description, parameters, required: null }));
  const value = [
    "You are an assistant that can call functions. Their signatures are between <tools> tags.",
    `<tools>\n${JSON.stringify(listed)}\n</tools>`,
    'Write each call as JSON with "name" and "arguments" between <tool_call> tags. Results come back between <tool_response> tags.',
  ].join("\n");
  return { from: "system", value };
}

function plainText(content: Content): string {
  if (content === null || typeof content === "string") return content ?? "";
  return content.map((part) => (part.type === "text" ? part.text : "[screenshot]")).join("\n");
}

function parsed(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function callBlock(call: ToolCall): string {
  const body = { name: call.function.name, arguments: parsed(call.function.arguments) };
  return `<tool_call>\n${JSON.stringify(body)}\n</tool_call>`;
}

function gptTurn(message: Extract<Message, { role: "assistant" }>): TrajectoryTurn {
  const text = contentText(message.content)
    .replaceAll("<REASONING_SCRATCHPAD>", "<think>")
    .replaceAll("</REASONING_SCRATCHPAD>", "</think>");
  const thought = message.reasoning ?? message.reasoning_content ?? "";
  const blocks = [...(text === "" ? [] : [text]), ...(message.tool_calls ?? []).map(callBlock)];
  const prefix = text.startsWith("<think>") ? "" : `<think>\n${thought}\n</think>\n`;
  return { from: "gpt", value: prefix + blocks.join("\n") };
}

function responseBlock(message: Extract<Message, { role: "tool" }>): string {
  const content = parsed(plainText(message.content));
  const body = { tool_call_id: message.tool_call_id, name: message.tool_name, content };
  return `<tool_response>\n${JSON.stringify(body)}\n</tool_response>`;
}

/** One sample: a generated system turn, then the log; results of one reply form one tool turn. */
export function toConversations(log: readonly Message[], tools: readonly ToolSchema[]): TrajectoryTurn[] {
  const turns: TrajectoryTurn[] = [systemTurn(tools)];
  for (const message of log) {
    if (message.role === "user") turns.push({ from: "human", value: plainText(message.content) });
    else if (message.role === "assistant") turns.push(gptTurn(message));
    else if (message.role === "tool") {
      const last = turns.at(-1);
      const block = responseBlock(message);
      if (last?.from === "tool") turns[turns.length - 1] = { from: "tool", value: `${last.value}\n${block}` };
      else turns.push({ from: "tool", value: block });
    }
  }
  return turns;
}

/** Appends one line: completed samples and failed ones go to different files. Returns the file's path. */
export async function appendTrajectory(dir: string, trajectory: Trajectory): Promise<string> {
  const path = join(dir, trajectory.completed ? "trajectory_samples.jsonl" : "failed_trajectories.jsonl");
  await mkdir(dir, { recursive: true });
  await appendFile(path, `${JSON.stringify(trajectory)}\n`, { mode: 0o600 });
  return path;
}
