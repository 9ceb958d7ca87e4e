// Searches skills by words: matches in the name weigh most, then category and description; rare words weigh more.
import type { SkillEntry } from "../core/skill.ts";

const STOP = new Set("a an and are for from how i in is it me my of on or please the this to use with you".split(" "));

function tokenize(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1 && !STOP.has(word))
    .map(stem);
}

/** A simple stemmer: `commits`, `committing` and `commit` become equal. */
function stem(word: string): string {
  if (word.length <= 4) return word.replace(/s$/, "");
  return word.replace(/(ing|ed|es|s)$/, "").replace(/(.)\1$/, "$1");
}

function countIn(words: readonly string[], wanted: string): number {
  let count = 0;
  for (const word of words) {
    if (word === wanted) count += 1;
    else if (wanted.length >= 4 && word.startsWith(wanted)) count += 0.6;
  }
  return count;
}

/** Best match first; skills without a common word are excluded. */
export function searchSkills(skills: readonly SkillEntry[], query: string): SkillEntry[] {
  const wanted = [...new Set(tokenize(query))];
  const documents = skills.map((skill) => ({
    skill,
    name: tokenize(skill.name),
    category: tokenize(skill.category),
    description: tokenize(skill.description),
  }));
  const rarity = new Map(
    wanted.map((word) => {
      const holders = documents.filter(({ name, category, description }) =>
        [name, category, description].some((field) => countIn(field, word) > 0),
      );
      return [word, Math.log(1 + documents.length / (1 + holders.length))] as const;
    }),
  );
  const scored = documents.map(({ skill, name, category, description }) => {
    let score = 0;
    for (const word of wanted) {
      const weight = rarity.get(word) ?? 0;
      const hits =
        3 * Math.min(1, countIn(name, word)) + countIn(category, word) + Math.min(2, countIn(description, word));
      score += weight * hits;
    }
    return { skill, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ skill }) => skill);
}
