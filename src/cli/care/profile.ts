// `hermes profile`: separate homes with their own settings, keys, sessions and memory.
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { openGatewayLocks } from "../../app/open-delivery.ts";
import { openModelsContext } from "../../app/open-models.ts";
import { openSettings } from "../../config/api.ts";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import { askToStop, isGatewayRunning } from "../../gateway-control/api/gateway-process.ts";
import * as profiles from "../../home/profiles/api.ts";
import { renderTable } from "../../lib/terminal/columns.ts";
import { askSideModel } from "../../providers/api/models.ts";
import { copyDatabase } from "../../store/api/copy-database.ts";
import { type CliCommand, type CliContext, type CliOption, JSON_OPTION, textOption } from "../command.ts";

const YES: { readonly [name: string]: CliOption } = { yes: { type: "boolean", short: "y", help: "Do not ask" } };
const STOP_MS = 10_000;

function placeOf({ home }: CliContext): profiles.ProfilePlace {
  return { root: home.root, bin: join(home.env.HOME || homedir(), ".local", "bin") };
}

function requireName(context: CliContext, verb: string): string {
  const [name] = context.positionals;
  if (name) return name;
  throw new UserError(`${verb} which profile?`, { hint: `For example: hermes profile ${verb} work`, exitCode: 2 });
}

const homeOf = (home: Home, path: string): Home => ({ ...home, path, env: { ...home.env, HERMES_HOME: path } });

interface Row extends profiles.ProfileInfo {
  readonly model: string;
  readonly gateway: "running" | "stopped";
}

async function describeRow(home: Home, info: profiles.ProfileInfo): Promise<Row> {
  const own = homeOf(home, info.path);
  const { config } = await openSettings(own).inspect();
  const running = await isGatewayRunning(own, openGatewayLocks(own));
  const model = typeof config.model === "string" ? config.model : config.model.default;
  return { ...info, model: model || "none", gateway: running ? "running" : "stopped" };
}

async function list(context: CliContext): Promise<number> {
  const { terminal, home } = context;
  const rows = await Promise.all(profiles.listProfileInfos(placeOf(context)).map((info) => describeRow(home, info)));
  if (context.values.json) terminal.out(JSON.stringify(rows, null, 2));
  else
    terminal.out(
      renderTable(
        terminal,
        [
          { title: " ", value: (row) => (row.active ? "◆" : " ") },
          { title: "Profile", value: (row) => row.name },
          { title: "Model", flexible: true, minWidth: 10, value: (row) => row.model },
          { title: "Gateway", value: (row) => row.gateway },
          { title: "Command", flexible: true, minWidth: 6, value: (row) => row.alias ?? "" },
          { title: "Description", flexible: true, minWidth: 12, value: (row) => row.description },
        ],
        rows,
      ),
    );
  return 0;
}

async function show(context: CliContext): Promise<number> {
  const { terminal, home } = context;
  const name = (context.positionals[0] ?? home.profile).toLowerCase();
  profiles.requireProfile(home.root, name);
  const info = profiles.listProfileInfos(placeOf(context)).find((each) => each.name === name);
  if (!info) return 1;
  const row = await describeRow(home, info);
  if (context.values.json) terminal.out(JSON.stringify(row, null, 2));
  else
    for (const [label, value] of [
      ["Profile", `${row.name}${row.active ? " (active)" : ""}`],
      ["Path", row.path],
      ["Model", row.model],
      ["Gateway", row.gateway],
      ["Command", row.alias ?? `none; make one: hermes profile alias ${row.name}`],
      ["About", row.description || `no description; write one: hermes profile describe ${row.name}`],
    ])
      terminal.out(`${(label ?? "").padEnd(9)} ${value}`);
  return 0;
}

async function use(context: CliContext): Promise<number> {
  const name = requireName(context, "use");
  await profiles.chooseProfile(context.home.root, name);
  context.terminal.out(`${name} is used from now on. Back: hermes profile use default`);
  return 0;
}

async function create(context: CliContext): Promise<number> {
  const { terminal, home, values } = context;
  const name = requireName(context, "create");
  const clone = values["clone-all"] ? "everything" : values.clone || values["clone-from"] ? "settings" : "nothing";
  if (values["no-skills"] && clone !== "nothing")
    throw new UserError("--no-skills and --clone exclude each other", { exitCode: 2 });
  const path = await profiles.createProfile(home.root, name, {
    clone,
    from: textOption(context, "clone-from") ?? home.profile,
    noSkills: values["no-skills"] === true,
    copyDatabase,
  });
  terminal.out(`Created ${path}`);
  if (!values["no-alias"]) {
    const alias = await profiles.addAlias(placeOf(context), name.toLowerCase(), name).catch((error: Error) => error);
    terminal.out(alias instanceof Error ? `note: ${alias.message}` : `Start it with ${name}, or hermes -p ${name}`);
  }
  terminal.out(`Set it up: hermes -p ${name} setup`);
  return 0;
}

async function stopGateway(home: Home, path: string): Promise<void> {
  const own = homeOf(home, path);
  const locks = openGatewayLocks(own);
  if (!(await isGatewayRunning(own, locks))) return;
  if (!(await askToStop(own, locks, STOP_MS)))
    throw new UserError("the gateway of this profile is running and does not stop", {
      hint: "hermes -p NAME gateway stop",
    });
}

async function remove(context: CliContext): Promise<number> {
  const { terminal, home } = context;
  const name = requireName(context, "delete");
  const path = profiles.requireProfile(home.root, name);
  if (!context.values.yes) {
    const typed = await terminal.ask(
      `This deletes ${path} with its sessions, keys and memory. Type ${name} to confirm: `,
    );
    if (typed?.trim() !== name) {
      terminal.err("Nothing was deleted.");
      return 1;
    }
  }
  if (name !== "default") await stopGateway(home, path);
  await profiles.deleteProfile(placeOf(context), name);
  terminal.out(`Deleted ${name}.`);
  return 0;
}

