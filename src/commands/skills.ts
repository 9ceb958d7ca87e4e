// `/skills` in a conversation: list and find skills, look at one, install it after the person's yes, switch one off.

import type { Services } from "../app/services.ts";
import type { CommandAnswer, CommandContext, SlashCommand } from "../core/command.ts";
import { UserError } from "../core/failure.ts";
import { nobody } from "../core/human.ts";
import type { InstallPlan, SkillHub } from "../core/skill-hub.ts";

const MAX_ROWS = 15;
const MAX_FINDINGS = 8;
const INSPECTED_LINES = 40;

/** Words of strangers cannot draw on the screen. */
const plain = (text: string): string => text.replaceAll(/[^\P{C}\n\t]/gu, "·");

function short(text: string, length: number): string {
  const line = plain(text).replaceAll(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

const HELP = `/skills                     what you have
/skills search WORDS        find one elsewhere
/skills inspect ID          look at one before you take it
/skills install ID          scan it, show it, ask you, install it
/skills check               is there something new at the sources?
/skills uninstall NAME
/skills disable NAME        enable NAME switches it on again
More with: hermes skills --help`;

async function listText(services: Services, context: CommandContext): Promise<string> {
  const service = await services.skills.open();
  const [{ skills, problems }, waiting] = await Promise.all([
    service.list({ platform: context.source }),
    service.quarantined(),
  ]);
  const width = Math.min(24, Math.max(0, ...skills.map((skill) => skill.name.length)));
  const groups = new Map<string, string[]>();
  for (const skill of skills) {
    const lines = groups.get(skill.category) ?? [];
    lines.push(`  /${skill.name.padEnd(width)}  ${short(skill.description, 90 - width)}`);
    groups.set(skill.category, lines);
  }
  const broken = problems.map((problem) => `  ${problem.file}:${problem.line} ${problem.message}. ${problem.hint}`);
  return [
    skills.length === 0
      ? "No skills are installed."
      : [...groups].map(([category, lines]) => `${category}\n${lines.join("\n")}`).join("\n"),
    ...(broken.length > 0 ? [`Problems\n${broken.join("\n")}`] : []),
    ...(waiting.length > 0
      ? [`${waiting.length} set aside by the guard; see: hermes skills review ${waiting[0]?.id ?? "ID"}`]
      : []),
    "Load one with /NAME. Find more: /skills search WORDS. Everything else: /skills help",
  ].join("\n\n");
}

function planText(plan: InstallPlan): string {
  const serious = plan.findings.filter((finding) => finding.severity !== "low");
  return [
    `${plan.name}${plan.version ? ` ${plain(plan.version)}` : ""}: ${short(plan.description, 160)}`,
    `  from     ${plain(plan.identifier)} (${plan.trust})`,
    `  files    ${plan.files.slice(0, 10).map(plain).join(", ")}${plan.files.length > 10 ? " …" : ""}`,
    ...(plan.needs.length > 0 ? [`  needs    ${plain(plan.needs.join(", "))}`] : []),
    `  verdict  ${plan.verdict}`,
    ...serious.slice(0, MAX_FINDINGS).map(({ file, line, what }) => `  ${plain(file)}:${line} ${plain(what)}`),
    ...(serious.length > MAX_FINDINGS ? [`  and ${serious.length - MAX_FINDINGS} more`] : []),
  ].join("\n");
}

async function searchText(hub: SkillHub, query: string): Promise<string> {
  const found = await hub.search(query, { limit: MAX_ROWS + 1 });
  const rows = found.listings.slice(0, MAX_ROWS).map((row) => {
    return `  ${plain(row.identifier)} (${row.trust})\n      ${short(row.description, 100)}`;
  });
  return [
    rows.length === 0 ? "Nothing was found." : rows.join("\n"),
    ...(found.listings.length > MAX_ROWS ? [`There are more: hermes skills search ${query}`] : []),
    ...found.notes.map((note) => `notice: ${plain(note)}`),
    ...(rows.length > 0 ? ["Look at one with /skills inspect ID, take it with /skills install ID."] : []),
  ].join("\n");
}

async function inspectText(hub: SkillHub, identifier: string): Promise<string> {
  const plan = await hub.inspect(identifier);
  const lines = plain(plan.text).split("\n");
  const more = lines.length - INSPECTED_LINES;
  return `${planText(plan)}\n\n${lines.slice(0, INSPECTED_LINES).join("\n")}${more > 0 ? `\n… ${more} more lines` : ""}`;
}

/** The person reads the plan and says yes; typing the command alone is not enough. */
async function installText(
  services: Services,
  hub: SkillHub,
  context: CommandContext,
  options: { readonly identifier: string; readonly force: boolean },
): Promise<string> {
  const human = context.human ?? nobody;
  let shown = "";
  const outcome = await hub
    .install(options.identifier, { force: options.force }, async (plan) => {
      shown = planText(plan);
      if (plan.action !== "allow") return "no";
      const answer = await human.approve(
        {
          action: `install the skill ${plan.name}\n${shown}`,
          reason:
            plan.trust === "community" ? "a stranger wrote it; the guard finds known tricks only" : "it is new here",
          intent: `skill-install:${plan.identifier}`,
          choices: ["once", "deny"],
          toolName: "skills",
        },
        new AbortController().signal,
      );
      return answer.choice === "deny" ? "no" : "yes";
    })
    .catch((error: unknown) => {
      if (!(error instanceof UserError) || shown === "") throw error;
      throw new UserError(`${shown}\n${error.message}`, error.hint ? { hint: error.hint } : {});
    });
  if (!outcome.done) return `${outcome.plan.name} was not installed.`;
  await (await services.skills.open()).reload();
  return `Installed ${outcome.installed.name}. Use it with /${outcome.installed.name}; the agent sees it in its list from the next session on.`;
}

async function checkText(hub: SkillHub): Promise<string> {
  const rows = await hub.check();
  if (rows.length === 0) return "No skills were installed from a hub.";
  return rows
    .map((row) => `  ${plain(row.name)}: ${row.status.replaceAll("_", " ")} at its source, ${row.local.state} here`)
    .join("\n");
}

async function uninstallText(
  services: Services,
  hub: SkillHub,
  context: CommandContext,
  name: string,
): Promise<string> {
  const answer = await (context.human ?? nobody).approve(
    {
      action: `remove the skill ${plain(name)}`,
      reason: "its folder is deleted",
      intent: `skill-uninstall:${name}`,
      choices: ["once", "deny"],
      toolName: "skills",
    },
    new AbortController().signal,
  );
  if (answer.choice === "deny") return `${plain(name)} stays.`;
  await hub.uninstall(name, { forget: false, overwrite: false });
  await (await services.skills.open()).reload();
  return `${plain(name)} was removed.`;
}

async function switchText(services: Services, name: string, on: boolean): Promise<string> {
  const { skills } = await (await services.skills.open()).list({ everything: true });
  if (!skills.some((skill) => skill.name === name))
    throw new UserError(`there is no skill "${plain(name)}"`, { hint: "See: /skills" });
  const { openSettings } = await import("../config/api.ts");
  const settings = openSettings(services.home);
  const before = (await settings.load()).config.skills.disabled as readonly string[];
  const after = on ? before.filter((other) => other !== name) : [...new Set([...before, name])];
  await settings.set("skills.disabled", JSON.stringify(after));
  return `${name} is ${on ? "on" : "off"} from the next start on.`;
}

/** What reaches out or changes the home is for the person at the machine; chats only list. */
async function atMachine(
  services: Services,
  context: CommandContext,
  options: { readonly verb: string; readonly rest: string; readonly force: boolean },
): Promise<string> {
  const { verb, rest, force } = options;
  if (context.source !== "cli") return `On the machine itself: hermes skills ${verb} ${plain(rest)}`.trim();
  if (rest === "" && verb !== "check" && verb !== "browse")
    throw new UserError(`/skills ${verb} needs ${verb === "search" ? "words to look for" : "a name"}`, {
      hint: "See: /skills help",
    });
  if (context.busy && ["install", "uninstall"].includes(verb))
    return "Wait until the turn is over: this asks you something.";
  if (verb === "enable" || verb === "disable") return switchText(services, rest, verb === "enable");
  const { openHubActions } = await import("../app/open-hub.ts");
  const hub = await openHubActions(services.home);
  if (verb === "search" || verb === "browse") return searchText(hub, rest);
  if (verb === "inspect") return inspectText(hub, rest);
  if (verb === "check") return checkText(hub);
  if (verb === "uninstall") return uninstallText(services, hub, context, rest);
  return installText(services, hub, context, { identifier: rest, force });
}

const VERBS = ["search", "browse", "inspect", "install", "check", "uninstall", "enable", "disable"];

async function answerTo(services: Services, args: string, context: CommandContext): Promise<string> {
  const words = args.split(/\s+/).filter((word) => word !== "");
  const force = words.includes("--force");
  const [verb = "list", ...rest] = words.filter((word) => word !== "--force");
  if (verb === "list") return listText(services, context);
  if (VERBS.includes(verb)) return atMachine(services, context, { verb, rest: rest.join(" "), force });
  return verb === "help" ? HELP : `/skills ${plain(verb)} is not known.\n${HELP}`;
}

/** `/skills …`: typed by a person; the model has no way to call it. */
function skillsCommand(services: Services): SlashCommand {
  return {
    name: "skills",
    args: "[search|inspect|install|check|uninstall|enable|disable …]",
    summary: "List skills, find and install more; load one with /NAME",
    whileBusy: true,
    run: async (args, context): Promise<CommandAnswer> => {
      try {
        return { type: "text", text: await answerTo(services, args, context), columns: true };
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        return { type: "text", text: `${plain(error.message)}.${error.hint ? ` ${plain(error.hint)}` : ""}` };
      }
    },
  };
}

/** `/skills` and `/reload-skills`. */
export function aboutSkills(services: Services): SlashCommand[] {
  return [
    skillsCommand(services),
    {
      name: "reload-skills",
      aliases: ["reload_skills"],
      summary: "Look for new and changed skills",
      run: async () => {
        const { added, removed, total } = await (await services.skills.open()).reload();
        const changes = [...added.map((name) => `+ ${name}`), ...removed.map((name) => `- ${name}`)];
        return { type: "text", text: [`${total} skills.`, ...changes].join("\n") };
      },
    },
  ];
}
