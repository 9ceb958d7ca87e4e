// Rules about instructions in prose: sending private data, hiding something from the user, false authority.
import { NAMED_ONLY, SECRET_PATH } from "./capabilities.ts";
import type { Hit } from "./flows.ts";
import { matches, registerRules } from "./literal-gate.ts";
import { isMentioned } from "./mention.ts";
import {
  CLAIMS,
  CONCEALS,
  DESTINATION,
  type Instruction,
  OVERRIDES,
  PUBLIC_PLACE,
  SECRET_THING,
  TRANSMITS,
} from "./prose-words.ts";
import type { Section, Sentence } from "./units.ts";

const INSTRUCTIONS: readonly Instruction[] = [...CONCEALS, ...OVERRIDES, ...CLAIMS];
registerRules([...INSTRUCTIONS.map(({ match }) => match), SECRET_PATH, SECRET_THING]);

const NEGATED =
  /\b(?:never|do not|don'?t|must not|may not|should not|cannot|can'?t|refuse|avoid|without (?:printing|sending|showing|reading)|nothing leaves|not (?:in|into|to) (?:logs?|chats?|git)|niemals|nunca|jamais|mai)\b|\bnothing\b[^.]{0,20}\b(?:leaves?|is sent)/i;
/** An address on the user's machine or network. */
const LOCAL_URL = /https?:\/\/(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|\[::1\])/gi;
const HEADER =
  /\bauthori[sz]ation\b|\bbearer\b|\bheader\b|\bsign in\b|\blog in with\b|\bgitignore\b|\.pub\b|\bpublic (?:key|half|part)\b|\bproxy\b/i;

const RULE = {
  leaves: {
    id: "instructs_sending_secrets",
    category: "exfiltration",
    severity: "critical",
    description: "instructs the agent to send secrets or private text",
  },
  hidden: {
    id: "hidden_instruction",
    category: "injection",
    severity: "critical",
    description: "instructs the agent in text that the user does not see",
  },
  tag: {
    id: "imitated_tag",
    category: "injection",
    severity: "critical",
    description: "imitates a tag of the system prompt",
  },
  address: {
    id: "url_contains_data",
    category: "exfiltration",
    severity: "critical",
    description: "a link or image whose URL contains private data",
  },
} as const;

function names(text: string, pattern: RegExp): RegExpExecArray | undefined {
  return pattern.exec(text) ?? undefined;
}

