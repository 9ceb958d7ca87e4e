// The styles of the screen: roles mapped to SGR parameters for a skin and a terminal.
import { type Background, backdrop, type ColorDepth, foreground, isReadable } from "./color.ts";
import type { Skin, SkinColor } from "./skin.ts";

export type Role =
  | "dim"
  | "accent"
  | "label"
  | "title"
  | "border"
  | "prompt"
  | "ok"
  | "warn"
  | "error"
  | "strong"
  | "emphasis"
  | "strike"
  | "heading"
  | "link"
  | "code"
  | "quote"
  | "added"
  | "removed"
  | "keyword"
  | "string"
  | "number"
  | "comment"
  | "function"
  | "type"
  | "selected"
  | "statusText"
  | "statusStrong"
  | "statusDim"
  | "statusGood"
  | "statusWarn"
  | "statusBad"
  | "statusCritical";

export interface Theme {
  readonly skin: Skin;
  readonly depth: ColorDepth;
  readonly background: Background;
  /** True when hyperlinks may be written (OSC 8). */
  readonly hyperlinks: boolean;
  /** SGR parameters of a role; empty when the terminal shows no styles. */
  sgr(role: Role): string;
}

export interface ThemeOptions {
  readonly skin: Skin;
  readonly depth: ColorDepth;
  readonly background: Background;
  readonly hyperlinks?: boolean | undefined;
}

/** Colours of code and diffs by background: skins do not name them. */
const CODE_COLORS: { readonly [role: string]: { readonly [background in Background]: string } } = {
  added: { dark: "#7bc77e", light: "#1a7f37" },
  removed: { dark: "#f07178", light: "#b3262a" },
  keyword: { dark: "#c792ea", light: "#8250df" },
  string: { dark: "#a5d28a", light: "#116329" },
  number: { dark: "#f5a97f", light: "#953800" },
  function: { dark: "#82aaff", light: "#0a53be" },
  type: { dark: "#e6c372", light: "#7d4e00" },
};

const SKIN_ROLES: { readonly [role: string]: SkinColor } = {
  accent: "ui_accent",
  label: "ui_label",
  border: "banner_border",
  ok: "ui_ok",
  warn: "ui_warn",
  error: "ui_error",
  link: "ui_label",
  code: "ui_accent",
  statusText: "status_bar_text",
  statusStrong: "status_bar_strong",
  statusDim: "status_bar_dim",
  statusGood: "status_bar_good",
  statusWarn: "status_bar_warn",
  statusBad: "status_bar_bad",
  statusCritical: "status_bar_critical",
};

const ATTRIBUTES: { readonly [role in Role]?: string } = {
  title: "1",
  heading: "1",
  strong: "1",
  emphasis: "3",
  strike: "9",
  prompt: "1",
  statusStrong: "1",
  statusCritical: "1",
  link: "4",
};

function roleColor(role: Role, { skin, depth, background }: ThemeOptions): string {
  const code = CODE_COLORS[role];
  if (code) return foreground(code[background], depth, background);
  if (role === "title" || role === "heading") return foreground(skin.colors.banner_title, depth, background);
  if (role === "prompt") return foreground(skin.colors.ui_accent, depth, background);
  // Sixteen-colour terminals have no good grey of their own on every background; "faint" follows the text colour.
  if (role === "dim" || role === "comment" || role === "quote")
    return depth === "16" ? "2" : foreground(skin.colors.banner_dim, depth, background);
  const named = SKIN_ROLES[role];
  return named === undefined ? "" : foreground(skin.colors[named], depth, background);
}

/** The selected row of a list: the skin's colour behind it, or reversed where that would not be readable. */
function selectedStyle({ skin, depth }: ThemeOptions): string {
  const { selection_bg: behind, prompt } = skin.colors;
  const style = isReadable(prompt, behind) ? backdrop(behind, depth) : "";
  return style === "" ? "7" : `${style};${foreground(prompt, depth, "dark")}`;
}

export function createTheme(options: ThemeOptions): Theme {
  const known = new Map<Role, string>();
  const build = (role: Role): string => {
    if (options.depth === "none") return "";
    if (role === "selected") return selectedStyle(options);
    return [ATTRIBUTES[role] ?? "", roleColor(role, options)].filter((part) => part !== "").join(";");
  };
  return {
    skin: options.skin,
    depth: options.depth,
    background: options.background,
    hyperlinks: options.hyperlinks ?? false,
    sgr: (role) => {
      const found = known.get(role);
      if (found !== undefined) return found;
      const built = build(role);
      known.set(role, built);
      return built;
    },
  };
}
