// A skin: colours, spinner, names and symbols of the screen, in the format of Hermes Agent v0.14.
import { isRecord } from "../../../lib/json/is-record.ts";
import { cleanLine } from "../text/clean.ts";
import { parseHex } from "./color.ts";

export const SKIN_COLORS = [
  "banner_border",
  "banner_title",
  "banner_accent",
  "banner_dim",
  "banner_text",
  "ui_accent",
  "ui_label",
  "ui_ok",
  "ui_error",
  "ui_warn",
  "prompt",
  "input_rule",
  "response_border",
  "session_label",
  "session_border",
  "status_bar_bg",
  "status_bar_text",
  "status_bar_strong",
  "status_bar_dim",
  "status_bar_good",
  "status_bar_warn",
  "status_bar_bad",
  "status_bar_critical",
  "voice_status_bg",
  "selection_bg",
  "completion_menu_bg",
  "completion_menu_current_bg",
  "completion_menu_meta_bg",
  "completion_menu_meta_current_bg",
] as const;

export type SkinColor = (typeof SKIN_COLORS)[number];

export interface Skin {
  readonly name: string;
  readonly description: string;
  readonly colors: { readonly [color in SkinColor]: string };
  readonly spinner: {
    readonly waiting_faces: readonly string[];
    readonly thinking_faces: readonly string[];
    readonly thinking_verbs: readonly string[];
    readonly wings: readonly (readonly [left: string, right: string])[];
  };
  readonly branding: {
    readonly agent_name: string;
    readonly welcome: string;
    readonly goodbye: string;
    readonly response_label: string;
    readonly prompt_symbol: string;
    readonly help_header: string;
  };
  readonly tool_prefix: string;
  readonly tool_emojis: { readonly [tool: string]: string };
  readonly banner_logo: string;
  readonly banner_hero: string;
}

/** A skin that may leave everything out. */
export type PartialSkin = {
  readonly [Key in keyof Skin]?: (Skin[Key] extends string ? string : Partial<Skin[Key]>) | undefined;
};

/** The skin with everything it leaves out taken from `base`. */
export function completeSkin(partial: PartialSkin, base: Skin): Skin {
  return {
    name: partial.name ?? base.name,
    description: partial.description ?? "",
    colors: { ...base.colors, ...partial.colors },
    spinner: { ...base.spinner, ...partial.spinner },
    branding: { ...base.branding, ...partial.branding },
    tool_prefix: partial.tool_prefix ?? base.tool_prefix,
    tool_emojis: { ...base.tool_emojis, ...(partial.tool_emojis as Skin["tool_emojis"] | undefined) },
    banner_logo: partial.banner_logo ?? base.banner_logo,
    banner_hero: partial.banner_hero ?? base.banner_hero,
  };
}

/** Markup of the Rich library in logos of older skins (`[bold #FFD700]…[/]`) is left out. */
function withoutMarkup(text: string): string {
  return text.replaceAll(/\[\/?[\w #,.]*\]/g, "");
}

class SkinReader {
  readonly problems: string[] = [];

  text(value: unknown, path: string): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value === "string") return cleanLine(value);
    this.problems.push(`${path} must be text`);
    return undefined;
  }

  texts(value: unknown, path: string): readonly string[] | undefined {
    if (value === undefined || value === null) return undefined;
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.map(cleanLine);
    this.problems.push(`${path} must be a list of texts`);
    return undefined;
  }

  map(value: unknown, path: string): { readonly [key: string]: unknown } {
    if (value === undefined || value === null) return {};
    if (isRecord(value)) return value;
    this.problems.push(`${path} must be a map`);
    return {};
  }

  colors(value: unknown): Partial<Skin["colors"]> {
    const colors: { [name: string]: string } = {};
    for (const [name, color] of Object.entries(this.map(value, "colors"))) {
      if (!(SKIN_COLORS as readonly string[]).includes(name))
        this.problems.push(`colors.${name} is not a known colour`);
      else if (typeof color !== "string" || !parseHex(color))
        this.problems.push(`colors.${name} must be a colour like "#ffbf00"`);
      else colors[name] = color;
    }
    return colors;
  }

  wings(value: unknown): Skin["spinner"]["wings"] | undefined {
    if (value === undefined || value === null) return undefined;
    const isPair = (item: unknown): item is [string, string] =>
      Array.isArray(item) && item.length === 2 && item.every((side) => typeof side === "string");
    if (Array.isArray(value) && value.every(isPair))
      return value.map(([left, right]): [string, string] => [cleanLine(left), cleanLine(right)]);
    this.problems.push("spinner.wings must be a list of pairs");
    return undefined;
  }

  named(value: unknown, path: string): { readonly [key: string]: string } {
    const entries = Object.entries(this.map(value, path)).map(([key, text]): [string, string | undefined] => [
      key,
      this.text(text, `${path}.${key}`),
    ]);
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
  }
}

/** Drops absent values, so that they do not replace those of the base skin. */
function present<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Reads the parsed YAML of a skin file. What is wrong is named and left out; the rest of the skin is used. */
export function readSkin(data: unknown, name: string): { skin: PartialSkin; problems: readonly string[] } {
  const reader = new SkinReader();
  const map = reader.map(data, "the file");
  const spinner = reader.map(map.spinner, "spinner");
  const art = (value: unknown, path: string) =>
    typeof value === "string" ? withoutMarkup(value) : reader.text(value, path);
  const skin: PartialSkin = {
    name,
    description: reader.text(map.description, "description") ?? "",
    colors: reader.colors(map.colors),
    spinner: present({
      waiting_faces: reader.texts(spinner.waiting_faces, "spinner.waiting_faces"),
      thinking_faces: reader.texts(spinner.thinking_faces, "spinner.thinking_faces"),
      thinking_verbs: reader.texts(spinner.thinking_verbs, "spinner.thinking_verbs"),
      wings: reader.wings(spinner.wings),
    }) as Partial<Skin["spinner"]>,
    branding: reader.named(map.branding, "branding"),
    tool_prefix: reader.text(map.tool_prefix, "tool_prefix"),
    banner_logo: art(map.banner_logo, "banner_logo"),
    banner_hero: art(map.banner_hero, "banner_hero"),
    tool_emojis: reader.named(map.tool_emojis, "tool_emojis"),
  };
  return { skin, problems: reader.problems };
}
