// Every tool that was registered, and the boxes handed to conversations. Built-ins and plugins enter by the same door.
import type { ToolSchema } from "./provider.ts";
import type { Availability, Tool, ToolBox } from "./tool.ts";

const AVAILABILITY_MS = 30_000;

/** The name under which the program's own parts are registered. */
export const BUILTINS = "builtins";

export interface RegisterOptions {
  /** Replaces a tool of the same name on purpose. */
  readonly override?: boolean | undefined;
  /** Who brings it, for messages. */
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

  /** False, with a reason, when the name is taken and the newcomer does not say `override`. */
  register(tool: Tool, options: RegisterOptions = {}): Availability {
    const present = this.#tools.get(tool.name)?.owner ?? this.#reserved.get(tool.name);
    const owner = options.owner ?? BUILTINS;
    if (present && !options.override) {
      return {
        ok: false,
        reason: `tool "${tool.name}" is registered by ${present} already; ${owner} must pass override to replace it`,
      };
    }
    this.#tools.set(tool.name, { tool, owner });
    this.#checked.delete(tool.name);
    return { ok: true };
  }

  /** Takes names for tools that are made anew for every conversation: the same rules apply to them. */
  reserve(names: readonly string[], owner: string = BUILTINS): void {
    for (const name of names) this.#reserved.set(name, owner);
  }

  unregister(name: string): void {
    this.#tools.delete(name);
    this.#checked.delete(name);
  }

  /** Forgets what was found available, after the configuration or the environment changed. */
  forget(): void {
    this.#checked.clear();
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name)?.tool;
  }

  /** Tool names by toolset, for the toolsets that plugins extend or bring. */
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
      availability = { ok: false, reason: error instanceof Error ? error.message : String(error) };
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
   * The tools of one conversation: those named, registered and available, sorted by name so that the prefix is stable.
   * `own` are tools made for this conversation alone; a registered tool of the same name goes before them.
   */
  async box(names: readonly string[], own: readonly Tool[] = []): Promise<ToolBox> {
    const usable = new Map<string, Tool>();
    const reasons = new Map<string, string>();
    const byName = new Map(own.map((tool) => [tool.name, tool]));
    for (const name of [...new Set(names)].sort()) {
      const tool = this.get(name) ?? byName.get(name);
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
      schemas: [...usable.values()].map(schemaOf),
      find: (name) => usable.get(name),
      unavailable: (name) => reasons.get(name),
    };
  }
}

/** Made once for all conversations: schemas are constants of the tools' files. */
const plainParameters = new WeakMap<object, ToolSchema["parameters"]>();

/** The tool as the model sees it: plain JSON Schema, without the symbols that the schema library keeps. */
function schemaOf(tool: Tool): ToolSchema {
  let parameters = plainParameters.get(tool.parameters);
  if (!parameters) {
    parameters = JSON.parse(JSON.stringify(tool.parameters)) as ToolSchema["parameters"];
    plainParameters.set(tool.parameters, parameters);
  }
  return { name: tool.name, description: tool.description, parameters };
}
