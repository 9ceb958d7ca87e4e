// Reads the guard's sample skills from their text files: `=== id`, then `--- path` before each file.
import { readFileSync } from "node:fs";
import type { SkillFile } from "../../src/skills/guard/finding.ts";

export interface SampleSkill {
  readonly id: string;
  readonly files: readonly SkillFile[];
}

/** `⟦200b⟧` is replaced by that character, which would be invisible in the sample files. */
const spelled = (text: string): string =>
  text.replaceAll(/⟦([0-9a-f]+)⟧/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));

function fileOf(id: string, block: string): SkillFile {
  const cut = block.indexOf("\n");
  const path = block.slice(0, cut).trim();
  const text = spelled(block.slice(cut + 1));
  const bare = path === "SKILL.md" && !text.startsWith("---");
  return { path, content: bare ? `---\nname: ${id}\ndescription: A sample\n---\n\n${text}` : text };
}

/** Reads the skills of one sample file in this folder. */
export function readSamples(name: string): SampleSkill[] {
  const text = readFileSync(new URL(name, import.meta.url), "utf8");
  return text
    .split(/^=== /m)
    .slice(1)
    .map((part) => {
      const [id = "", ...blocks] = part.split(/^--- (?=\S)/m);
      return { id: id.trim(), files: blocks.map((block) => fileOf(id.trim(), block)) };
    });
}
