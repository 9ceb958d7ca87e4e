// Which sentences of a conversation carry facts, constraints or decisions; by form, without a model.
import { truncate } from "../../lib/text/truncate.ts";

const CONSTRAINT =
  /\b(must|never|always|don'?t|do not|only|prefer|avoid|important|remember|require[ds]?|should(?: not|n't)?|make sure|at most|at least|no more than|muss|nicht|niemals|immer|siempre|nunca|jamais|toujours)\b|ต้อง|ห้าม|อย่า|เสมอ|จำไว้|必须|不要|请勿|必ず|しないで|반드시/i;
const DECISION =
  /\b(decided?|because|instead|agreed|chose|error|failed|fixed|root cause|deadline|password|version|called|named|is at|lives? (?:at|in)|set to)\b/i;

/** Sentences and lines, short enough to quote. */
export function sentences(text: string): string[] {
  const found: string[] = [];
  for (const line of text.split(/\n+/)) {
    for (const piece of line.split(/(?<=[.!?。！？])\s+/)) {
      const sentence = piece.trim();
      if (sentence.length >= 8) found.push(truncate(sentence, 300));
    }
  }
  return found;
}

export function isConstraint(sentence: string): boolean {
  return CONSTRAINT.test(sentence);
}

/** Higher means more worth keeping: names, numbers, paths, addresses, assignments, decisions. */
export function salience(sentence: string): number {
  let score = 0;
  if (/\d/.test(sentence)) score += 1;
  if (/\d{3,}|\b[0-9a-f]{7,}\b/i.test(sentence)) score += 1;
  if (/https?:\/\/|[\w-]+@[\w-]+\.|(?:^|\s)[~./][\w./-]{3,}|\b[\w-]+\.[a-z]{1,4}\b/i.test(sentence)) score += 2;
  if (/[A-Z]{2,}|[a-z][A-Z]|\b\w+_\w+\b|`[^`]+`|"[^"]+"/.test(sentence)) score += 1;
  if (/\b\w+\s*[:=]\s*\S+/.test(sentence)) score += 1;
  if (DECISION.test(sentence)) score += 2;
  if (CONSTRAINT.test(sentence)) score += 2;
  return score;
}
