// The answers of the offline model to side tasks: titles, summaries, verdicts.
import { truncate } from "../../lib/text/truncate.ts";
import { extractSentences, shorten, splitSentences } from "./extract.ts";

const PATH = /(?:[\w@~.-]+)?\/[\w@./-]*[\w-]|\b[\w-]+\.(?:ts|js|py|md|json|ya?ml|txt|go|rs|sh|toml|html|css|sql)\b/g;
const LEAD = /^(?:please|can you|could you|would you|hey|hi|hello|i want to|i need to|help me(?: to)?)[,:]?\s+/i;

/** Three to seven words of the first user message. */
export function title(prompt: string): string {
  const said =
    /(?:^|\n)\s*(?:User|Human)\s*:\s*([\s\S]*?)(?:\n\s*(?:Assistant|Agent)\s*:|$)/i.exec(prompt)?.[1] ?? prompt;
  const first = splitSentences(said)[0] ?? said;
  let words = first.trim();
  while (LEAD.test(words)) words = words.replace(LEAD, "");
  const kept = words
    .replace(/["'`“”*_#<>]/g, "")
    .split(/\s+/)
    .filter(Boolean)
    .slice(0, 7)
    .join(" ")
    .replace(/[.,:;!?]+$/, "");
  return kept === "" ? "Conversation" : shorten(kept.charAt(0).toUpperCase() + kept.slice(1), 78);
}

interface Spoken {
  readonly who: "user" | "assistant" | "tool";
  readonly text: string;
}

function parseTurns(prompt: string): Spoken[] {
  const turns: Spoken[] = [];
  const pattern = /^\[(USER|ASSISTANT|TOOL RESULT[^\]]*)\]:[ \t]*/gm;
  const marks = [...prompt.matchAll(pattern)];
  for (const [index, mark] of marks.entries()) {
    const from = mark.index + mark[0].length;
    const text = prompt.slice(from, marks[index + 1]?.index ?? prompt.length).trim();
    const who = mark[1] === "USER" ? "user" : mark[1] === "ASSISTANT" ? "assistant" : "tool";
    if (text !== "") turns.push({ who, text });
  }
  return turns;
}

/** Lines with exact values, which a paraphrase would lose. */
function exactLines(turns: readonly Spoken[]): string[] {
  const found: string[] = [];
  for (const turn of turns)
    for (const sentence of splitSentences(turn.text))
      if (/\d{2,}|error|failed|https?:\/\/|[A-Z]{2,}[-_]\w+|=\s*\S/i.test(sentence)) found.push(shorten(sentence, 160));
  return [...new Set(found)];
}

function numbered(items: readonly string[]): string {
  return items.map((item, index) => `${index + 1}. ${item}`).join("\n");
}

function bulleted(items: readonly string[], none: string): string {
  return items.length === 0 ? none : items.map((item) => `- ${item}`).join("\n");
}

/** The sections in order, as many as fit. */
function fitting(sections: readonly (readonly [string, string])[], maxChars: number): string {
  const written: string[] = [];
  let used = 0;
  for (const [heading, body] of sections) {
    const room = maxChars - used - heading.length - 5;
    if (room < 40) break;
    const text = truncate(body, room);
    written.push(`## ${heading}\n${text}`);
    used += heading.length + text.length + 5;
  }
  return written.join("\n\n");
}

/** A structured summary of serialised turns that uses only text from them. */
export function summary(prompt: string): string {
  const turns = parseTurns(prompt);
  if (turns.length === 0) return bulleted(extractSentences(prompt, 6), "Nothing to summarise.");
  const budget = Number(/about (\d+) tokens/i.exec(prompt)?.[1] ?? 500);
  const users = turns.filter((turn) => turn.who === "user");
  const said = turns.filter((turn) => turn.who === "assistant").map((turn) => shorten(turn.text, 140));
  const files = [...new Set(turns.flatMap((turn) => turn.text.match(PATH) ?? []))].slice(0, 30);
  const before = /NOTES SO FAR:\n([\s\S]*?)\n\s*TURNS:/
    .exec(prompt)?.[1]
    ?.replace(/^#+ .*$/gm, "")
    .trim();
  const kept = before
    ? [...new Set(before.split("\n").map((line) => line.replace(/^\s*(?:-|\d+\.)\s*/, "").trim()))]
    : [];
  const notes = kept.filter((line) => line.length > 3).slice(0, 30);
  const last = shorten(users.at(-1)?.text ?? "", 600);
  return fitting(
    [
      ["Active Task", `The user asked: "${last}"`],
      ["Goal", `It began with: "${shorten(users[0]?.text ?? last, 300)}"`],
      [
        "Critical Context",
        bulleted([...notes.map((line) => shorten(line, 160)), ...exactLines(turns).slice(0, 40)], "None"),
      ],
      ["Relevant Files", bulleted(files, "None")],
      ["Progress", `### Done\n${numbered(said.slice(-20))}`],
      [
        "Pending User Asks",
        bulleted(
          users.slice(-3).map((turn) => `"${shorten(turn.text, 160)}"`),
          "None",
        ),
      ],
    ],
    Math.max(600, budget * 4),
  );
}

/** The answer to one side task. */
export function sideAnswer(task: string, prompt: string): string {
  if (task === "title_generation") return title(prompt);
  if (task === "approval") return "ESCALATE";
  if (/"?done"?[^\n]{0,40}"?reason"?/i.test(prompt) && /json/i.test(prompt))
    return '{"done": false, "reason": "the offline model cannot judge this"}';
  return summary(prompt);
}
