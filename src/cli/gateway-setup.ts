// `hermes gateway setup`: chooses a platform, asks for its settings, and checks them by signing in.

import { checkPlatform, platformStates } from "../app/with-app.ts";
import { openSettings } from "../config/api.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import type { PlatformCheck, PlatformState } from "../delivery/api/platform-setup.ts";
import { rereadEnv } from "../home/api.ts";
import { nearest } from "../lib/nearest.ts";
import type { CliContext } from "./command.ts";

type Setting = PlatformState["settings"][number];

/** Where to get the values that a platform needs. */
const HINTS: { readonly [platform: string]: string } = {
  telegram: "Talk to @BotFather on Telegram: /newbot creates a bot and shows its token.",
  discord:
    "In the developer portal of Discord: New Application, Bot, Reset Token; switch on Message Content Intent. Then invite the bot to your server.",
  email: "Use a separate mailbox for the agent; many providers require an app password.",
  webhook: "Other programs post to the gateway. Add routes with: hermes webhook subscribe",
  api_server: "Any OpenAI client can then talk to the agent. A key is created when you enter none.",
};

function listLine(platform: PlatformState, mark: string): string {
  return `${mark} ${platform.label}${platform.ready ? "" : `: ${platform.reason}`}`;
}

function settingLines(platform: PlatformState): string[] {
  return platform.settings
    .filter((setting) => platform.ready || setting.required)
    .map(({ env, set, required, description }) => {
      const state = set ? "set" : required ? "needed" : "optional";
      return `    ${env} (${state})  ${description}`;
    });
}

/** Without a terminal: prints what is needed, which commands set it, and how to try it. */
function explain({ terminal }: CliContext, platforms: readonly PlatformState[]): number {
  for (const platform of platforms) {
    terminal.out(listLine(platform, platform.ready ? "✓" : "·"));
    for (const line of settingLines(platform)) terminal.out(line);
  }
  const example = platforms.find((platform) => !platform.ready) ?? platforms[0];
  const needed = example?.settings.find((setting) => setting.required)?.env ?? enableSetting(example)?.env ?? "NAME";
  terminal.out(
    [
      "",
      `Set a value:  hermes config set ${needed} <value>`,
      `Try it:       hermes gateway setup ${example?.name ?? ""} --check`,
      "Then:         hermes gateway start",
    ].join("\n"),
  );
  return 0;
}

function reportCheck({ terminal }: CliContext, platform: PlatformState, check: PlatformCheck): void {
  if (!check.ok) terminal.out(terminal.style("red", `✗ ${platform.label}: ${check.reason}`));
  else if (check.account === null) terminal.out(terminal.style("green", `✓ ${platform.label} is switched on.`));
  else terminal.out(terminal.style("green", `✓ Signed in to ${platform.label} as ${check.account}.`));
}

async function choose(context: CliContext, platforms: readonly PlatformState[]): Promise<PlatformState | null> {
  const { terminal } = context;
  terminal.out("Which platform?");
  for (const [index, platform] of platforms.entries())
    terminal.out(`  ${index + 1}. ${platform.label}${platform.ready ? " (set up)" : ""}`);
  const answer = (await terminal.ask("Number or name (Enter to leave): "))?.trim() ?? "";
  if (answer === "") return null;
  return byName(platforms, /^\d+$/.test(answer) ? (platforms[Number(answer) - 1]?.name ?? answer) : answer);
}

function byName(platforms: readonly PlatformState[], name: string): PlatformState {
  const wanted = name.toLowerCase().replaceAll("-", "_");
  const found = platforms.find((each) => each.name === wanted || each.label.toLowerCase() === wanted);
  if (found) return found;
  const guess = nearest(
    wanted,
    platforms.map((each) => each.name),
  );
  throw new UserError(`there is no platform "${name}"${guess ? `; did you mean ${guess}?` : ""}`, {
    hint: `One of: ${platforms.map((each) => each.name).join(", ")}`,
    exitCode: 2,
  });
}

/** The setting that enables a platform that needs nothing else. */
function enableSetting(platform: PlatformState | undefined): Setting | undefined {
  return platform?.settings.find(({ env }) => env.endsWith("_ENABLED"));
}

