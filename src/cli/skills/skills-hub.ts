// The subcommands of `hermes skills` that use the hub: browse, search, inspect, install, check, update, audit, uninstall, taps.
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { openHubActions } from "../../app/open-skills.ts";
import { UserError } from "../../core/failure.ts";
import type { InstallConsent, InstallPlan } from "../../core/skill-hub.ts";
import { renderTable } from "../../lib/terminal/columns.ts";
import type { HubActions } from "../../skills/hub/api.ts";
import { type CliContext, integerOption, textOption } from "../command.ts";
import { findingLines, plain, showPlan, verdictText } from "./skills-print.ts";

function requireWord(context: CliContext, what: string): string {
  const [word] = context.positionals;
  if (word) return word;
  throw new UserError(`which ${what}?`, { hint: "See: hermes skills --help", exitCode: 2 });
}

function printJson(context: CliContext, value: unknown): void {
  context.terminal.out(JSON.stringify(value, null, 2));
}

/** Length of the beginning of a hash that identifies what was read. */
const ACCEPT_LENGTH = 12;

/**
 * A blocked skill is installed only by a user who has read the findings: typing its name on a terminal, or naming the
 * beginning of the hash of exactly this content.
 */
async function acceptsFindings({ terminal, values }: CliContext, plan: InstallPlan): Promise<boolean> {
  const accepted = typeof values.accept === "string" ? values.accept : "";
  if (accepted !== "")
    return accepted.length >= ACCEPT_LENGTH && plan.sha256.replace(/^sha256:/, "").startsWith(accepted);
  if (!terminal.interactive || plan.overridable) return false;
  terminal.err(terminal.style("dim", `To read the files first, in another window:\n  ${plan.folder}`));
  const typed = await terminal.ask(`To install ${plan.name} despite the lines above, type its name: `);
  return (typed ?? "").trim() === plan.name;
}

/** Shows the plan and asks; without a terminal, `--yes` is required. */
function askConsent(context: CliContext, verb: string): InstallConsent {
  const { terminal, values } = context;
  return async (plan) => {
    showPlan(terminal, plan, { diff: Boolean(values.diff) });
    if (plan.action !== "allow") return (await acceptsFindings(context, plan)) ? "accept" : "no";
    const agreed = values.overwrite ? "overwrite" : "yes";
    if (values.yes) return agreed;
    if (!terminal.interactive)
      throw new UserError(`${verb} ${plan.name}? There is no terminal to ask in`, {
        hint: "Add --yes after reading it.",
      });
    terminal.err(terminal.style("dim", `To read it first, in another window:\n  ${plan.folder}`));
    if (!(await terminal.confirm(`${verb} ${plan.name}?`))) return "no";
    if (!plan.edited || values.overwrite) return agreed;
    return (await terminal.confirm("Replace your edits too? A copy is kept.")) ? "overwrite" : "no";
  };
}

function toOptions(context: CliContext): { name?: string | undefined; category?: string | undefined; force: boolean } {
  return {
    name: textOption(context, "name") || undefined,
    category: textOption(context, "category") || undefined,
    force: Boolean(context.values.force),
  };
}

function withoutFolder(plan: InstallPlan): Omit<InstallPlan, "folder"> {
  const { folder: _, ...rest } = plan;
  return rest;
}

async function listings(context: CliContext, query: string, page: { number: number; size: number }): Promise<number> {
  const { terminal, values } = context;
  const source = textOption(context, "source") || undefined;
  const hub = await openHubActions(context.home);
  const found = await hub.search(query, { source, limit: page.number * page.size + 1 });
  const start = (page.number - 1) * page.size;
  const rows = found.listings.slice(start, start + page.size);
  if (values.json) printJson(context, { skills: rows, notes: found.notes });
  else if (rows.length === 0) {
    terminal.out("No skills found.");
    if (query !== "") terminal.err(terminal.style("dim", "See what there is: hermes skills browse"));
  } else {
    const table = renderTable(
      terminal,
      [
        { title: "Skill", value: (row) => plain(row.name) },
        { title: "Trust", value: (row) => row.trust },
        { title: "Identifier", value: (row) => plain(row.identifier) },
        { title: "Description", flexible: true, minWidth: 16, value: (row) => plain(row.description) },
      ],
      rows,
    );
    terminal.out(table);
    if (found.listings.length > start + page.size) terminal.err(`More with --page ${page.number + 1}`);
    terminal.err(terminal.style("dim", "Next: hermes skills inspect IDENTIFIER, then hermes skills install"));
  }
  for (const note of found.notes) terminal.err(`notice: ${plain(note)}`);
  return 0;
}

export async function browse(context: CliContext): Promise<number> {
  const number = integerOption(context, "page", { default: 1, min: 1, max: 1_000 });
  const size = integerOption(context, "size", { default: 20, min: 1, max: 100 });
  return listings(context, "", { number, size });
}

