// `/skills`: list, find, inspect, install, remove and switch skills. `/reload-skills` reads them again.

import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import { UserError } from "../core/failure.ts";
import { absentHuman } from "../core/human.ts";
import type { Skills } from "../core/skill.ts";
import type { InstallPlan, SkillHub } from "../core/skill-hub.ts";
import { oneLine } from "../lib/text/one-line.ts";
import { type BuiltinCommand, text } from "./builtin-command.ts";

const MAX_ROWS = 15;
const MAX_FINDINGS = 8;
const INSPECTED_LINES = 40;

export interface SkillCommandDeps {
  skills(): Promise<Pick<Skills, "list" | "quarantined" | "reload">>;
  hub(): Promise<SkillHub>;
  /** Enables or disables a skill from the next start. */
  setEnabled(name: string, on: boolean): Promise<void>;
}

/** Replaces control characters: texts from outside must not control the terminal. */
const plain = (value: string): string => value.replaceAll(/[^\P{C}\n\t]/gu, "·");

const short = (value: string, length: number): string => oneLine(plain(value), length);

const HELP = `/skills                     your skills
/skills search WORDS        find skills elsewhere
/skills inspect ID          read a skill before you install it
/skills install ID          scan, show and install it after your approval
/skills check               look for new versions
/skills uninstall NAME
/skills disable NAME        enable NAME enables it again
More: hermes skills --help`;

async function listText(deps: SkillCommandDeps, context: CommandContext): Promise<string> {
  const service = await deps.skills();
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
      ? [`${waiting.length} in quarantine; see: hermes skills review ${waiting[0]?.id ?? "ID"}`]
      : []),
    "Load one with /NAME. Find more: /skills search WORDS. Everything else: /skills help",
  ].join("\n\n");
}

/** The skills of the terminal as a list: Enter puts the command into the composer. */
async function offerSkills(deps: SkillCommandDeps, context: CommandContext): Promise<CommandAnswer | null> {
  const { skills, problems } = await (await deps.skills()).list({ platform: context.source });
  if (skills.length === 0 || problems.length > 0) return null;
  return {
    type: "choose",
    title: "Skills (Enter uses one, /skills search WORDS finds more)",
    choices: skills.map((skill) => ({
      label: `/${skill.name}`,
      value: `use ${skill.name}`,
      description: short(skill.description, 80),
      detail: `${skill.name} (${skill.category})\n${plain(skill.description)}`,
    })),
    actions: [{ key: "d", label: "disable", args: (value) => value.replace(/^use /, "disable ") }],
  };
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
    ...(rows.length > 0 ? ["Read one with /skills inspect ID, install it with /skills install ID."] : []),
  ].join("\n");
}

async function inspectText(hub: SkillHub, identifier: string): Promise<string> {
  const plan = await hub.inspect(identifier);
  const lines = plain(plan.text).split("\n");
  const more = lines.length - INSPECTED_LINES;
  return `${planText(plan)}\n\n${lines.slice(0, INSPECTED_LINES).join("\n")}${more > 0 ? `\n… ${more} more lines` : ""}`;
}

