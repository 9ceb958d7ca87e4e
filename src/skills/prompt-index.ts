// Formats the list of skills for the system prompt. A long list is reduced to names, because every request includes it.

import { estimateTextTokens } from "../core/model/tokens.ts";
import type { SkillView } from "../core/skill.ts";
import { skillShows } from "../core/skill.ts";
import { truncate } from "../lib/text/truncate.ts";
import { compare } from "./catalog.ts";
import type { IndexedSkill, Snapshot } from "./snapshot.ts";

export const MAX_INDEX_TOKENS = 1_500;

const HEAD = `## Skills
Skills are tested ways to do a task. When one fits what is asked, load it with skill_view before you start; when unsure, load it. Repair a skill that misled you with skill_manage.
<available_skills>`;
const TAIL = "</available_skills>";
const SEARCH = "The list is shortened: find the rest with skills_list, by category or query.";

/** The category of skills that lie directly in a skills folder. */
const FLAT = "general";
/** Lengths of descriptions that are tried before they are left out. */
const DESCRIPTION_LENGTHS = [60, 40, 25];

interface Group {
  readonly category: string;
  readonly description: string;
  readonly skills: readonly IndexedSkill[];
}

/** In a flat layout each skill is the only one of its category: these are listed together. */
function joinSingles(groups: Map<string, Map<string, IndexedSkill>>, snapshot: Snapshot): void {
  for (const [category, skills] of [...groups]) {
    const [only] = skills.values();
    const ownFolder = only !== undefined && skills.size === 1 && only.skill_name === category;
    if (!ownFolder || category === FLAT || snapshot.categories[category]) continue;
    groups.delete(category);
    const flat = groups.get(FLAT) ?? new Map<string, IndexedSkill>();
    if (!flat.has(only.frontmatter_name)) flat.set(only.frontmatter_name, only);
    groups.set(FLAT, flat);
  }
}

function groupByCategory(snapshot: Snapshot, view: SkillView): Group[] {
  const groups = new Map<string, Map<string, IndexedSkill>>();
  for (const skill of snapshot.skills) {
    if (!skillShows(skill.conditions, view)) continue;
    const group = groups.get(skill.category) ?? new Map<string, IndexedSkill>();
    if (!group.has(skill.frontmatter_name)) group.set(skill.frontmatter_name, skill);
    groups.set(skill.category, group);
  }
  joinSingles(groups, snapshot);
  return [...groups]
    .sort(([a], [b]) => compare(a, b))
    .map(([category, skills]) => ({
      category,
      description: snapshot.categories[category] ?? "",
      skills: [...skills.values()].sort((a, b) => compare(a.frontmatter_name, b.frontmatter_name)),
    }));
}

function fullIndex(groups: readonly Group[], length: number): string {
  const lines = groups.flatMap(({ category, description, skills }) => [
    `  ${category}:${description ? ` ${description}` : ""}`,
    ...skills.map(
      (skill) =>
        `    - ${skill.frontmatter_name}${skill.description ? `: ${truncate(skill.description, length)}` : ""}`,
    ),
  ]);
  return [HEAD, ...lines, TAIL].join("\n");
}

/** Names by category; a category that is too large shows the first names and the number of others. */
function namesOnly(groups: readonly Group[], perGroup: number): string {
  const lines = groups.map(({ category, skills }) => {
    const names = skills.slice(0, perGroup).map((skill) => skill.frontmatter_name);
    const more = skills.length - names.length;
    return `  ${category}: ${[...names, ...(more > 0 ? [`+${more} more`] : [])].join(", ")}`;
  });
  return [HEAD, ...lines, TAIL, SEARCH].join("\n");
}

function categoriesOnly(groups: readonly Group[]): string {
  const words = groups.map(({ category, skills }) => `${category} (${skills.length})`);
  let text = [HEAD, `  ${words.join(", ")}`, TAIL, SEARCH].join("\n");
  while (estimateTextTokens(text) > MAX_INDEX_TOKENS && words.length > 1) {
    words.splice(Math.floor(words.length * 0.8));
    text = [HEAD, `  ${words.join(", ")}, …`, TAIL, SEARCH].join("\n");
  }
  return text;
}

/** At most 1,500 tokens; empty without skills. */
export function promptIndex(snapshot: Snapshot, view: SkillView): string {
  const groups = groupByCategory(snapshot, view);
  if (groups.length === 0) return "";
  for (const length of DESCRIPTION_LENGTHS) {
    const whole = fullIndex(groups, length);
    if (estimateTextTokens(whole) <= MAX_INDEX_TOKENS) return whole;
  }
  const largest = Math.max(...groups.map((group) => group.skills.length));
  for (let perGroup = largest; perGroup >= 1; perGroup = Math.floor(perGroup * 0.8)) {
    const text = namesOnly(groups, perGroup);
    if (estimateTextTokens(text) <= MAX_INDEX_TOKENS) return text;
  }
  return categoriesOnly(groups);
}