export async function search(context: CliContext): Promise<number> {
  const query = context.positionals.join(" ");
  if (query === "") throw new UserError("what are you looking for?", { exitCode: 2 });
  return listings(context, query, {
    number: 1,
    size: integerOption(context, "limit", { default: 10, min: 1, max: 100 }),
  });
}

export async function inspect(context: CliContext): Promise<number> {
  const { terminal, values } = context;
  const found = await (await openHubActions(context.home)).inspect(requireWord(context, "skill"));
  if (values.json) printJson(context, withoutFolder(found));
  else {
    showPlan(terminal, found);
    const lines = plain(found.text).split("\n");
    terminal.out(lines.slice(0, values.all ? undefined : 50).join("\n"));
    if (!values.all && lines.length > 50) terminal.err(`… ${lines.length - 50} more lines; see all with --all`);
  }
  return 0;
}

export async function install(context: CliContext): Promise<number> {
  const { terminal, values } = context;
  const hub = await openHubActions(context.home);
  const outcome = await hub.install(requireWord(context, "skill"), toOptions(context), askConsent(context, "Install"));
  if (values.json)
    printJson(context, {
      installed: outcome.done,
      ...(outcome.done ? outcome.installed : {}),
      plan: withoutFolder(outcome.plan),
    });
  else if (outcome.done)
    terminal.out(
      `Installed ${outcome.installed.name} in\n  ${outcome.installed.dir}\nUse it in a conversation with /${outcome.installed.name}`,
    );
  else terminal.err("Nothing was installed.");
  if (outcome.done && outcome.installed.kept) terminal.err(`Your edited copy is in ${outcome.installed.kept}`);
  return outcome.done ? 0 : 1;
}

const STATES: { readonly [state in Awaited<ReturnType<HubActions["check"]>>[number]["local"]["state"]]: string } = {
  clean: "unchanged",
  edited: "edited",
  missing: "missing",
  misplaced: "misplaced",
};

export async function check(context: CliContext): Promise<number> {
  const { terminal, values } = context;
  const rows = await (await openHubActions(context.home)).check(context.positionals[0]);
  if (values.json) printJson(context, rows);
  else if (rows.length === 0) terminal.out("No skills were installed from a hub.");
  else
    terminal.out(
      renderTable(
        terminal,
        [
          { title: "Skill", value: (row) => plain(row.name) },
          { title: "At its source", value: (row) => row.status.replaceAll("_", " ") },
          { title: "Here", value: (row) => STATES[row.local.state] },
          { title: "Identifier", value: (row) => plain(row.identifier) },
          {
            title: "",
            flexible: true,
            value: (row) => plain(row.reason ?? row.local.reason ?? row.local.edits.join(", ")),
          },
        ],
        rows,
      ),
    );
  return 0;
}

export async function audit(context: CliContext): Promise<number> {
  const { terminal, values } = context;
  const rows = await (await openHubActions(context.home)).audit(context.positionals[0]);
  if (values.json) printJson(context, rows);
  else if (rows.length === 0) terminal.out("No skills were installed from a hub.");
  else
    for (const row of rows) {
      const verdict = row.report ? verdictText(terminal, row.report.verdict) : "not scanned";
      const edits = row.local.edits.length > 0 ? ` (${plain(row.local.edits.join(", "))})` : "";
      const here = `${STATES[row.local.state]}${edits}${row.local.reason ? `: ${row.local.reason}` : ""}`;
      terminal.out(
        `${plain(row.name)}  ${verdict}${row.recorded === row.report?.verdict ? "" : `, was ${plain(row.recorded)}`}; ${here}${row.blocked ? "; would be refused today" : ""}`,
      );
      const findings = (row.report?.findings ?? []).map((finding) => ({
        ...finding,
        what: `${finding.category}/${finding.pattern_id}: ${finding.description}`,
      }));
      if (row.report?.verdict !== "safe") for (const line of findingLines(terminal, findings)) terminal.out(line);
    }
  return rows.some((row) => row.blocked || row.local.state === "misplaced") ? 1 : 0;
}

export async function update(context: CliContext): Promise<number> {
  const { terminal, values } = context;
  const hub = await openHubActions(context.home);
  const rows = await hub.check(context.positionals[0]);
  const results: { name: string; outcome: string; reason?: string | undefined }[] = [];
  for (const row of rows) {
    const restore = row.status === "up_to_date" && (row.local.state === "missing" || values.overwrite);
    if (row.status === "unavailable")
      results.push({ name: row.name, outcome: "unavailable", reason: row.reason ?? "" });
    else if (row.status === "up_to_date" && !restore) results.push({ name: row.name, outcome: "up to date" });
    else {
      try {
        const outcome = await hub.update(row.name, { force: Boolean(values.force) }, askConsent(context, "Update"));
        results.push({ name: row.name, outcome: outcome.done ? "updated" : "left as it is" });
      } catch (error) {
        // A refused update does not stop the others.
        if (!(error instanceof UserError)) throw error;
        results.push({ name: row.name, outcome: "refused", reason: `${error.message}. ${error.hint ?? ""}`.trim() });
      }
    }
  }
  if (values.json) printJson(context, results);
  else if (results.length === 0) terminal.out("No skills were installed from a hub.");
  else
    for (const { name, outcome, reason } of results)
      terminal.out(`${plain(name)}: ${outcome}${reason ? ` (${plain(reason)})` : ""}`);
  return results.some((result) => result.outcome === "refused") ? 1 : 0;
}

