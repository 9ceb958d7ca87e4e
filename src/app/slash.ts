// The slash commands of a program: the built-in ones with their services, and the order of /help.
import { builtinCommands, type CommandDeps } from "../commands/table.ts";
import type { CommandSurface, SlashCommand } from "../core/chat/command.ts";
import type { ConversationDeps } from "./builtins.ts";

function commandDeps(deps: ConversationDeps): CommandDeps {
  const { services } = deps;
  const { home, cron, skills } = services;
  return {
    review: async () => (await import("./open-review.ts")).openReview(deps),
    jobs: async () => {
      const repository = await cron.repository();
      const { actions } = repository;
      return {
        list: () => actions.list(),
        create: (options) => actions.create(options),
        find: (reference, isVisible) => actions.find(reference, isVisible),
        pause: (id) => actions.pause(id),
        resume: (id) => actions.resume(id),
        trigger: (id) => actions.trigger(id),
        remove: (id) => actions.remove(id),
        tickerProblem: () => repository.tickerProblem(),
      };
    },
    skills: {
      skills: () => skills.open(),
      hub: async () => (await import("./open-skills.ts")).openHubActions(home),
      setEnabled: async (name, on) => {
        const { openSettings } = await import("../config/api.ts");
        const settings = openSettings(home);
        const before = (await settings.load()).config.skills.disabled as readonly string[];
        const after = on ? before.filter((other) => other !== name) : [...new Set([...before, name])];
        await settings.set("skills.disabled", JSON.stringify(after));
      },
    },
  };
}

const unused = () => Promise.reject(new Error("commands of a list cannot be run"));
const UNUSED: CommandDeps = {
  review: unused,
  jobs: unused,
  skills: { skills: unused, hub: unused, setEnabled: unused },
};

function onSurface(commands: readonly SlashCommand[], surface: CommandSurface): readonly SlashCommand[] {
  const found = commands.filter((command) => (command.surface ?? surface) === surface);
  const taken = new Set<string>();
  for (const name of found.flatMap((command) => [command.name, ...(command.aliases ?? [])])) {
    if (taken.has(name)) throw new Error(`/${name} is registered twice`);
    taken.add(name);
  }
  return found.sort((a, b) => a.name.localeCompare(b.name));
}

/** The built-in commands of one surface, ready to run. */
export function slashCommands(deps: ConversationDeps, surface: CommandSurface): readonly SlashCommand[] {
  return onSurface(builtinCommands(commandDeps(deps)), surface);
}

/** The same for menus and lists; these cannot be run. */
export function listSlashCommands(surface: CommandSurface): readonly SlashCommand[] {
  return onSurface(builtinCommands(UNUSED), surface);
}
