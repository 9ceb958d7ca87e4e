import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { effectiveConfig } from "../../../test/kit/effective-config.ts";
import { emulateLines } from "../../../test/kit/emulated-lines.ts";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import { displayWidth } from "../../lib/text/text-width.ts";
import { loadScreenView, type ScreenView } from "./screen-view.ts";
import { viewSettings } from "./settings.ts";
import type { StatusData } from "./status-bar.ts";
import { listSkins, loadSkin } from "./theme/load-skin.ts";

async function open(
  display: { readonly [key: string]: unknown } = {},
  env: { [name: string]: string } = { TERM: "dumb" },
  home = "/nonexistent",
): Promise<ScreenView> {
  const settings = viewSettings(effectiveConfig({ display }).display, { verbose: false, timeZone: "UTC" });
  return loadScreenView({ settings, home, env, now: () => 0 });
}

const WELCOME = {
  version: "0.1.0",
  model: "anthropic/claude-sonnet-4.6",
  provider: "openrouter",
  offline: false,
  folder: "~/projects/hermes/src/terminal",
  branch: "main",
  sessionId: "20261117_134500_ab12cd",
  toolCount: 34,
  skillCount: 1,
};

const STATUS: StatusData = {
  model: "anthropic/claude-sonnet-4.6",
  contextTokens: 102_000,
  contextLimit: 128_000,
  costUsd: 0.321,
  title: "Fix the login",
  folder: "~/projects/hermes",
  branch: "main",
  busyMode: "interrupt",
};

describe("the welcome block", () => {
  it("names model, provider, folder, branch, session, tools and one hint", async () => {
    const view = await open();
    expect(view.welcome(WELCOME).render(80)).toEqual([
      "Hermes 0.1.0",
      "model    anthropic/claude-sonnet-4.6 (openrouter)",
      "folder   ~/projects/hermes/src/terminal (main)",
      "session  20261117_134500_ab12cd",
      "tools    34 tools · 1 skill",
      "/help lists the commands, Ctrl-C stops a turn",
    ]);
  });

  it("fits 40 columns and keeps the end of the folder", async () => {
    const lines = (await open()).welcome(WELCOME).render(40);
    expect(lines).toContain("folder   …/hermes/src/terminal (main)");
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(40);
  });

  it("is one line and the hint with display.compact, and says when no model is configured", async () => {
    const compact = (await open({ compact: true })).welcome(WELCOME).render(80);
    expect(compact).toHaveLength(2);
    const offline = (await open()).welcome({ ...WELCOME, offline: true }).render(80);
    expect(offline.join(" ")).toContain("No model is configured");
  });
});

describe("the status bar", () => {
  it("shows model, context, cost, title, folder and branch", async () => {
    expect((await open()).status(STATUS, 120)).toBe(
      " anthropic/claude-sonnet-4.6 │ 102K/128K ████████░░ 80% │ $0.32 │ Fix the login │ ~/projects/hermes (main)",
    );
  });

  it("shows a running turn, queued messages, background work and what Enter does", async () => {
    const line = (await open()).status({ ...STATUS, turnMs: 34_000, queued: 1, background: 2, yolo: true }, 200);
    for (const part of ["34 s", "1 queued", "2 in the background", "Enter interrupts", "no approvals"])
      expect(line).toContain(part);
  });

  it("leaves out what matters less, and always shows the model", async () => {
    const view = await open();
    expect(view.status({ ...STATUS, turnMs: 34_000 }, 40)).toBe(" claude-sonnet-4.6 │ 80% │ $0.32 │ 34 s");
    expect(view.status(STATUS, 20)).toBe(" claude-sonnet-4.6");
    const title = fc.string({ unit: "grapheme", maxLength: 60 });
    fc.assert(
      fc.property(title, title, fc.integer({ min: 4, max: 160 }), (name, branch, width) => {
        expect(displayWidth(view.status({ ...STATUS, title: name, branch, turnMs: 5 }, width))).toBeLessThanOrEqual(
          width,
        );
      }),
      { numRuns: 50 },
    );
  });

  it("changes colour under pressure, and hides the cost when it is switched off", async () => {
    const view = await open({ show_cost: false }, { TERM: "xterm-256color" });
    const colours: number[] = [];
    for (const contextTokens of [10_000, 80_000, 110_000, 126_000]) {
      const [line] = await emulateLines([view.status({ ...STATUS, contextTokens }, 120)], 120);
      colours.push(line?.style(line.text.indexOf("█") ?? 0).color ?? -1);
      expect(line?.text).not.toContain("$");
    }
    expect(new Set(colours).size).toBe(4);
  });
});

