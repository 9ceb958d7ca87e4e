// The sections of the setup after the model: tools, chats, the terminal, the agent.
import { openSettings } from "../../config/api.ts";
import { which } from "../../lib/which.ts";
import type { CliContext } from "../command.ts";
import { askText, choose } from "./questions.ts";

export interface Section {
  readonly name: string;
  readonly title: string;
  run(context: CliContext): Promise<number>;
}

async function terminalSection(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  const settings = openSettings(home);
  const docker = ["docker", "podman"].find((name) => which(name, home.env.PATH));
  const backend = await choose(terminal, "Where should commands of the agent run?", [
    { label: "On this machine (dangerous commands ask first)", keywords: "local", value: "local" },
    {
      label: `In a container${docker ? ` of ${docker}` : " (docker and podman are not installed)"}`,
      keywords: "docker",
      value: "docker",
    },
    { label: "On another machine, by ssh", keywords: "ssh", value: "ssh" },
  ]);
  if (backend === null) return 0;
  if (backend === "ssh") {
    const host = await askText(terminal, "Host (user@host)");
    if (host === "") return 0;
    const [user, name] = host.includes("@") ? host.split("@") : [undefined, host];
    await settings.set("terminal.ssh_host", name ?? host);
    if (user) await settings.set("terminal.ssh_user", user);
  }
  await settings.set("terminal.backend", backend);
  terminal.err(`terminal.backend = ${backend}`);
  return 0;
}

async function agentSection(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  const settings = openSettings(home);
  const mode = await choose(terminal, "Dangerous commands (deleting, installing, pushing):", [
    { label: "ask me each time", keywords: "manual", value: "manual" },
    { label: "let a model decide the clear cases, ask me for the others", keywords: "smart", value: "smart" },
  ]);
  if (mode !== null) await settings.set("approvals.mode", mode);
  const turns = await askText(
    terminal,
    "Model calls for one answer at most",
    String(await settings.get("agent.max_turns")),
  );
  await settings.set("agent.max_turns", turns);
  return 0;
}

export const SECTIONS: readonly Section[] = [
  { name: "terminal", title: "Where commands run", run: terminalSection },
  { name: "tools", title: "Tools", run: ({ again }) => again(["tools", "choose"]) },
  { name: "agent", title: "Agent", run: agentSection },
  { name: "gateway", title: "Chats (Telegram, Discord, e-mail …)", run: ({ again }) => again(["gateway", "setup"]) },
];