/** The user approves the plan; typing the command alone is not enough. */
async function installText(
  deps: SkillCommandDeps,
  hub: SkillHub,
  context: CommandContext,
  options: { readonly identifier: string; readonly force: boolean },
): Promise<string> {
  const human = context.human ?? absentHuman;
  let shown = "";
  const outcome = await hub
    .install(options.identifier, { force: options.force }, async (plan) => {
      shown = planText(plan);
      if (plan.action !== "allow") return "no";
      const answer = await human.approve(
        {
          action: `install the skill ${plan.name}\n${shown}`,
          reason:
            plan.trust === "community"
              ? "its author is not known; the guard only finds known attacks"
              : "it is new here",
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
      throw new UserError(`${shown}\n${error.message}`, { hint: error.hint });
    });
  if (!outcome.done) return `${outcome.plan.name} was not installed.`;
  await (await deps.skills()).reload();
  return `Installed ${outcome.installed.name}. Use it with /${outcome.installed.name}; the agent lists it from the next session.`;
}

async function checkText(hub: SkillHub): Promise<string> {
  const rows = await hub.check();
  if (rows.length === 0) return "No skills from a hub are installed.";
  return rows
    .map((row) => `  ${plain(row.name)}: ${row.status.replaceAll("_", " ")} at its source, ${row.local.state} here`)
    .join("\n");
}

async function uninstallText(
  deps: SkillCommandDeps,
  hub: SkillHub,
  context: CommandContext,
  name: string,
): Promise<string> {
  const answer = await (context.human ?? absentHuman).approve(
    {
      action: `remove the skill ${plain(name)}`,
      reason: "its folder is deleted",
      intent: `skill-uninstall:${name}`,
      choices: ["once", "deny"],
      toolName: "skills",
    },
    new AbortController().signal,
  );
  if (answer.choice === "deny") return `${plain(name)} was not removed.`;
  await hub.uninstall(name, { forget: false, overwrite: false });
  await (await deps.skills()).reload();
  return `${plain(name)} was removed.`;
}

async function switchText(deps: SkillCommandDeps, name: string, on: boolean): Promise<string> {
  const { skills } = await (await deps.skills()).list({ everything: true });
  if (!skills.some((skill) => skill.name === name))
    throw new UserError(`there is no skill "${plain(name)}"`, { hint: "See: /skills" });
  await deps.setEnabled(name, on);
  return `${name} is ${on ? "enabled" : "disabled"} from the next start.`;
}

/** Only the terminal may search hubs and change skills; chats only list. */
async function answerInTerminal(
  deps: SkillCommandDeps,
  context: CommandContext,
  options: { readonly verb: string; readonly rest: string; readonly force: boolean },
): Promise<string> {
  const { verb, rest, force } = options;
  if (context.source !== "cli")
    return `Run this on the machine of the agent: hermes skills ${verb} ${plain(rest)}`.trim();
  if (rest === "" && verb !== "check" && verb !== "browse")
    throw new UserError(`/skills ${verb} needs ${verb === "search" ? "words to search for" : "a name"}`, {
      hint: "See: /skills help",
    });
  if (context.busy && ["install", "uninstall"].includes(verb))
    return "Wait for the end of the turn: this needs your approval.";
  if (verb === "enable" || verb === "disable") return switchText(deps, rest, verb === "enable");
  const hub = await deps.hub();
  if (verb === "search" || verb === "browse") return searchText(hub, rest);
  if (verb === "inspect") return inspectText(hub, rest);
  if (verb === "check") return checkText(hub);
  if (verb === "uninstall") return uninstallText(deps, hub, context, rest);
  return installText(deps, hub, context, { identifier: rest, force });
}

const VERBS = ["search", "browse", "inspect", "install", "check", "uninstall", "enable", "disable"];

async function answerTo(deps: SkillCommandDeps, args: string, context: CommandContext): Promise<string> {
  const words = args.split(/\s+/).filter((word) => word !== "");
  const force = words.includes("--force");
  const [verb = "list", ...rest] = words.filter((word) => word !== "--force");
  if (verb === "list") return listText(deps, context);
  if (VERBS.includes(verb)) return answerInTerminal(deps, context, { verb, rest: rest.join(" "), force });
  return verb === "help" ? HELP : `Unknown: /skills ${plain(verb)}\n${HELP}`;
}

/** The model cannot call these commands; only a user can type them. */
export function skillsCommands(deps: SkillCommandDeps): readonly BuiltinCommand[] {
  return [
    {
      name: "skills",
      group: "Tools and skills",
      args: "[search|inspect|install|check|uninstall|enable|disable …]",
      summary: "List skills, find and install more; load one with /NAME",
      whileBusy: true,
      // In chats it only lists.
      ownerOnly: false,
      run: async (args, context): Promise<CommandAnswer> => {
        try {
          const used = /^use\s+(\S+)$/.exec(args)?.[1];
          if (used) return { type: "terminal", request: { kind: "draft", text: `/${used} ` } };
          const offered = args === "" && context.width !== undefined ? await offerSkills(deps, context) : null;
          if (offered) return offered;
          return { type: "text", text: await answerTo(deps, args, context), columns: true };
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
          return text(`${plain(error.message)}.${error.hint ? ` ${plain(error.hint)}` : ""}`);
        }
      },
    },
    {
      name: "reload-skills",
      group: "Tools and skills",
      aliases: ["reload_skills"],
      summary: "Look for new and changed skills",
      ownerOnly: false,
      run: async () => {
        const { added, removed, total } = await (await deps.skills()).reload();
        const changes = [...added.map((name) => `+ ${name}`), ...removed.map((name) => `- ${name}`)];
        return text([`${total} skills.`, ...changes].join("\n"));
      },
    },
  ];
}
