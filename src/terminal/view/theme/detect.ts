// What the terminal can show, from the environment: colours, background, hyperlinks.
import type { Background, ColorDepth } from "./color.ts";
import { parseHex } from "./color.ts";

interface Environment {
  readonly [name: string]: string | undefined;
}

const TRUECOLOR_TERMINALS = /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|WarpTerminal|rio|Tabby)$/;
const TRUECOLOR_TERMS = /kitty|alacritty|foot|ghostty|wezterm|contour|direct/;
const HYPERLINK_TERMINALS = /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|rio)$/;
const HYPERLINK_TERMS = /kitty|alacritty|foot|ghostty|wezterm|contour/;

/** `NO_COLOR` and `TERM=dumb` turn every style off. */
export function detectColorDepth(env: Environment): ColorDepth {
  const term = env.TERM ?? "";
  if ((env.NO_COLOR ?? "") !== "" || term === "dumb") return "none";
  const forced = env.FORCE_COLOR;
  if (forced === "0" || forced === "false") return "none";
  if (forced === "3") return "truecolor";
  if (forced === "2") return "256";
  if (/^(?:truecolor|24bit)$/.test(env.COLORTERM ?? "")) return "truecolor";
  if (TRUECOLOR_TERMINALS.test(env.TERM_PROGRAM ?? "") || TRUECOLOR_TERMS.test(term)) return "truecolor";
  if (env.WT_SESSION !== undefined) return "truecolor";
  return term.includes("256") || env.TERM_PROGRAM === "Apple_Terminal" ? "256" : "16";
}

function ofHex(hex: string | undefined): Background | undefined {
  const rgb = hex === undefined ? undefined : parseHex(hex.startsWith("#") ? hex : `#${hex}`);
  return rgb && (rgb[0] * 299 + rgb[1] * 587 + rgb[2] * 114 > 128_000 ? "light" : "dark");
}

function ofFlag(value: string | undefined): Background | undefined {
  if (value === undefined || value === "") return undefined;
  return /^(?:1|true|yes|on)$/i.test(value) ? "light" : "dark";
}

/** From variables of the user, then from `COLORFGBG`, then from the terminal's report; dark when nothing is known. */
export function detectBackground(env: Environment, report?: Background): Background {
  const theme = env.HERMES_TUI_THEME?.toLowerCase();
  const named = theme === "light" || theme === "dark" ? theme : undefined;
  const number = Number(env.COLORFGBG?.split(";").at(-1) ?? Number.NaN);
  const ofTerminal = Number.isNaN(number) ? undefined : number === 7 || number === 15 ? "light" : "dark";
  return (
    ofFlag(env.HERMES_LIGHT ?? env.HERMES_TUI_LIGHT) ??
    named ??
    ofHex(env.HERMES_TUI_BACKGROUND) ??
    ofTerminal ??
    report ??
    "dark"
  );
}

/** True for terminals that are known to support OSC 8. A multiplexer may not pass it on. */
export function detectHyperlinks(env: Environment): boolean {
  if (env.TMUX !== undefined || env.STY !== undefined || env.TERM === "dumb") return false;
  if (env.WT_SESSION !== undefined || Number(env.VTE_VERSION ?? 0) >= 5000) return true;
  return HYPERLINK_TERMINALS.test(env.TERM_PROGRAM ?? "") || HYPERLINK_TERMS.test(env.TERM ?? "");
}