/** A secret, a way to send it and a recipient, within three related sentences. */
function sendsSecret(sentences: readonly Sentence[]): Sentence | undefined {
  // Most sentences name no secret; this is the cheapest of the conditions.
  if (!sentences.some(({ text }) => matches(SECRET_PATH, text) || matches(SECRET_THING, text))) return undefined;
  const counted = sentences.filter(
    ({ text }) => !/^\s*<(?:div|p|table|a|img|sup)\b/i.test(text) && !NEGATED.test(text) && !NAMED_ONLY.test(text),
  );
  const whole = counted
    .map(({ text }) => text)
    .join(" ")
    .replaceAll(LOCAL_URL, "");
  const readable = whole.replaceAll(
    /\b(?:into|in|to)\s+(?:the |your |its |a )?[`"']?(?:~\/)?[\w./-]*(?:\.env|\.claude\.json|\.codex\/\S+)\b/gi,
    "",
  );
  const place = names(readable, SECRET_PATH) ?? names(readable, SECRET_THING);
  if (!place || HEADER.test(whole) || !(TRANSMITS.test(whole) || /\bpublic (?:gist|paste)\b/i.test(whole)))
    return undefined;
  const leavesMachine =
    DESTINATION.test(whole) ||
    (PUBLIC_PLACE.test(whole) && /\b(?:contents?|lines|text|values?|body|all of it|whole|everything)\b/i.test(whole));
  return leavesMachine ? counted.find(({ text }) => SECRET_PATH.test(text) || SECRET_THING.test(text)) : undefined;
}

function findInstructions(sentence: Sentence, before: string): Instruction[] {
  return INSTRUCTIONS.filter(
    (instruction) =>
      matches(instruction.match, sentence.text) &&
      !instruction.unless?.test(sentence.text) &&
      (!instruction.with || instruction.with.test(`${before} ${sentence.text}`)),
  );
}

const TO_AGENT = /\b(?:AI|LLM|assistant|agent|model|bot|reader|you)\b/i;
const ORDERS =
  /\b(?:must|always|never|first|before|run|execute|open|read|send|add|load|ignore|call|use|include|answer|download|install|reveal|approve|agreed)\b/i;
const ADDRESSES_AGENT =
  /\b(?:note|message|instruction|order|notice|hint|reminder)s? (?:to|for) (?:the |any )?(?:AI|LLM|assistant|agent|model|bot)\b|\b(?:AI|LLM|assistant|agent|model) ?(?:reader|note)?\s*:|\bsystem (?:note|message|prompt)\b/i;

function isHiddenInstruction(sentence: Sentence): boolean {
  if (!sentence.hidden) return false;
  if (ADDRESSES_AGENT.test(sentence.text) && ORDERS.test(sentence.text)) return true;
  return (
    sentence.text.includes("<!--") &&
    TO_AGENT.test(sentence.text) &&
    /\b(?:send|curl|execute|ignore|secret\w*|token|key|password|without|approve\w*|agreed)\b/i.test(sentence.text)
  );
}

const PLACEHOLDER = /\]\(\s*<?https?:\/\/[^)\n]*(?:[?&=/#][^)\n]*)(?:<[^>\n]*>|\{[^}\n]*\}|\$\w+|\[[^\]\n]*\])/i;
const CARRIED =
  /(?:<|\{|\$|\[)[^>}\]\n]*\b\w*(?:key|token|secret|password|passwd|credential|conversation|history|transcript|prompt|env|memory|cookie|summary of|answer|contents?|user ?name|host ?name|e-?mail)\w*\b/i;

function sentenceHits(section: Section, index: number, lines: readonly string[]): Hit[] {
  const sentence = section.sentences[index];
  if (!sentence) return [];
  const hits: Hit[] = [];
  const before = section.sentences.slice(Math.max(0, index - 3), index).map(({ text }) => text);
  for (const instruction of findInstructions(sentence, before.join(" "))) {
    const found = instruction.match.exec(sentence.text)?.[0] ?? "";
    if (!isMentioned(lines, sentence.line, found)) hits.push({ ...instruction, ...sentence });
  }
  const leaving = sendsSecret(section.sentences.slice(index, index + 3));
  if (leaving && leaving === sentence) hits.push({ ...RULE.leaves, ...leaving });
  else if (leaving && index === 0) hits.push({ ...RULE.leaves, ...leaving });
  if (isHiddenInstruction(sentence)) hits.push({ ...RULE.hidden, ...sentence });
  if (PLACEHOLDER.test(sentence.text) && CARRIED.test(sentence.text.slice(sentence.text.search(PLACEHOLDER))))
    hits.push({ ...RULE.address, ...sentence });
  if (
    /^\s*<\/?(?:skill|system|assistant|tool_result|function_results?|system-reminder|developer|available_skills|human)\b[^>]*>/i.test(
      sentence.text,
    )
  )
    hits.push({ ...RULE.tag, ...sentence });
  return hits;
}

/** Several suspicious instructions close together count as one clear instruction. */
function escalateCombined(hits: readonly Hit[]): Hit[] {
  const suspicious = hits.filter((hit) => hit.severity === "high" && hit.category === "injection");
  const kinds = new Set(suspicious.map((hit) => hit.id));
  return kinds.size < 2
    ? [...hits]
    : hits.map((hit) => (suspicious.includes(hit) ? { ...hit, severity: "critical" } : hit));
}

/** `lines` are the lines of the file, used to detect mere mentions. */
export function proseHits(section: Section, lines: readonly string[]): Hit[] {
  return escalateCombined(section.sentences.flatMap((_, index) => sentenceHits(section, index, lines)));
}
