import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type SkillHome, type SkillHomeOptions, skillHome } from "../../test/kit/skill-fixture.ts";
import { callTool, toolContext } from "../../test/kit/tool-context.ts";
import type { Gate } from "../core/gate.ts";
import { absentHuman, type Human } from "../core/human.ts";
import type { SkillRequest } from "../core/skill.ts";
import { skillTools } from "./skill-tools.ts";

let homes: SkillHome[] = [];
const open = (options: SkillHomeOptions = {}): SkillHome => {
  const home = skillHome(options);
  homes.push(home);
  return home;
};
afterEach(() => {
  for (const home of homes) home.remove();
  homes = [];
});

const request = (extra: Partial<SkillRequest> = {}): SkillRequest => ({
  conversationId: "c",
  sessionId: "s1",
  human: absentHuman,
  signal: new AbortController().signal,
  local: true,
  ...extra,
});

const view = (home: SkillHome, args: object, extra: { human?: Human; local?: boolean; platform?: string } = {}) => {
  const { human = absentHuman, local = true, platform } = extra;
  const tool = skillTools(home.service.port({ local, ...(platform ? { platform } : {}) })).find(
    (one) => one.name === "skill_view",
  );
  if (!tool) throw new Error("no tool");
  return callTool(tool, args, toolContext(home.path, { human }));
};

const NEEDS_KEY =
  "required_environment_variables:\n  - name: TENOR_KEY\n    prompt: Tenor key\n    help: https://tenor.example\n    required_for: pictures\n";

