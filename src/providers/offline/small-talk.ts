// Answers of the offline model without tools: who it is, what it can do, how to connect a real model.
import { extractSentences } from "./extract.ts";

export const LABEL = "[offline model]";

const CONNECT = `To connect a real model, do one of these:
- \`hermes setup\` finds keys and servers, lets you choose a model and tests it;
- put an API key into the \`.env\` file of your Hermes home, for example \`OPENROUTER_API_KEY=…\`, \`ANTHROPIC_API_KEY=…\` or \`OPENAI_API_KEY=…\`;
- start a local server (Ollama, LM Studio, llama.cpp or vLLM): it is found by itself.`;

const EXAMPLES: readonly (readonly [string, string])[] = [
  ["search_files", "`list the files in src` or `search for TODO in src`"],
  ["read_file", "`read README.md` or `summarise notes.md`"],
  ["write_file", '`write "buy milk" to list.txt`'],
  ["terminal", "`run git status`"],
  ["memory", "`remember that I prefer short answers`"],
  ["session_search", "`search our past conversations for invoices`"],
  ["cronjob", "`remind me every weekday at 9 to stretch`"],
  ["skills_list", "`list skills`"],
];

function examples(tools: ReadonlySet<string>): string {
  const known = EXAMPLES.filter(([tool]) => tools.has(tool)).map(([, text]) => `- ${text}`);
  return known.length === 0
    ? ""
    : `Without one I understand simple requests and use the real tools for them:\n${known.join("\n")}\n\n`;
}

const GREETING =
  /^(?:hi|hello|hey|hallo|hola|moin|servus|yo|greetings|good\s+(?:morning|afternoon|evening|day))\b[\s,!.]*(?:there|hermes|friend|all)?[\s!.?]*$/i;
const THANKS = /^(?:thanks?|thank\s+you|thx|cheers|great|perfect|nice)\b.{0,40}$/i;
const ABILITIES =
  /^(?:help|\?|what\s+(?:can|could)\s+you\s+do|who\s+are\s+you|what\s+are\s+you|how\s+do(?:es)?\s+(?:this|it|you)\s+work)\b.*$/i;
const SUMMARISE =
  /^(?:please\s+)?(?:summari[sz]e|sum\s+up|shorten)\s+(?:this|the\s+following|the\s+text)?(?:\s+text)?\s*:?\s*([\s\S]{40,})$/i;
const ABOUT_ME = /^what\s+do\s+you\s+(?:know|remember)(?:\s+about\s+(?:me|us))?[\s?.!]*$|^who\s+am\s+i\b/i;

/** The entries of the memory blocks in the system prompt. */
function notesIn(system: string): string[] {
  const notes: string[] = [];
  for (const found of system.matchAll(
    /^(?:MEMORY|USER PROFILE) \(.*$\n(?:═+\n)?([\s\S]*?)(?=\n═{3,}|\n\n|$(?![\s\S]))/gm,
  ))
    notes.push(...(found[1] ?? "").split(/\n§\n/).map((entry) => entry.trim()));
  return notes.filter((note) => note !== "");
}

/** An answer that needs no tool. */
export function smallTalk(text: string, system: string, tools: ReadonlySet<string>): string {
  const said = text.trim();
  if (GREETING.test(said))
    return `Hello! I am Hermes, running without a language model for now, so nothing here costs anything or leaves this machine.\n\n${examples(tools)}${CONNECT}`;
  if (THANKS.test(said)) return "You are welcome.";
  if (ABILITIES.test(said))
    return `I am the built-in offline model of Hermes: a fixed set of rules, no language model and no network.\n\n${examples(tools)}${CONNECT}`;
  const long = SUMMARISE.exec(said)?.[1];
  if (long)
    return `By extraction:\n${extractSentences(long, 4)
      .map((line) => `- ${line}`)
      .join("\n")}`;
  if (ABOUT_ME.test(said)) {
    const notes = notesIn(system);
    return notes.length === 0
      ? "I have no notes about you yet. Say `remember that …` and I will."
      : `My notes:\n${notes.map((note) => `- ${note}`).join("\n")}`;
  }
  return `I cannot answer that: no language model is connected, and I only follow simple requests.\n\n${examples(tools)}${CONNECT}`;
}
