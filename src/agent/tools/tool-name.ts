// Finds the tool that a model meant when it misspelled the name.
import { editDistance } from "../../lib/nearest.ts";

/** Lower case, snake case, without up to two `tool` endings. */
function normalise(name: string): string {
  let text = name
    .trim()
    .replace(/^(functions?|tools?)[.:/]/i, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[\s.\-/:]+/g, "_")
    .toLowerCase();
  for (let round = 0; round < 2; round++) text = text.replace(/_?tool$/, "");
  return text.replace(/^_+|_+$/g, "");
}

function similarity(a: string, b: string): number {
  const longest = Math.max(a.length, b.length);
  return longest === 0 ? 0 : 1 - editDistance(a, b) / longest;
}

/** The known name that is meant: equal after normalisation, or with a similarity of 0.7 and no other as close. */
export function repairToolName(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return name;
  const wanted = normalise(name);
  if (wanted === "") return undefined;
  const same = known.filter((candidate) => normalise(candidate) === wanted);
  if (same.length > 0) return same[0];
  const ranked = rank(wanted, known);
  const [best, second] = ranked;
  if (best === undefined || best.score < 0.7 || second?.score === best.score) return undefined;
  return best.name;
}

function rank(wanted: string, known: readonly string[]): { name: string; score: number }[] {
  return known
    .map((candidate) => ({ name: candidate, score: similarity(wanted, normalise(candidate)) }))
    .sort((a, b) => b.score - a.score);
}

/** Up to three suggestions for an unknown name; names that contain it count as similar. */
export function nearestNames(name: string, known: readonly string[]): string[] {
  const wanted = normalise(name);
  const contains = (candidate: string) =>
    wanted.length >= 3 && (candidate.includes(wanted) || wanted.includes(normalise(candidate)));
  return rank(wanted, known)
    .filter((candidate) => candidate.score >= 0.4 || contains(candidate.name))
    .slice(0, 3)
    .map((candidate) => candidate.name);
}
