// A summary without a model: the same inputs always give the same notes, within a token budget.
import type { ToolCall } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { estimateTextTokens } from "../../core/model/tokens.ts";
import { oneLine } from "../../lib/text/one-line.ts";
import { truncate } from "../../lib/text/truncate.ts";
import { truncateLines } from "../truncate-lines.ts";
import { describeCall, listPaths } from "./describe-call.ts";
import type { Turn } from "./outline.ts";
import { isConstraint, salience, sentences } from "./salience.ts";
import { modelPart, parseSections, type Section, writeSections } from "./sections.ts";

const ACTIVE_TASK = "Active Task";
/** Requests before the last one: without a model it is unknown whether they were handled, so they are not listed as open. */
const EARLIER = "Earlier Requests";

interface Found {
  readonly requests: string[];
  readonly constraints: string[];
  readonly actions: string[];
  readonly files: string[];
  readonly facts: { readonly text: string; readonly score: number; readonly order: number }[];
}

function collect(turns: readonly Turn[]): Found {
  const found: Found = { requests: [], constraints: [], actions: [], files: [], facts: [] };
  const calls = new Map<string, ToolCall>();
  const files = new Set<string>();
  for (const { message } of turns) {
    const text = contentText(message.content);
    if (message.role === "user") {
      found.requests.push(oneLine(text, 300));
      for (const sentence of sentences(text)) if (isConstraint(sentence)) found.constraints.push(sentence);
    }
    if (message.role === "assistant") {
      for (const call of message.tool_calls ?? []) {
        calls.set(call.id, call);
        for (const path of listPaths(call)) files.add(path);
      }
    }
    if (message.role === "tool") {
      const call = calls.get(message.tool_call_id);
      if (call !== undefined) found.actions.push(oneLine(describeCall(call, text), 200));
      continue;
    }
    const bonus = message.role === "user" ? 2 : 0;
    for (const sentence of sentences(text)) {
      const score = salience(sentence);
      if (score > 0) found.facts.push({ text: sentence, score: score + bonus, order: found.facts.length });
    }
  }
  found.files.push(...files);
  return found;
}

/** The newest lines that fit, in their old order. */
function newest(lines: readonly string[], tokens: number): string[] {
  const kept: string[] = [];
  let used = 0;
  for (const line of [...new Set(lines)].reverse()) {
    const cost = estimateTextTokens(line) + 2;
    if (used + cost > tokens) break;
    kept.push(line);
    used += cost;
  }
  return kept.reverse();
}

function mostSalient(facts: Found["facts"], tokens: number): string[] {
  const kept: Found["facts"] = [];
  const seen = new Set<string>();
  let used = 0;
  for (const fact of [...facts].sort((a, b) => b.score - a.score || b.order - a.order)) {
    const cost = estimateTextTokens(fact.text) + 2;
    if (seen.has(fact.text) || used + cost > tokens) continue;
    seen.add(fact.text);
    kept.push(fact);
    used += cost;
  }
  return kept.sort((a, b) => a.order - b.order).map((fact) => fact.text);
}

const bullets = (lines: readonly string[]) => lines.map((line) => `- ${line}`).join("\n");

/** Notes about `turns` under the headings of the summary template, in at most about `tokens`. */
export function extract(turns: readonly Turn[], tokens: number): string {
  const found = collect(turns);
  const room = Math.max(40, tokens - 40);
  const share = (part: number) => Math.floor(room * part);
  const sections: Section[] = [
    { heading: "Constraints & Preferences", text: bullets(newest(found.constraints, share(0.15))) },
    { heading: "Progress", text: bullets(newest(found.actions, share(0.2))) },
    { heading: EARLIER, text: bullets(newest(found.requests, share(0.22))) },
    { heading: "Relevant Files", text: bullets(newest(found.files, share(0.08))) },
    { heading: "Critical Context", text: bullets(mostSalient(found.facts, share(0.3))) },
  ];
  return truncateLines(writeSections(sections), tokens);
}

/** Shortens every section in proportion, oldest lines first, so that no section disappears before others shrink. */
function shrinkSections(sections: readonly Section[], tokens: number): string {
  const total = estimateTextTokens(writeSections(sections));
  if (total <= tokens) return writeSections(sections);
  const shrunk = sections.map(({ heading, text }) => {
    const allowed = Math.max(8, Math.floor((estimateTextTokens(text) * tokens) / total) - 6);
    const kept = newest(text.split("\n"), allowed);
    return { heading, text: kept.length > 0 ? kept.join("\n") : truncate(text, allowed * 3) };
  });
  return truncateLines(writeSections(shrunk), tokens);
}

/** Earlier notes cut to size; sections that are copied by the program are left out. */
export function shrinkNotes(body: string, tokens: number): string {
  return shrinkSections(parseSections(modelPart(body)), tokens);
}

/** Merges notes with newer notes: sections of the same name are joined; an older task is no longer the active one. */
export function mergeNotes(older: string, newer: string, tokens: number): string {
  const merged = new Map<string, string>();
  const add = (heading: string, text: string) => {
    const before = merged.get(heading);
    merged.set(heading, before === undefined || before === "" ? text : `${before}\n${text}`);
  };
  for (const { heading, text } of parseSections(modelPart(older)))
    add(heading === ACTIVE_TASK ? EARLIER : heading, text);
  for (const { heading, text } of parseSections(newer)) add(heading, text);
  const sections = [...merged].map(([heading, text]) => ({ heading, text }));
  return shrinkSections(sections, tokens);
}

/** The earlier notes, updated with notes about the new turns; used instead of the answer of a model. */
export function updateExtract(previous: string, turns: readonly Turn[], tokens: number): string {
  if (modelPart(previous) === "") return extract(turns, tokens);
  return mergeNotes(previous, extract(turns, Math.floor(tokens * 0.6)), tokens);
}
