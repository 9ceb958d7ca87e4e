// Describes tool results in sentences.
import type { JsonObject } from "../../core/message.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { isJsonObject, jsonObjects } from "../transports/json-values.ts";
import { extractSentences, shorten } from "./extract.ts";

const MAX_LINES = 60;
const MAX_ROWS = 20;

/** The JSON object at the start of a result; tools may add plain hints after it. */
function parse(content: string): JsonObject | null {
  for (const text of [content, content.slice(0, content.lastIndexOf("}") + 1)]) {
    const value = parseJson(text);
    if (isJsonObject(value)) return value;
  }
  return null;
}

function block(text: string): string {
  const lines = text.replace(/\n+$/, "").split("\n");
  const shown = lines.slice(0, MAX_LINES).join("\n");
  const more = lines.length > MAX_LINES ? `\n(${lines.length - MAX_LINES} more lines)` : "";
  return `\`\`\`\n${shown}\n\`\`\`${more}`;
}

function bullets(items: readonly string[], total = items.length): string {
  const shown = items.slice(0, MAX_ROWS).map((item) => `- ${item}`);
  if (total > shown.length) shown.push(`(${total - shown.length} more)`);
  return shown.join("\n");
}

/** File text without the line numbers that the tool adds. */
function plainLines(content: string): string {
  const lines = content.split("\n");
  const numbered = lines.filter((line) => /^\s*\d+\s*[|\t→:]/.test(line)).length;
  return numbered < lines.length / 2
    ? content
    : lines.map((line) => line.replace(/^\s*\d+\s*[|\t→:] ?/, "")).join("\n");
}

function readReport(result: JsonObject, args: JsonObject, summarise: boolean): string {
  const text = plainLines(String(result.content ?? ""));
  const name = `\`${String(args.path ?? "the file")}\``;
  if (text.trim() === "")
    return `${name} ${result.status === "unchanged" ? "has not changed since it was last read." : "is empty."}`;
  if (summarise) return `The main points of ${name}, by extraction:\n${bullets(extractSentences(text, 5))}`;
  const total = Number(result.total_lines ?? 0);
  return `${name}${total > 0 ? ` (${total} ${total === 1 ? "line" : "lines"})` : ""}:\n${block(text)}`;
}

function searchReport(result: JsonObject, args: JsonObject): string {
  const files = Array.isArray(result.files) ? result.files.map(String) : [];
  const matches = jsonObjects(result.matches);
  const total = Number(result.total_count ?? files.length + matches.length);
  const place = String(args.path ?? ".") === "." ? "here" : `in \`${String(args.path)}\``;
  if (matches.length > 0) {
    const found = matches.map(
      (match) => `${String(match.path)}:${String(match.line)}: ${shorten(String(match.content), 160)}`,
    );
    return `Found ${total} ${total === 1 ? "match" : "matches"} ${place}:\n${bullets(found, total)}`;
  }
  if (files.length > 0) return `${total} ${total === 1 ? "file" : "files"} ${place}:\n${bullets(files, total)}`;
  return `Nothing found ${place}.`;
}

function terminalReport(result: JsonObject, args: JsonObject): string {
  const output = String(result.output ?? "").trim();
  const code = Number(result.exit_code ?? 0);
  const ran = `\`${shorten(String(args.command ?? ""), 120)}\``;
  const end = code === 0 ? "" : ` It ended with exit code ${code}.`;
  return output === "" ? `${ran} ran and printed nothing.${end}` : `${ran} printed:\n${block(output)}${end}`;
}

function memoryReport(result: JsonObject, args: JsonObject): string {
  const done = args.action === "remove" ? "I have forgotten that." : "I will remember that.";
  const entries = Number(result.entry_count ?? 0);
  return entries > 0 ? `${done} (${entries} ${entries === 1 ? "note" : "notes"} kept.)` : done;
}

