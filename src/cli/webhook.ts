// `hermes webhook`: adds, lists, removes and tests routes for other programs.

import { withDeliverer } from "../app/with-app.ts";
import { openSettings } from "../config/api.ts";
import { UserError } from "../core/failure.ts";
import { renderTable } from "../lib/terminal/columns.ts";
import {
  deliversToPlatform,
  deliveryProblem,
  listWebhooks,
  removeWebhook,
  subscribeWebhook,
  testWebhook,
  webhookRoot,
} from "../platforms/webhook/api.ts";
import { type CliCommand, type CliContext, JSON_OPTION, textOption } from "./command.ts";

function requireName(context: CliContext): string {
  const [name] = context.positionals;
  if (name) return name;
  throw new UserError("which route?", { hint: "Give its name. See: hermes webhook list", exitCode: 2 });
}

function list(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

async function subscribe(context: CliContext): Promise<number> {
  const { terminal, home } = context;
  const secret = textOption(context, "secret");
  const chat = textOption(context, "deliver-chat-id");
  const options = {
    name: requireName(context),
    description: textOption(context, "description") ?? "",
    events: list(textOption(context, "events")),
    prompt: textOption(context, "prompt") ?? "",
    skills: list(textOption(context, "skills")),
    deliver: textOption(context, "deliver") ?? "log",
    ...(chat ? { deliver_extra: { chat_id: chat } } : {}),
    ...(context.values["deliver-only"] ? { deliver_only: true } : {}),
    ...(secret ? { secret } : {}),
  };
  const problem = deliversToPlatform(options)
    ? await withDeliverer(home, (deliverer) => deliveryProblem(deliverer, options))
    : undefined;
  const made = await subscribeWebhook(home, openSettings(home), options);
  terminal.out(`URL     ${made.url}`);
  if (made.made) terminal.out(`Secret  ${made.secret}`);
  terminal.err(`Stored in ${made.path}. Sign each delivery: X-Webhook-Signature = HMAC-SHA256(secret, body) in hex.`);
  if (problem) terminal.err(`Answers will not arrive yet: ${problem}`);
  return 0;
}

async function show(context: CliContext): Promise<number> {
  const { terminal, home } = context;
  const root = await webhookRoot(home, openSettings(home));
  const routes = Object.entries(await listWebhooks(home)).map(([name, entry]) => {
    const { secret: _secret, ...rest } = entry;
    return { name, url: `${root}${name}`, ...rest };
  });
  if (context.values.json) terminal.out(JSON.stringify(routes, null, 2));
  else if (routes.length === 0) terminal.out("No routes. Add one: hermes webhook subscribe NAME --prompt TEXT");
  else
    terminal.out(
      renderTable(
        terminal,
        [
          { title: "Name", value: (row) => row.name },
          { title: "Events", value: (row) => row.events?.join(", ") || "all" },
          { title: "Deliver", value: (row) => `${row.deliver ?? "log"}${row.deliver_only ? " (no agent)" : ""}` },
          { title: "URL", flexible: true, minWidth: 20, value: (row) => row.url },
        ],
        routes,
      ).trimEnd(),
    );
  return 0;
}

async function remove(context: CliContext): Promise<number> {
  await removeWebhook(context.home, requireName(context));
  context.terminal.out(`Removed ${requireName(context)}.`);
  return 0;
}

async function test(context: CliContext): Promise<number> {
  const payload = textOption(context, "payload") ?? '{"event_type":"test","message":"Hello from hermes webhook test"}';
  const { home } = context;
  const { status, answer } = await testWebhook(home, openSettings(home), requireName(context), payload);
  context.terminal.out(`${status} ${answer}`);
  return status < 300 ? 0 : 1;
}

export const webhookCommand: CliCommand = {
  name: "webhook",
  summary: "Routes through which other programs call the agent",
  subcommands: [
    {
      name: "subscribe",
      aliases: ["add"],
      summary: "Add a route, or replace it",
      args: "NAME",
      maxPositionals: 1,
      options: {
        prompt: { type: "string", value: "TEXT", help: "What to ask; {a.b} is a value of the payload" },
        events: { type: "string", value: "LIST", help: "Only these events, comma separated" },
        description: { type: "string", value: "TEXT", help: "What the route is for" },
        skills: { type: "string", value: "LIST", help: "Skills to load, comma separated" },
        deliver: { type: "string", value: "WHERE", help: "log, github_comment, or a target such as telegram:ID (log)" },
        "deliver-chat-id": { type: "string", value: "ID", help: "Chat on that platform; its home channel when absent" },
        "deliver-only": { type: "boolean", help: "Send the text as it is; no agent runs" },
        secret: { type: "string", value: "TEXT", help: "Secret of the sender; generated when absent" },
      },
      examples: [
        "hermes webhook subscribe deploys --events push --prompt 'Summarise this push: {head_commit.message}' --deliver telegram",
      ],
      run: subscribe,
    },
    { name: "list", aliases: ["ls"], summary: "Show the routes", maxPositionals: 0, options: JSON_OPTION, run: show },
    { name: "remove", aliases: ["rm"], summary: "Remove a route", args: "NAME", maxPositionals: 1, run: remove },
    {
      name: "test",
      summary: "Send a signed delivery to the running gateway",
      args: "NAME",
      maxPositionals: 1,
      options: { payload: { type: "string", value: "JSON", help: "The body to send" } },
      run: test,
    },
  ],
};
