// A home with skills: real folders, everything allowed by default, a record of what was stored.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SkillHost, SkillSettings } from "../../src/skills/skill-host.ts";
import { SkillService } from "../../src/skills/skill-service.ts";
import { replaceIn } from "../../src/tools/files/replace.ts";
import { tempDir } from "./temp-dir.ts";
import { openGate } from "./tool-context.ts";

export interface SkillHome {
  readonly path: string;
  readonly service: SkillService;
  readonly stored: Map<string, string>;
  readonly declared: Map<string, string>;
  readonly notices: string[];
  write(rel: string, text: string): string;
  skill(rel: string, fields?: string, body?: string): string;
  remove(): void;
}

export interface SkillHomeOptions {
  readonly settings?: Partial<SkillSettings>;
  readonly host?: Partial<SkillHost>;
  readonly env?: { readonly [name: string]: string };
}

const DEFAULTS: SkillSettings = {
  templateVars: true,
  inlineShell: false,
  inlineShellSeconds: 10,
  externalDirs: [],
  pluginDirs: [],
  disabled: () => new Set(),
  value: () => undefined,
  strictGuard: false,
};

function createSkillFixture(
  path: string,
  options: SkillHomeOptions,
  kept: Pick<SkillHome, "stored" | "declared" | "notices">,
): SkillHost {
  return {
    home: path,
    system: "linux",
    gate: openGate,
    bundled: null,
    settings: () => ({ ...DEFAULTS, ...options.settings }),
    pluginSkills: () => [],
    expand: (text) => text.replace(/^~/, "/home/ada"),
    variable: async (name) => kept.stored.get(name) ?? options.env?.[name],
    storeVariable: async (name, value) => void kept.stored.set(name, value),
    protect: () => undefined,
    declare: (_, name, value) => {
      if (name === "OPENAI_API_KEY") return false;
      kept.declared.set(name, value);
      return true;
    },
    shell: async (command) => ({ kind: "done", stdout: `ran ${command}\n\n`, stderr: "", code: 0 }),
    hasCommand: async (name) => name === "git",
    replace: async (text, request) => replaceIn(text, request),
    notice: (text) => void kept.notices.push(text),
    ...options.host,
  };
}

export function skillHome(options: SkillHomeOptions = {}): SkillHome {
  const path = tempDir("hermes-skill-home-");
  mkdirSync(join(path, "skills"));
  const kept = { stored: new Map<string, string>(), declared: new Map<string, string>(), notices: [] as string[] };
  const write = (rel: string, text: string): string => {
    const file = join(path, rel);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  return {
    path,
    service: new SkillService(createSkillFixture(path, options, kept)),
    ...kept,
    write,
    skill: (rel, fields = "", body = "# Title\n\nDo it.\n") =>
      write(
        `skills/${rel}/SKILL.md`,
        `---\nname: ${rel.split("/").at(-1)}\ndescription: About ${rel}\n${fields}---\n\n${body}`,
      ),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