export async function uninstall(context: CliContext): Promise<number> {
  const { terminal, values } = context;
  const name = requireWord(context, "skill");
  const hub = await openHubActions(context.home);
  await hub.requireInstalled(name);
  if (terminal.interactive && !values.yes && !(await terminal.confirm(`Remove ${plain(name)}?`))) return 1;
  await hub.uninstall(name, { forget: Boolean(values.forget), overwrite: Boolean(values.overwrite) });
  if (values.json) printJson(context, { skill: name, done: values.forget ? "forgotten" : "removed" });
  else terminal.out(`${plain(name)} was ${values.forget ? "removed from the list; its files stay" : "removed"}.`);
  return 0;
}

export async function tapList(context: CliContext): Promise<number> {
  const taps = await (await openHubActions(context.home)).taps();
  if (context.values.json) printJson(context, taps);
  else
    context.terminal.out(
      renderTable(
        context.terminal,
        [
          { title: "Repository", value: (tap) => plain(tap.repo) },
          { title: "Folder", value: (tap) => plain(tap.path) || "(all)" },
          { title: "Added by", value: (tap) => (tap.own ? "you" : "Hermes") },
        ],
        taps,
      ),
    );
  return 0;
}

export async function tapAdd(context: CliContext): Promise<number> {
  const path = textOption(context, "path") ?? "skills/";
  const { repo, skills, added } = await (await openHubActions(context.home)).addTap(
    requireWord(context, "repository"),
    path,
  );
  if (context.values.json) printJson(context, { repo, path, skills, added });
  else context.terminal.out(added ? `Added ${repo} with ${skills} skills.` : `${repo} is already a tap.`);
  return 0;
}

export async function tapRemove(context: CliContext): Promise<number> {
  const repo = requireWord(context, "repository");
  const removed = await (await openHubActions(context.home)).removeTap(repo);
  if (!removed) throw new UserError(`${repo} is not among your taps`, { hint: "See: hermes skills tap list" });
  if (context.values.json) printJson(context, { repo, removed });
  else context.terminal.out(`Removed ${repo}. Skills that came from it stay.`);
  return 0;
}

export async function snapshotExport(context: CliContext): Promise<number> {
  const file = requireWord(context, "file");
  const snapshot = await (await openHubActions(context.home)).exportSnapshot();
  const text = `${JSON.stringify(snapshot, null, 2)}\n`;
  if (file === "-") context.terminal.out(text);
  else {
    await writeFile(resolve(context.home.cwd, file), text);
    context.terminal.err(`Wrote ${snapshot.skills.length} skills to ${file}`);
  }
  return 0;
}

export async function snapshotImport(context: CliContext): Promise<number> {
  const path = resolve(context.home.cwd, requireWord(context, "file"));
  const text = await readFile(path, "utf8").catch(() => {
    throw new UserError(`${path} cannot be read`);
  });
  const hub = await openHubActions(context.home);
  const rows = await hub.importSnapshot(text, { force: Boolean(context.values.force) }, askConsent(context, "Install"));
  if (context.values.json) printJson(context, rows);
  else
    for (const { name, outcome, reason } of rows)
      context.terminal.out(`${plain(name)}: ${outcome}${reason ? ` (${plain(reason)})` : ""}`);
  return rows.some((row) => row.outcome === "refused" || row.outcome === "changed") ? 1 : 0;
}

export async function publish(context: CliContext): Promise<number> {
  const { values, home } = context;
  const repo = textOption(context, "repo");
  const dir = textOption(context, "dir");
  const to = textOption(context, "to") ?? (repo ? "github" : "folder");
  if (to !== "folder" && to !== "site" && to !== "github")
    throw new UserError(`skills cannot be published to "${to}"`, { hint: "Use folder, site or github.", exitCode: 2 });
  const path = resolve(home.cwd, requireWord(context, "folder"));
  const place = { dir: dir ? resolve(home.cwd, dir) : undefined, repo: repo || undefined };
  const outcome = await (await openHubActions(home)).publish(path, { to, ...place, force: Boolean(values.force) });
  if (values.json) printJson(context, outcome);
  else context.terminal.out(`${outcome.name} (${outcome.verdict}) is in ${outcome.where}`);
  if (to === "folder" && !values.json)
    context.terminal.err("Commit and push it; others then use: hermes skills tap add OWNER/REPO");
  return 0;
}