describe("activation", () => {
  it("is one user message with directory, settings, files and the instruction", async () => {
    const home = open({ settings: { value: (key) => (key === "a.path" ? "~/data" : undefined) } });
    const fields =
      "metadata:\n  hermes:\n    config:\n      - {key: a.path, description: Where}\n      - {key: a.mode, description: How, default: fast}\n      - {key: a.none, description: No}\n";
    home.skill("tools/demo", fields, `Run node \${HERMES_SKILL_DIR}/scripts/go.sh in \${HERMES_SESSION_ID}.\n`);
    home.write("skills/tools/demo/scripts/go.sh", "echo hi");
    const dir = join(home.path, "skills/tools/demo");
    const activation = await home.service.activate("demo", request(), "make it so");
    if (!activation.ok) throw new Error(activation.error);
    expect(activation.text).toMatch(/^\[The user called the skill "demo"/);
    expect(activation.text).toContain(`Run node ${dir}/scripts/go.sh in s1.`);
    expect(activation.text).toContain(`[Skill directory: ${dir}]`);
    expect(activation.text).toContain(
      `[Skill config (from ${home.path}/config.yaml):\n  a.path = /home/ada/data\n  a.mode = fast\n  a.none = (not set)\n]`,
    );
    expect(activation.text).toContain(`- scripts/go.sh -> ${dir}/scripts/go.sh`);
    expect(activation.text).toMatch(/make it so$/);
    const usage = JSON.parse(readFileSync(join(home.path, "skills/.usage.json"), "utf8"));
    expect(usage.demo).toMatchObject({ use_count: 1, view_count: 0, created_by: null, state: "active", pinned: false });
  });

  it("reports unknown names with a hint, and preloading one throws", async () => {
    const home = open();
    home.skill("a");
    expect(await home.service.activate("nope", request())).toMatchObject({
      ok: false,
      error: 'there is no skill "nope"',
    });
    await expect(home.service.preload(["a", "nope"], request())).rejects.toThrow('there is no skill "nope"');
    const { text } = await home.service.preload(["a"], request());
    expect(text).toContain('[The user loaded the skill "a" for this session');
  });

  it("leaves placeholders unchanged when disabled, and the session's without a session", async () => {
    const home = open();
    home.skill("a", "", `at \${HERMES_SESSION_ID}\n`);
    expect(await home.service.activate("a", request({ sessionId: "" }))).toMatchObject({
      text: expect.stringContaining("at $" + "{HERMES_SESSION_ID}"),
    });
    const off = open({ settings: { templateVars: false } });
    off.skill("a", "", `in \${HERMES_SKILL_DIR}\n`);
    expect(await off.service.activate("a", request())).toMatchObject({
      text: expect.stringContaining("in $" + "{HERMES_SKILL_DIR}"),
    });
  });
});

describe("inline shell", () => {
  const body = "Date: !`date`, then !`rm x`.\n";
  const loadText = async (home: SkillHome): Promise<string> => {
    const activation = await home.service.activate("a", request());
    return activation.ok ? activation.text : activation.error;
  };

  it("does not run unless enabled", async () => {
    const home = open({
      host: {
        shell: async () => {
          throw new Error("must not run");
        },
      },
    });
    home.skill("a", "", body);
    expect(await loadText(home)).toContain("Date: !`date`");
  });

  it("inserts output, truncates it, marks failures, and asks the gate first", async () => {
    const asked: string[] = [];
    const gate: Gate = {
      beginTurn: () => undefined,
      check: async (intent) => {
        if (intent.kind === "command") asked.push(`${intent.command} in ${intent.cwd.split("/").at(-1)}`);
        const bad = intent.kind === "command" && intent.command.startsWith("rm");
        return bad
          ? { allowed: false, status: "denied", message: "no", rule: "r" }
          : { allowed: true, how: "harmless" };
      },
    };
    const home = open({ settings: { inlineShell: true }, host: { gate } });
    home.skill("a", "", body);
    expect(await loadText(home)).toContain("Date: ran date, then [inline-shell error: no].");
    expect(asked).toEqual(["date in a", "rm x in a"]);
    const long = open({
      settings: { inlineShell: true },
      host: { shell: async () => ({ kind: "done", stdout: "x".repeat(5000), stderr: "", code: 0 }) },
    });
    long.skill("a", "", "!`yes`\n");
    expect(await loadText(long)).toContain(`${"x".repeat(4000)}...[truncated]`);
    const slow = open({ settings: { inlineShell: true }, host: { shell: async () => ({ kind: "timeout" }) } });
    slow.skill("a", "", "!`sleep`\n");
    expect(await loadText(slow)).toContain("[inline-shell timeout after 10s: sleep]");
    const failed = open({
      settings: { inlineShell: true },
      host: { shell: async () => ({ kind: "done", stdout: "", stderr: "bad\n", code: 3 }) },
    });
    failed.skill("a", "", "!`false`\n");
    expect(await loadText(failed)).toContain("[inline-shell error: exit code 3: bad]");
  });
});

describe("secrets", () => {
  const person = (answer: string | null): Human & { asked: string[] } => {
    const asked: string[] = [];
    return {
      ...absentHuman,
      present: true,
      asked,
      secret: async (prompt) => {
        asked.push(prompt);
        return answer;
      },
    };
  };

  it("are requested at the local terminal, stored, passed to commands, and never shown to the model", async () => {
    const home = open();
    home.skill("gifs", NEEDS_KEY);
    const human = person("tenor-secret-value");
    const { json, result } = await view(home, { name: "gifs" }, { human });
    expect(human.asked[0]).toContain('"gifs" needs TENOR_KEY for pictures');
    expect(human.asked[0]).toContain("https://tenor.example");
    expect(home.stored.get("TENOR_KEY")).toBe("tenor-secret-value");
    expect(home.service.passthrough("conversation")).toEqual({ TENOR_KEY: "tenor-secret-value" });
    expect(result.content).not.toContain("tenor-secret-value");
    expect(json).toMatchObject({
      setup_needed: false,
      readiness_status: "available",
      missing_required_environment_variables: [],
    });
  });

  it("may be skipped: the skill loads and reports what is missing", async () => {
    const home = open();
    home.skill("gifs", NEEDS_KEY);
    expect((await view(home, { name: "gifs" }, { human: person("") })).json).toMatchObject({
      success: true,
      setup_needed: true,
      setup_skipped: true,
      readiness_status: "setup_needed",
      missing_required_environment_variables: ["TENOR_KEY"],
      setup_help: "https://tenor.example",
      setup_note: expect.stringContaining("env $TENOR_KEY"),
    });
  });

  it("are never requested in a chat, which gets a hint instead", async () => {
    const home = open();
    home.skill("gifs", NEEDS_KEY);
    const human = person("x");
    const { json } = await view(home, { name: "gifs" }, { human, local: false, platform: "telegram" });
    expect(human.asked).toEqual([]);
    expect(json.gateway_setup_hint).toContain("TENOR_KEY");
  });

  it("of Hermes itself are not passed to a skill", async () => {
    const home = open({ env: { OPENAI_API_KEY: "sk-own" } });
    home.skill("greedy", "prerequisites:\n  env_vars: [OPENAI_API_KEY]\n  commands: [git, nosuch]\n");
    const activation = await home.service.activate("greedy", request());
    expect(activation).toMatchObject({ ok: true, notes: [expect.stringContaining("may not use OPENAI_API_KEY")] });
    expect(home.declared.size).toBe(0);
    expect((await view(home, { name: "greedy" })).json).toMatchObject({
      required_commands: ["git", "nosuch"],
      missing_required_commands: ["nosuch"],
    });
  });

  it("in files are read inside the home only", async () => {
    const home = open();
    home.skill(
      "mail",
      "required_credential_files: [token.json, missing.json, ../escape.json, /etc/passwd, link.json]\n",
    );
    home.write("token.json", "{}");
    symlinkSync("/etc/passwd", join(home.path, "link.json"));
    const { json } = await view(home, { name: "mail" });
    expect(json).toMatchObject({
      missing_credential_files: ["missing.json", "../escape.json", "/etc/passwd", "link.json"],
      setup_needed: true,
    });
    expect(home.service.credentialFiles("conversation")).toEqual([join(home.path, "token.json")]);
  });
});

describe("skill_view", () => {
  it("returns every field", async () => {
    const home = open();
    home.skill("tools/demo", "compatibility: any\nmetadata:\n  hermes:\n    tags: [x]\n    related_skills: [y]\n");
    home.write("skills/tools/demo/references/api.md", "The API");
    const { json } = await view(home, { name: "demo" });
    expect(json).toMatchObject({
      success: true,
      name: "demo",
      description: "About tools/demo",
      tags: ["x"],
      related_skills: ["y"],
      path: "tools/demo/SKILL.md",
      skill_dir: join(home.path, "skills/tools/demo"),
      linked_files: { references: ["references/api.md"] },
      required_environment_variables: [],
      required_commands: [],
      setup_needed: false,
      setup_skipped: false,
      readiness_status: "available",
      compatibility: "any",
    });
    expect((await view(home, { name: "tools/demo", file_path: "references/api.md" })).json).toMatchObject({
      content: "The API",
      file_type: ".md",
    });
  });

  it("never leaves the skill's folder", async () => {
    const home = open();
    home.skill("demo");
    home.write("secret.txt", "hidden");
    mkdirSync(join(home.path, "skills/demo/references"));
    symlinkSync(join(home.path, "secret.txt"), join(home.path, "skills/demo/references/link.md"));
    writeFileSync(join(home.path, "skills/demo/references/bin.md"), Buffer.from([1, 0, 2]));
    for (const file_path of [
      "../../secret.txt",
      "/etc/passwd",
      "references/link.md",
      "references/../../../secret.txt",
    ]) {
      const { json, result } = await view(home, { name: "demo", file_path });
      expect(json.success).toBe(false);
      expect(result.content).not.toContain("hidden");
    }
    expect((await view(home, { name: "demo", file_path: "references/no.md" })).json).toMatchObject({
      available_files: { references: ["references/bin.md", "references/link.md"] },
    });
    expect((await view(home, { name: "demo", file_path: "references/bin.md" })).json).toMatchObject({
      is_binary: true,
    });
    for (const name of ["../demo", "/etc", "..", ".hub/x"])
      expect((await view(home, { name })).json.success).toBe(false);
  });

  it("refuses ambiguous names, disabled skills, and skills for other systems", async () => {
    const home = open({ settings: { disabled: () => new Set(["off"]) } });
    home.skill("a/twin");
    home.skill("b/twin");
    home.skill("off");
    home.skill("mac", "platforms: [macos]\n");
    expect((await view(home, { name: "twin" })).json).toMatchObject({
      success: false,
      matches: [expect.stringContaining("a/twin"), expect.stringContaining("b/twin")],
    });
    expect((await view(home, { name: "a/twin" })).json.success).toBe(true);
    expect((await view(home, { name: "off" })).json.error).toContain("disabled");
    expect((await view(home, { name: "mac" })).json).toMatchObject({ readiness_status: "unsupported" });
    expect((await view(home, { name: "twi" })).json).toMatchObject({
      available_skills: expect.arrayContaining(["twin"]),
    });
  });

  it("finds a plugin's skill by plugin:name only", async () => {
    const plugin = open();
    const file = plugin.skill("helper");
    const home = open({
      host: {
        pluginSkills: () => [
          { name: "acme:helper", path: file },
          { name: "acme:gone", path: join(plugin.path, "gone.md") },
        ],
      },
    });
    expect((await view(home, { name: "acme:helper" })).json).toMatchObject({
      success: true,
      name: "acme:helper",
      content: expect.stringContaining("acme:gone"),
    });
    expect((await view(home, { name: "acme:nope" })).json).toMatchObject({ available_skills: ["helper", "gone"] });
    expect((await view(home, { name: "acme:gone" })).json.error).toContain("does not exist");
    expect((await view(home, { name: "helper" })).json.success).toBe(false);
    expect((await view(home, { name: "bad name:x" })).json.success).toBe(false);
  });
});