/** Null when the user cancels; empty to keep the current value. */
async function askSetting({ terminal }: CliContext, setting: Setting): Promise<string | null> {
  const keep = setting.set ? " (Enter keeps it)" : setting.required ? "" : " (Enter for none)";
  const question = `${setting.description}${setting.secret ? ", not shown" : ""}${keep}: `;
  const given = await (setting.secret ? terminal.askHidden(question) : terminal.ask(question));
  return given === null ? null : given.trim();
}

/** The answers by variable; null when the user cancels. */
async function askAll(context: CliContext, platform: PlatformState): Promise<{ [env: string]: string } | null> {
  const values: { [env: string]: string } = {};
  const people = platform.settings.find(({ env }) => env.endsWith("_ALLOWED_USERS") && !env.includes("GROUP"));
  const asked = [...platform.settings.filter((setting) => setting.required), ...(people ? [people] : [])];
  for (const setting of asked) {
    let value = await askSetting(context, setting);
    while (value === "" && setting.required && !setting.set) value = await askSetting(context, setting);
    if (value === null) return null;
    if (value !== "") values[setting.env] = value;
  }
  const turnOn = enableSetting(platform);
  if (turnOn && !platform.ready && (await context.terminal.confirm(`Switch ${platform.label} on?`)))
    values[turnOn.env] = "true";
  return values;
}

function nextSteps({ terminal }: CliContext, platform: PlatformState): void {
  const chats = !["webhook", "api_server"].includes(platform.name);
  const lines = ["", "Next:", "  hermes gateway start     run it in the background (install makes it a service)"];
  if (chats)
    lines.push(
      `  write to the bot; unknown users get a code for: hermes pairing approve ${platform.name} CODE`,
      "  /sethome in a chat selects it for the results of scheduled jobs",
    );
  else lines.push(`  hermes gateway status     shows where ${platform.label} listens`);
  terminal.out(lines.join("\n"));
}

/** Writes the values to `.env`; they are in effect afterwards. */
async function saveSettings(home: Home, values: { readonly [env: string]: string }): Promise<void> {
  const settings = openSettings(home);
  for (const [env, value] of Object.entries(values)) await settings.setEnv(env, value);
  rereadEnv(home);
}

async function wizard(context: CliContext, chosen: PlatformState): Promise<number> {
  const { home, terminal } = context;
  let platform = chosen;
  const hint = HINTS[platform.name] ?? platform.hint;
  if (hint) terminal.out(terminal.style("dim", hint));
  for (;;) {
    const values = await askAll(context, platform);
    if (values === null) {
      terminal.out("Nothing more was changed.");
      return 1;
    }
    await saveSettings(home, values);
    if (Object.keys(values).length > 0)
      terminal.out(`Written to ${home.path}/.env: ${Object.keys(values).join(", ")}.`);
    const check = await checkPlatform(home, platform.name);
    reportCheck(context, platform, check);
    if (check.ok) {
      nextSteps(context, platform);
      return 0;
    }
    if (!(await terminal.confirm("Try again?"))) return 1;
    // The values just entered are stored now; the next round offers to keep them.
    platform = byName(await platformStates(home), platform.name);
  }
}

export async function setupPlatform(context: CliContext): Promise<number> {
  const platforms = await platformStates(context.home);
  const [name] = context.positionals;
  const named = name === undefined ? undefined : byName(platforms, name);
  if (context.values.check) {
    const wanted = named ? [named] : platforms.filter((platform) => platform.ready);
    if (wanted.length === 0) context.terminal.out("No platform is set up yet: hermes gateway setup");
    let worst = wanted.length === 0 ? 1 : 0;
    for (const platform of wanted) {
      const check = await checkPlatform(context.home, platform.name);
      reportCheck(context, platform, check);
      if (!check.ok) worst = 1;
    }
    return worst;
  }
  if (!context.terminal.interactive) return explain(context, named ? [named] : platforms);
  const chosen = named ?? (await choose(context, platforms));
  return chosen ? wizard(context, chosen) : 0;
}