function sessionReport(result: JsonObject): string {
  const found = jsonObjects(result.results).map((item) => {
    const name = String(item.title ?? item.session_id ?? "a conversation");
    const when = String(item.when ?? item.last_active ?? item.started_at ?? "");
    const snippets = jsonObjects(item.matches ?? item.snippets).map((hit) => String(hit.snippet ?? hit.content ?? ""));
    const words = String(item.summary ?? item.preview ?? snippets.join(" … "));
    return `${name}${when === "" ? "" : ` (${when})`}${words.trim() === "" ? "" : `: ${shorten(words, 240)}`}`;
  });
  return found.length === 0
    ? "I found no past conversation about that."
    : `From past conversations:\n${bullets(found)}`;
}

function cronReport(result: JsonObject, args: JsonObject): string {
  if (args.action === "list") {
    const jobs = jsonObjects(result.jobs).map((job) => {
      const next = job.next_run_at ? `, next ${String(job.next_run_at)}` : "";
      return `${String(job.name ?? job.job_id ?? job.id)} (${String(job.schedule_display ?? job.schedule ?? "")}${next})`;
    });
    return jobs.length === 0 ? "Nothing is scheduled." : `Scheduled jobs:\n${bullets(jobs)}`;
  }
  if (args.action !== "create") return String(result.message ?? `The job is now: ${String(args.action)}.`);
  const next = result.next_run_at ? ` It runs next at ${String(result.next_run_at)}.` : "";
  return `Scheduled as \`${String(result.job_id ?? "a job")}\` (${String(args.schedule)}).${next}`;
}

function skillReport(result: JsonObject): string {
  const about = result.description ? `: ${String(result.description)}` : "";
  return `Loaded the skill ${String(result.name ?? "")}${about}\n${block(cutLines(String(result.content ?? ""), 40))}`;
}

function cutLines(text: string, count: number): string {
  return text.split("\n").slice(0, count).join("\n");
}

function todoReport(result: JsonObject): string {
  const items = jsonObjects(result.todos).map(
    (todo) => `[${todo.status === "completed" ? "x" : " "}] ${String(todo.content)}`,
  );
  return items.length === 0 ? "The list is empty." : `The list:\n${bullets(items)}`;
}

type Reporter = (result: JsonObject, args: JsonObject, summarise: boolean) => string;

const REPORTERS: Record<string, Reporter> = {
  read_file: readReport,
  write_file: (result, args) =>
    `Wrote \`${String(args.path)}\` (${String(result.bytes_written ?? String(args.content ?? "").length)} bytes).`,
  search_files: searchReport,
  terminal: terminalReport,
  memory: memoryReport,
  session_search: sessionReport,
  cronjob: cronReport,
  skill_view: skillReport,
  skills_list: (result) => {
    const skills = jsonObjects(result.skills).map(
      (skill) => `${String(skill.name)}: ${shorten(String(skill.description ?? ""), 100)}`,
    );
    return skills.length === 0 ? "No skills are installed." : `Skills:\n${bullets(skills)}`;
  },
  todo: todoReport,
};

export interface Finished {
  readonly tool: string;
  readonly args: JsonObject;
  readonly content: string;
  readonly summarise: boolean;
}

/** True when the tool failed or was refused. */
export function failed(content: string): boolean {
  const result = parse(content);
  return result !== null && ((typeof result.error === "string" && result.error !== "") || result.success === false);
}

/** Describes one finished call. */
export function report(done: Finished): string {
  const result = parse(done.content);
  if (result === null) return `${done.tool} says:\n${block(done.content)}`;
  if (failed(done.content)) {
    const hint = typeof result.hint === "string" ? ` ${result.hint}` : "";
    return `That did not work: ${shorten(String(result.error ?? result.message ?? "the tool gave no reason"), 400)}.${hint}`;
  }
  const reporter = REPORTERS[done.tool];
  return reporter
    ? reporter(result, done.args, done.summarise)
    : `${done.tool} says:\n${block(JSON.stringify(result, null, 2))}`;
}
