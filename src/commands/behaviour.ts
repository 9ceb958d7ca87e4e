// Slash commands that change how the model works: reasoning, fast, personality.
import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import { supportsPriority } from "../core/model/priority.ts";
import { nearest } from "../lib/nearest.ts";
import { answerErrors, type BuiltinCommand, isTerminal, text } from "./builtin-command.ts";
import type { CommandDeps } from "./command-deps.ts";
import { type Personality, personalities } from "./personalities.ts";

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh"];

async function reasoning({ settings }: CommandDeps, args: string, context: CommandContext): Promise<CommandAnswer> {
  const wanted = args.toLowerCase();
  const { agent, display } = settings.config;
  if (wanted === "" || wanted === "status") {
    const shown = display.show_reasoning ? "shown" : "hidden";
    const current = agent.reasoning_effort || "the model's default";
    return {
      type: "choose",
      title: `Thinking: ${current}, ${shown}`,
      choices: [
        ...EFFORTS.map((effort) => ({ label: effort, value: effort, current: effort === agent.reasoning_effort })),
        { label: "show", value: "show", description: "Show the model's thinking", current: display.show_reasoning },
        { label: "hide", value: "hide", description: "Hide it", current: !display.show_reasoning },
      ],
    };
  }
  if (wanted === "show" || wanted === "hide") {
    await settings.save("display.show_reasoning", wanted === "show");
    const answer = wanted === "show" ? "The model's thinking is shown." : "The model's thinking is hidden.";
    if (!isTerminal(context)) return text(answer);
    return {
      type: "terminal",
      request: { kind: "display", changes: { show_reasoning: wanted === "show" }, text: answer },
    };
  }
  if (!EFFORTS.includes(wanted)) return text(`Use one of ${EFFORTS.join(", ")}, show or hide.`);
  await settings.save("agent.reasoning_effort", wanted);
  return text(`The model thinks with effort ${wanted} from the next call on.`);
}

async function fast({ settings }: CommandDeps, args: string, context: CommandContext): Promise<CommandAnswer> {
  const { identity } = context.opened;
  const on = ["fast", "priority", "on"].includes(settings.config.agent.service_tier);
  const wanted = args.toLowerCase() || (on ? "normal" : "fast");
  const offered = supportsPriority(identity);
  const unsupported = `${identity.model} on ${identity.provider} has no priority processing.`;
  if (wanted === "status") {
    if (!offered) return text(unsupported);
    return text(on ? "Priority processing is on: faster, at a higher price." : "Priority processing is off.");
  }
  if (wanted !== "fast" && wanted !== "normal") return text("Usage: /fast, /fast normal or /fast status");
  if (wanted === "fast" && !offered) return text(unsupported);
  await settings.save("agent.service_tier", wanted);
  return text(
    wanted === "fast" ? "Priority processing is on: faster, at a higher price." : "Priority processing is off.",
  );
}

function current(deps: CommandDeps): Personality | undefined {
  const { system_prompt: prompt } = deps.settings.config.agent;
  return prompt === "" ? undefined : personalities(deps.settings.config).find((each) => each.prompt === prompt);
}

function offerPersonalities(deps: CommandDeps): CommandAnswer {
  const active = current(deps);
  return {
    type: "choose",
    title: `Personality: ${active?.name ?? (deps.settings.config.agent.system_prompt ? "your own text" : "none")}`,
    choices: [
      { label: "none", value: "none", description: "As the model is", current: !active },
      ...personalities(deps.settings.config).map((each) => ({
        label: each.name,
        value: each.name,
        description: each.description,
        detail: each.prompt,
        current: each.name === active?.name,
      })),
    ],
  };
}

async function personality(deps: CommandDeps, args: string): Promise<CommandAnswer> {
  const wanted = args.toLowerCase();
  if (wanted === "") return offerPersonalities(deps);
  if (["none", "off", "default", "neutral"].includes(wanted)) {
    await deps.settings.save("agent.system_prompt", "");
    return text("No personality: the model speaks as it is.");
  }
  const all = personalities(deps.settings.config);
  const found = all.find((each) => each.name.toLowerCase() === wanted);
  if (!found) {
    const guess = nearest(
      wanted,
      all.map((each) => each.name),
    );
    return text(
      `There is no personality "${args}"${guess ? `; did you mean ${guess}?` : "."} There are: none, ${all.map((each) => each.name).join(", ")}`,
    );
  }
  await deps.settings.save("agent.system_prompt", found.prompt);
  return text(`Personality ${found.name}: ${found.description}. It applies from the next message on.`);
}

export function behaviourCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  return [
    {
      name: "reasoning",
      group: "Model",
      args: "[none|minimal|low|medium|high|xhigh|show|hide]",
      summary: "How long the model thinks, and whether it is shown",
      whileBusy: true,
      ownerOnly: /./,
      run: (args, context) => answerErrors(() => reasoning(deps, args, context)),
    },
    {
      name: "fast",
      group: "Model",
      args: "[fast|normal|status]",
      summary: "Priority processing, where the model has it",
      whileBusy: true,
      ownerOnly: true,
      run: (args, context) => answerErrors(() => fast(deps, args, context)),
    },
    {
      name: "personality",
      group: "Model",
      args: "[name|none]",
      summary: "The way in which the agent speaks",
      whileBusy: true,
      ownerOnly: /./,
      run: (args) => answerErrors(() => personality(deps, args)),
      complete: async () =>
        personalities(deps.settings.config).map(({ name, description }) => ({ label: name, value: name, description })),
    },
  ];
}
