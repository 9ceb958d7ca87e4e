// The three tools with which the model lists, reads and changes skills.
import type { Static } from "typebox";
import { Type } from "../core/tool/schema.ts";
import { defineTool, jsonResult, type Tool, type ToolContext, type ToolResult } from "../core/tool/tool.ts";
import type { ManageArgs } from "./manage/plan.ts";
import type { Answer } from "./view.ts";

/** The functions that the tools call. */
export interface SkillPort {
  listFor(args: { readonly category?: string | undefined; readonly query?: string }): Promise<Answer>;
  view(args: { readonly name: string; readonly filePath?: string | undefined }, context: ToolContext): Promise<Answer>;
  manage(args: ManageArgs, context: ToolContext): Promise<Answer>;
}

const listParameters = Type.Object({
  category: Type.Optional(Type.String({ description: "Only this category" })),
  query: Type.Optional(Type.String({ description: "Words that describe the task; best matches first" })),
});

const viewParameters = Type.Object({
  name: Type.String({ description: "The skill's name; plugin:skill for a plugin's" }),
  file_path: Type.Optional(Type.String({ description: "A file inside the skill, for example references/api.md" })),
});

const ACTIONS = ["create", "patch", "edit", "delete", "write_file", "remove_file"] as const;

const manageParameters = Type.Object({
  action: Type.Union(ACTIONS.map((action) => Type.Literal(action))),
  name: Type.String({ description: "Lower-case name, for example git-release" }),
  content: Type.Optional(
    Type.String({ description: "create, edit: the whole SKILL.md with name and description in its front matter" }),
  ),
  category: Type.Optional(Type.String({ description: "create: one folder, for example devops" })),
  old_string: Type.Optional(Type.String({ description: "patch: the passage to replace" })),
  new_string: Type.Optional(Type.String({ description: "patch: the replacement" })),
  replace_all: Type.Optional(Type.Boolean()),
  file_path: Type.Optional(Type.String({ description: "A file below references/, templates/, scripts/ or assets/" })),
  file_content: Type.Optional(Type.String({ description: "write_file: the file's text" })),
  absorbed_into: Type.Optional(Type.String({ description: "delete: the skill that now covers it" })),
});

function toToolResult(answer: Answer): ToolResult {
  return jsonResult(answer.fields, { failed: !answer.ok });
}

function withoutUndefined<T extends object>(args: T): T {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)) as T;
}

export function skillTools(port: SkillPort): Tool[] {
  return [
    defineTool({
      name: "skills_list",
      toolset: "skills",
      description: "List skills with their descriptions. With a query, the best matches first.",
      parameters: listParameters,
      overlap: "parallel",
      run: async (args) => toToolResult(await port.listFor(withoutUndefined(args))),
    }),
    defineTool({
      name: "skill_view",
      toolset: "skills",
      description: "Load a skill's instructions, or one of its files. Do it before a task that the skill covers.",
      parameters: viewParameters,
      overlap: "parallel",
      preview: (args) => (args.file_path ? `${args.name} ${args.file_path}` : args.name),
      run: async (args, context) =>
        toToolResult(await port.view({ name: args.name, filePath: args.file_path }, context)),
    }),
    defineTool({
      name: "skill_manage",
      searchable: "always",
      toolset: "skills",
      storesArguments: true,
      housekeeping: true,
      notForSubagents: "a subagent must not change skills",
      description:
        "Store a procedure as a skill: create it after a difficult task that will recur, patch it when it was wrong. A skill says when to use it, the steps, the pitfalls and how to check the result.",
      parameters: manageParameters,
      overlap: "alone",
      mutates: true,
      preview: (args) => `${args.action} ${args.name}`,
      run: async (args, context) =>
        toToolResult(
          await port.manage(withoutUndefined(args as Static<typeof manageParameters>) as ManageArgs, context),
        ),
    }),
  ];
}
