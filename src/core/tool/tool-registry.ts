// All registered tools, and the tool boxes of conversations. Built-in tools and plugins register in the same way.

import { errorMessage } from "../../lib/error-message.ts";
import type { ToolSchema } from "../model/provider.ts";
import type { Availability, Tool, ToolBox, ToolPolicy } from "./tool.ts";

const AVAILABILITY_MS = 30_000;

/** The owner of the built-in tools. */
export const BUILTINS = "builtins";

export interface RegisterOptions {
  /** Replaces a tool of the same name on purpose. */
  readonly override?: boolean | undefined;
  /** The plugin, for messages. */
  readonly owner?: string | undefined;
}

export interface ToolState {
  readonly tool: Tool;
  readonly owner: string;
  readonly availability: Availability;
}

export class Registry {
  readonly #tools = new Map<string, { tool: Tool; owner: string }>();
  readonly #reserved = new Map<string, string>();
  readonly #checked = new Map<string, { at: number; availability: Availability }>();

  /** Fails when the name is taken and `override` is not set. */
  register(tool: Tool, options: RegisterOptions = {}): Availability {
    const replaced = this.#tools.get(tool.name);
    const present = replaced?.owner ?? this.#reserved.get(tool.name);
    const owner = options.owner ?? BUILTINS;
    if (present && !options.override) {
      return {
        ok: false,
        reason: `tool "${tool.name}" is registered by ${present} already; ${owner} must pass override to replace it`,
      };
    }
    this.#tools.set(tool.name, { tool: inheritPolicy(replaced?.tool, tool), owner });
    this.#checked.delete(tool.name);
    return { ok: true };
  }

  /** Reserves the names of tools that are created for each conversation: replacing them needs `override` too. */
  reserve(names: readonly string[], owner: string = BUILTINS): void {
    for (const name of names) this.#reserved.set(name, owner);
  }

  /** Clears the remembered availability, after the configuration or the environment changed. */
  forget(): void {
    this.#checked.clear();
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name)?.tool;
  }

  /** The registered tool, else the one of `own`; a registered tool replaces an own one and inherits its policy. */
  find(name: string, own: readonly Tool[]): Tool | undefined {
    const registered = this.get(name);
    const created = own.find((tool) => tool.name === name);
    return registered === undefined ? created : inheritPolicy(created, registered);
  }

  /** Names of the registered tools by toolset. */
  toolsets(): Map<string, string[]> {
    const sets = new Map<string, string[]>();
    for (const { tool } of this.#tools.values()) sets.set(tool.toolset, [...(sets.get(tool.toolset) ?? []), tool.name]);
    return sets;
  }

  /** Remembered for 30 s; a check that throws counts as unavailable. */
  async availability(name: string, now: number = Date.now()): Promise<Availability> {
    const entry = this.#tools.get(name);
    if (!entry) return { ok: false, reason: "not registered" };
    if (!entry.tool.available) return { ok: true };
    const known = this.#checked.get(name);
    if (known && now - known.at < AVAILABILITY_MS) return known.availability;
    let availability: Availability;
    try {
      availability = await entry.tool.available();
    } catch (error) {
      availability = { ok: false, reason: errorMessage(error) };
    }
    this.#checked.set(name, { at: now, availability });
    return availability;
  }

  async states(): Promise<ToolState[]> {
    const states: ToolState[] = [];
    for (const [name, { tool, owner }] of this.#tools)
      states.push({ tool, owner, availability: await this.availability(name) });
    return states.sort((a, b) => a.tool.name.localeCompare(b.tool.name));
  }

  /**
   * The tools of one conversation: those that are named, registered and available, sorted by name so that the prompt
   * prefix is stable. `own` are tools that were created for this conversation.
   */
  async box(names: readonly string[], own: readonly Tool[] = []): Promise<ToolBox> {
    const usable = new Map<string, Tool>();
    const reasons = new Map<string, string>();
    for (const name of [...new Set(names)].sort()) {
      const tool = this.find(name, own);
      if (!tool) continue;
      const availability = this.get(name)
        ? await this.availability(name)
        : ((await tool.available?.()) ?? { ok: true });
      if (availability.ok) usable.set(name, tool);
      else reasons.set(name, availability.reason);
    }
    for (const name of this.#tools.keys())
      if (!usable.has(name) && !reasons.has(name)) reasons.set(name, "its toolset is not enabled here");
    return {
      schemas: [...usable.values()].map(buildSchema),
      find: (name) => usable.get(name),
      unavailable: (name) => reasons.get(name),
    };
  }
}

/** `tool` with the policy of the tool that it replaces, where it sets none itself. */
function inheritPolicy(replaced: Tool | undefined, tool: Tool): Tool {
  if (replaced === undefined) return tool;
  const policy: ToolPolicy = {
    minWindow: tool.minWindow ?? replaced.minWindow,
    notForSubagents: tool.notForSubagents ?? replaced.notForSubagents,
    housekeeping: tool.housekeeping ?? replaced.housekeeping,
    storesArguments: tool.storesArguments ?? replaced.storesArguments,
    namesFolders: tool.namesFolders ?? replaced.namesFolders,
    searchable: tool.searchable ?? replaced.searchable,
  };
  return { ...tool, ...policy };
}

/** By schema object: schemas are constants, and conversations share their plain form. */
const plainParameters = new WeakMap<object, ToolSchema["parameters"]>();

/** The tool as the model sees it: plain JSON Schema, without the symbols of the schema library. */
function buildSchema(tool: Tool): ToolSchema {
  let parameters = plainParameters.get(tool.parameters);
  if (!parameters) {
    parameters = JSON.parse(JSON.stringify(tool.parameters)) as ToolSchema["parameters"];
    plainParameters.set(tool.parameters, parameters);
  }
  return { name: tool.name, description: tool.description, parameters };
}
