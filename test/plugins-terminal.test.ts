// `hermes plugins` in a terminal, from a folder to a running plugin with its key.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { openTerminal } from "./kit/terminal.ts";

const SECRET = "weather-secret-0123456789";
let home: string;

beforeEach(() => {
  home = tempDir("hermes-plugins-tty-");
  const dir = join(home, "weather-folder");
  mkdirSync(dir);
  const requires_env = [{ name: "WEATHER_KEY", description: "Key of the weather service", secret: true }];
  writeFileSync(join(dir, "plugin.yaml"), JSON.stringify({ name: "weather", version: "1.0.0", api: 1, requires_env }));
  writeFileSync(join(dir, "index.js"), "export function register() {}");
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

it("installs after a yes, enables after another, and keeps the key in .env and off the screen", async () => {
  const terminal = openTerminal(["plugins", "install", "./weather-folder"], { home });
  try {
    await terminal.shows("Continue?");
    expect(terminal.screen()).toContain("run none of its code now");
    terminal.type("y\r");
    await terminal.shows("Enable weather?");
    terminal.type("y\r");
    await terminal.shows("Key of the weather service");
    await terminal.shows("WEATHER_KEY (not shown");
    terminal.type(`${SECRET}\r`);
    expect(await terminal.exited).toBe(0);
    expect(terminal.raw()).not.toContain(SECRET);
  } finally {
    terminal.kill();
  }
  expect(readFileSync(join(home, ".env"), "utf8")).toContain(`WEATHER_KEY=${SECRET}`);
  expect(statSync(join(home, ".env")).mode & 0o077).toBe(0);
  expect(readFileSync(join(home, "config.yaml"), "utf8")).not.toContain(SECRET);
  const { stdout } = await runHermes(["plugins", "list"], { home });
  expect(stdout).toMatch(/weather +1\.0\.0 +home +enabled/);
  expect(stdout).not.toContain("not set");
});

it("switches with the arrow keys; Esc leaves everything as it is", async () => {
  const installed = await runHermes(["plugins", "install", "./weather-folder"], { home });
  expect(installed.stderr).toContain("It needs WEATHER_KEY (Key of the weather service)");
  const down = "\u001b[B";
  const up = "\u001b[A";
  for (const [end, enabled] of [
    [["\u001b"], false],
    [[up, "\r"], true],
  ] as const) {
    const terminal = openTerminal(["plugins"], { home });
    try {
      await terminal.shows("[ ] weather");
      terminal.type(down);
      await terminal.shows("❯ [ ] weather");
      terminal.type("\r");
      await terminal.shows("[x] weather");
      for (const key of end) {
        terminal.type(key);
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      expect(await terminal.exited).toBe(enabled ? 0 : 1);
    } finally {
      terminal.kill();
    }
    const { stdout } = await runHermes(["plugins", "list", "--json"], { home });
    const row = (JSON.parse(stdout) as { key: string; status: string }[]).find(({ key }) => key === "weather");
    expect(row?.status).toBe(enabled ? "enabled" : "not enabled");
  }
});
