// `hermes permissions`: what commands of the agent may use beyond their container, by project.
import { resolve } from "node:path";
import { grantPermission, listPermissions, revokePermission } from "../container/api.ts";
import { describePermission, formatPermission } from "../core/container.ts";
import { UserError } from "../core/failure.ts";
import { type CliCommand, type CliContext, JSON_OPTION } from "./command.ts";

const PROJECT = {
  project: { type: "string", help: "The project's folder; the current one when absent" },
} as const;

function projectOf({ home, values }: CliContext): string {
  return resolve(home.cwd, typeof values.project === "string" ? values.project : ".");
}

function permissionOf({ positionals }: CliContext, usage: string): string {
  const [text] = positionals;
  if (!text) throw new UserError(`usage: hermes permissions ${usage}`, { exitCode: 2 });
  return text;
}

async function list({ home, terminal, values }: CliContext): Promise<number> {
  const found = listPermissions(home).map(({ project, permissions }) => ({
    project,
    permissions: permissions.map((permission) => ({
      permission: formatPermission(permission),
      allows: describePermission(permission),
    })),
  }));
  if (values.json) terminal.out(JSON.stringify(found, null, 2));
  else if (found.length === 0) terminal.out("No project has permissions. Commands are limited to their container.");
  if (values.json) return 0;
  for (const { project, permissions } of found) {
    terminal.out(project);
    for (const { permission, allows } of permissions) terminal.out(`  ${permission.padEnd(24)} ${allows}`);
  }
  return 0;
}

async function grant(context: CliContext): Promise<number> {
  const project = projectOf(context);
  const permission = await grantPermission(context.home, project, permissionOf(context, "grant PERMISSION"));
  context.terminal.out(`New conversations in ${project} may ${describePermission(permission)}.`);
  return 0;
}

async function revoke(context: CliContext): Promise<number> {
  const project = projectOf(context);
  const text = permissionOf(context, "revoke PERMISSION");
  if (!(await revokePermission(context.home, project, text)))
    throw new UserError(`${project} does not have the permission ${text}.`, { hint: "See: hermes permissions list" });
  context.terminal.out(`${text} was revoked for ${project}. Running conversations keep it until they end.`);
  return 0;
}

export const permissionsCommand: CliCommand = {
  name: "permissions",
  summary: "What commands may use beyond their container, by project",
  defaultSubcommand: "list",
  subcommands: [
    {
      name: "list",
      summary: "List the permissions of all projects",
      options: JSON_OPTION,
      maxPositionals: 0,
      run: list,
    },
    {
      name: "grant",
      args: "PERMISSION",
      summary: "Grant a permission to a project",
      options: PROJECT,
      maxPositionals: 1,
      run: grant,
    },
    {
      name: "revoke",
      args: "PERMISSION",
      summary: "Take a permission away from a project",
      options: PROJECT,
      maxPositionals: 1,
      run: revoke,
    },
  ],
  examples: [
    "hermes permissions list",
    "hermes permissions grant docker",
    "hermes permissions grant write:~/notes --project ~/work",
    "hermes permissions revoke docker",
  ],
};