describe("messages of the user", () => {
  it("shortens a long message to its first and last lines", async () => {
    const text = Array.from({ length: 9 }, (_, index) => `line ${index + 1}`).join("\n");
    expect((await open()).userMessage(text).render(40)).toEqual([
      "❯ line 1",
      "  line 2",
      "  … 5 more lines …",
      "  line 8",
      "  line 9",
    ]);
  });

  it("shows the time with display.timestamps", async () => {
    const view = await open({ timestamps: true });
    expect(view.userMessage("hi", Date.UTC(2026, 10, 17, 13, 45)).render(40)).toEqual(["13:45", "❯ hi"]);
  });

  it("recaps a resumed conversation, or not with resume_display minimal", async () => {
    const rows = [
      { role: "user", text: "Which file?", calls: [] },
      { role: "assistant", text: "**This** one\nb\nc\nd", calls: ["terminal", "read_file", "terminal"] },
    ] as const;
    expect((await open()).recap(rows)?.render(60)).toEqual([
      "Earlier in this conversation",
      "",
      "❯ Which file?",
      "This one",
      "b",
      "c …",
      "  3 tool calls: terminal, read_file",
    ]);
    expect((await open({ resume_display: "minimal" })).recap(rows)).toBeUndefined();
  });
});

describe("skins", () => {
  it("has nine of the program, and files of the user that win over them", async () => {
    const home = tempDir();
    mkdirSync(join(home, "skins"));
    writeFileSync(
      join(home, "skins", "mono.yaml"),
      'name: mono\ndescription: Mine\ncolors: { ui_accent: "#ff0000", nonsense: "#fff", prompt: blue }\nbranding: { prompt_symbol: ">" }\ntool_emojis: { terminal: "🔧" }\nspinner: { thinking_verbs: [plotting], wings: [["<", ">"]] }\n',
    );
    writeFileSync(join(home, "skins", "broken.yaml"), "a: [");
    const skins = await listSkins(home);
    expect(skins.map(({ name }) => name)).toEqual([
      "default",
      "ares",
      "slate",
      "daylight",
      "warm-lightmode",
      "poseidon",
      "sisyphus",
      "charizard",
      "broken",
      "mono",
    ]);
    const { skin, problems } = await loadSkin(home, "mono");
    expect(skin.colors.ui_accent).toBe("#ff0000");
    expect(skin.branding.prompt_symbol).toBe(">");
    expect(skin.branding.agent_name).toBe("Hermes");
    expect(problems).toEqual([
      "skins/mono.yaml: colors.nonsense is not a known colour",
      'skins/mono.yaml: colors.prompt must be a colour like "#ffbf00"',
    ]);
    expect((await loadSkin(home, "broken")).problems[0]).toContain("skins/broken.yaml");
    expect((await loadSkin(home, "nope")).problems[0]).toContain('there is no skin "nope"');
    const view = await open({ skin: "mono" }, { TERM: "dumb" }, home);
    expect(view.userMessage("hi").render(20)).toEqual(["> hi"]);
  });

  it("draws no style with NO_COLOR and TERM=dumb, and fewer colours on simple terminals", async () => {
    const heading = async (env: { [name: string]: string }) =>
      (await open({}, env)).welcome(WELCOME).render(80)[0] ?? "";
    expect(await heading({ TERM: "xterm-256color", NO_COLOR: "1" })).not.toContain("\u001b");
    expect(await heading({ TERM: "dumb" })).not.toContain("\u001b");
    expect(await heading({ TERM: "xterm", COLORTERM: "truecolor" })).toContain("38;2;");
    expect(await heading({ TERM: "xterm-256color" })).toContain("38;5;");
    expect(await heading({ TERM: "xterm" })).toMatch(/\[1;(?:3|9)\dm/);
  });

  it("keeps text readable on light backgrounds", async () => {
    const dark = await open({}, { TERM: "x", COLORTERM: "truecolor", COLORFGBG: "15;0" });
    const light = await open({}, { TERM: "x", COLORTERM: "truecolor", COLORFGBG: "0;15" });
    expect(light.theme.background).toBe("light");
    const brightness = (sgr: string) =>
      (/38;2;(\d+);(\d+);(\d+)/.exec(sgr)?.slice(1) ?? []).reduce((sum, value) => sum + Number(value), 0);
    expect(brightness(light.theme.sgr("accent"))).toBeLessThan(brightness(dark.theme.sgr("accent")));
  });
});

describe("settings", () => {
  it("maps details, sections and modes of thinking", () => {
    const settings = (display: { readonly [key: string]: unknown }, verbose = false) =>
      viewSettings(effectiveConfig({ display }).display, { verbose });
    expect(settings({})).toMatchObject({
      thinking: "collapsed",
      toolProgress: "all",
      toolOutput: false,
      markdown: "render",
      statusBar: "top",
    });
    expect(settings({ show_reasoning: true }).thinking).toBe("full");
    expect(settings({ thinking_mode: "truncated" }).thinking).toBe("truncated");
    expect(settings({ details_mode: "expanded" })).toMatchObject({ thinking: "full", toolOutput: true });
    expect(settings({ sections: { thinking: "hidden", tools: "expanded" } })).toMatchObject({
      thinking: "hidden",
      toolOutput: true,
    });
    expect(settings({ tui_statusbar: false }).statusBar).toBe("off");
    expect(settings({}, true)).toMatchObject({ toolProgress: "verbose", toolOutput: true });
  });
});