async function rename(context: CliContext): Promise<number> {
  const [from, to] = context.positionals;
  if (!from || !to) throw new UserError("usage: hermes profile rename OLD NEW", { exitCode: 2 });
  const path = profiles.requireProfile(context.home.root, from);
  if (from !== "default") await stopGateway(context.home, path);
  context.terminal.out(`${from} is now ${await profiles.renameProfile(placeOf(context), from, to)}`);
  return 0;
}

async function alias(context: CliContext): Promise<number> {
  const name = requireName(context, "alias");
  const place = placeOf(context);
  if (context.values.remove) {
    const removed = await profiles.removeAlias(place, textOption(context, "name") ?? name);
    context.terminal.out(removed ? "Removed." : "There was none.");
    return 0;
  }
  const path = await profiles.addAlias(place, name.toLowerCase(), textOption(context, "name") ?? name);
  const onPath = (context.home.env.PATH ?? "").split(":").includes(place.bin);
  context.terminal.out(`${path}${onPath ? "" : ` (add ${place.bin} to PATH)`}`);
  return 0;
}

async function exportOne(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  const name = requireName(context, "export");
  const target = resolve(home.cwd, textOption(context, "output") ?? `${name}.tar.gz`);
  const files = await profiles.exportProfile(home.root, name, target, copyDatabase);
  terminal.out(`${target}: ${files} files, without keys`);
  return 0;
}

async function importOne(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  const [file] = context.positionals;
  if (!file)
    throw new UserError("which archive?", { hint: "For example: hermes profile import work.tar.gz", exitCode: 2 });
  const name = await profiles.importProfile(home.root, resolve(home.cwd, file), textOption(context, "name"));
  terminal.out(`Imported ${name}. Its keys are not in the archive: hermes -p ${name} setup`);
  return 0;
}

/** What the side model reads: the character and the settings of the profile, not its conversations. */
async function sourceOf(path: string): Promise<string> {
  const texts = await Promise.all(
    ["SOUL.md", "memories/USER.md", "config.yaml"].map((name) => readFile(join(path, name), "utf8").catch(() => "")),
  );
  return texts.map((text) => text.slice(0, 4_000)).join("\n---\n");
}

async function describe(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  const name = requireName(context, "describe");
  const path = profiles.requireProfile(home.root, name);
  let text = context.positionals.slice(1).join(" ");
  if (text === "") {
    const answer = await askSideModel(openModelsContext(homeOf(home, path)), {
      task: "profile_describer",
      system:
        "Describe in one sentence of at most 20 words what this assistant profile is for. Answer with the sentence only.",
      prompt: await sourceOf(path),
      maxOutputTokens: 200,
    });
    if (!answer.ok)
      throw new UserError(`no description was written: ${answer.failure.message}`, {
        hint: `Write it yourself: hermes profile describe ${name} "…"`,
      });
    text = answer.text.trim().split("\n")[0] ?? "";
  }
  await profiles.describeProfile(home.root, name, text);
  terminal.out(terminal.forOut(text));
  return 0;
}

export const profileCommand: CliCommand = {
  name: "profile",
  summary: "Separate homes with their own settings, keys, sessions and memory",
  defaultSubcommand: "show",
  subcommands: [
    { name: "show", args: "[NAME]", summary: "Show one profile", maxPositionals: 1, options: JSON_OPTION, run: show },
    { name: "list", aliases: ["ls"], summary: "List the profiles", maxPositionals: 0, options: JSON_OPTION, run: list },
    {
      name: "use",
      args: "NAME",
      summary: "Use this profile from now on; default for none",
      maxPositionals: 1,
      run: use,
    },
    {
      name: "create",
      args: "NAME",
      summary: "Create a profile",
      maxPositionals: 1,
      options: {
        clone: { type: "boolean", help: "Copy settings, keys, skills and notes of the present profile" },
        "clone-all": { type: "boolean", help: "Copy everything, sessions included" },
        "clone-from": { type: "string", value: "NAME", help: "Copy from this profile" },
        "no-alias": { type: "boolean", help: "Without a command in ~/.local/bin" },
        "no-skills": { type: "boolean", help: "Without the skills that come with the program" },
      },
      run: create,
    },
    {
      name: "delete",
      aliases: ["rm"],
      args: "NAME",
      summary: "Delete a profile with all its data",
      maxPositionals: 1,
      options: YES,
      run: remove,
    },
    { name: "rename", args: "OLD NEW", summary: "Rename a profile", maxPositionals: 2, run: rename },
    {
      name: "alias",
      args: "NAME",
      summary: "Make a command in ~/.local/bin that starts the profile",
      maxPositionals: 1,
      options: {
        name: { type: "string", value: "COMMAND", help: "Another name for the command" },
        remove: { type: "boolean", help: "Remove the command" },
      },
      run: alias,
    },
    {
      name: "export",
      args: "NAME",
      summary: "Write a profile to a tar.gz file, without keys",
      maxPositionals: 1,
      options: { output: { type: "string", short: "o", value: "FILE", help: "The file (NAME.tar.gz)" } },
      run: exportOne,
    },
    {
      name: "import",
      args: "FILE",
      summary: "Create a profile from an exported file",
      maxPositionals: 1,
      options: { name: { type: "string", value: "NAME", help: "Another name" } },
      run: importOne,
    },
    {
      name: "describe",
      args: "NAME [TEXT…]",
      summary: "Describe a profile in a sentence; without text a side model writes it",
      run: describe,
    },
  ],
};
