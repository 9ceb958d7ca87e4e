// The skins that come with the program, as data.
import type { PartialSkin, Skin, SkinColor } from "./skin.ts";

/** A skin needs few different colours; each is used in several places. */
interface Palette {
  readonly border: string;
  readonly title: string;
  readonly accent: string;
  readonly dim: string;
  readonly text: string;
  readonly label: string;
  readonly ok: string;
  readonly warn: string;
  readonly bad: string;
  readonly error: string;
  readonly panel: string;
  readonly selected: string;
}

function spread(palette: Palette): { readonly [color in SkinColor]: string } {
  const { border, title, accent, dim, text, label, ok, warn, bad, error, panel, selected } = palette;
  return {
    banner_border: border,
    banner_title: title,
    banner_accent: accent,
    banner_dim: dim,
    banner_text: text,
    ui_accent: accent,
    ui_label: label,
    ui_ok: ok,
    ui_error: error,
    ui_warn: warn,
    prompt: text,
    input_rule: border,
    response_border: title,
    session_label: label,
    session_border: dim,
    status_bar_bg: panel,
    status_bar_text: text,
    status_bar_strong: title,
    status_bar_dim: dim,
    status_bar_good: ok,
    status_bar_warn: warn,
    status_bar_bad: bad,
    status_bar_critical: error,
    voice_status_bg: panel,
    selection_bg: selected,
    completion_menu_bg: panel,
    completion_menu_current_bg: selected,
    completion_menu_meta_bg: panel,
    completion_menu_meta_current_bg: selected,
  };
}

const GOLD: Palette = {
  border: "#b8792e",
  title: "#f5c542",
  accent: "#f0ad2e",
  dim: "#8f8672",
  text: "#e8e0cc",
  label: "#d9a441",
  ok: "#6fbf73",
  warn: "#f2b544",
  bad: "#f08a3c",
  error: "#ef6461",
  panel: "#1d1b26",
  selected: "#37345a",
};

export const DEFAULT_SKIN: Skin = {
  name: "default",
  description: "Gold on dark",
  colors: spread(GOLD),
  spinner: {
    waiting_faces: ["(◕‿◕)", "(•‿•)", "(^‿^)", "(◔‿◔)"],
    thinking_faces: ["(•_•)", "(¬_¬)", "(°_°)", "(-_-)"],
    thinking_verbs: [],
    wings: [],
  },
  branding: {
    agent_name: "Hermes",
    welcome: "",
    goodbye: "",
    response_label: "⚕ Hermes",
    prompt_symbol: "❯",
    help_header: "",
  },
  tool_prefix: "┊",
  tool_emojis: {},
  banner_logo: "",
  banner_hero: "",
};

const ARES: PartialSkin = {
  name: "ares",
  description: "Crimson and bronze",
  colors: spread({
    ...GOLD,
    border: "#9c2f2f",
    title: "#e0a458",
    accent: "#d9534f",
    dim: "#86706a",
    text: "#ecd9cc",
    label: "#c98546",
    panel: "#241416",
    selected: "#4a2326",
  }),
  spinner: {
    waiting_faces: ["(⚔)", "(⛨)", "(▲)"],
    thinking_faces: ["(⚔)", "(⌁)", "(⛨)"],
    thinking_verbs: ["marching", "drawing the map", "sharpening", "holding the line"],
    wings: [
      ["⟪⚔", "⚔⟫"],
      ["⟪▲", "▲⟫"],
    ],
  },
  branding: { agent_name: "Ares", response_label: "⚔ Ares", prompt_symbol: "⚔" },
  tool_prefix: "╎",
};

const MONO: PartialSkin = {
  name: "mono",
  description: "Shades of grey",
  colors: spread({
    border: "#6a6a6a",
    title: "#f2f2f2",
    accent: "#d6d6d6",
    dim: "#8a8a8a",
    text: "#cfcfcf",
    label: "#b4b4b4",
    ok: "#dcdcdc",
    warn: "#bdbdbd",
    bad: "#e6e6e6",
    error: "#ffffff",
    panel: "#1c1c1c",
    selected: "#3d3d3d",
  }),
  spinner: { waiting_faces: [], thinking_faces: [], thinking_verbs: [], wings: [] },
  branding: { response_label: "Hermes" },
};

const SLATE: PartialSkin = {
  name: "slate",
  description: "Cool blue",
  colors: spread({
    border: "#47698f",
    title: "#8ab8f0",
    accent: "#69a3e6",
    dim: "#7b8896",
    text: "#d3dde8",
    label: "#86a8c9",
    ok: "#79c49a",
    warn: "#e3c06b",
    bad: "#e39a5c",
    error: "#ee7b7b",
    panel: "#161f2b",
    selected: "#2a3f5a",
  }),
  spinner: { waiting_faces: [], thinking_faces: [], thinking_verbs: [], wings: [] },
  branding: { response_label: "Hermes" },
};

const DAYLIGHT: PartialSkin = {
  name: "daylight",
  description: "Dark text and blue for light backgrounds",
  colors: spread({
    border: "#2f6fb3",
    title: "#123f75",
    accent: "#1d5fa8",
    dim: "#5d6875",
    text: "#1f2933",
    label: "#23639e",
    ok: "#1f7a3f",
    warn: "#8f5b00",
    bad: "#a8480c",
    error: "#b3262a",
    panel: "#e4ecf5",
    selected: "#c3d9f0",
  }),
  spinner: { waiting_faces: [], thinking_faces: [], thinking_verbs: [], wings: [] },
  branding: { response_label: "Hermes" },
};

const WARM_LIGHTMODE: PartialSkin = {
  name: "warm-lightmode",
  description: "Brown and gold for light backgrounds",
  colors: spread({
    border: "#93662b",
    title: "#6b4310",
    accent: "#8a5a14",
    dim: "#746a5c",
    text: "#3a2f22",
    label: "#85601f",
    ok: "#3f7a35",
    warn: "#8f5f00",
    bad: "#a84d12",
    error: "#ab2f28",
    panel: "#f2e8d8",
    selected: "#e3cfae",
  }),
};

const POSEIDON: PartialSkin = {
  name: "poseidon",
  description: "Deep sea blue and foam",
  colors: spread({
    border: "#2a7e91",
    title: "#8fe3ea",
    accent: "#4cc3d9",
    dim: "#6f8f9b",
    text: "#d2edf0",
    label: "#69b7c9",
    ok: "#6fd3a8",
    warn: "#e8cf7a",
    bad: "#eba268",
    error: "#f08080",
    panel: "#0e2430",
    selected: "#1c465a",
  }),
  spinner: {
    waiting_faces: ["(≈)", "(~)", "(∿)"],
    thinking_faces: ["(Ψ)", "(≈)", "(∿)"],
    thinking_verbs: ["sounding the depth", "reading the tide", "setting sail", "diving"],
    wings: [["⟪≈", "≈⟫"]],
  },
  branding: { agent_name: "Poseidon", response_label: "Ψ Poseidon", prompt_symbol: "Ψ" },
  tool_prefix: "┆",
};

const SISYPHUS: PartialSkin = {
  name: "sisyphus",
  description: "Stone grey and patience",
  colors: spread({
    border: "#77777d",
    title: "#e3dfd6",
    accent: "#c2b8a3",
    dim: "#87858a",
    text: "#d0ccc4",
    label: "#a9a294",
    ok: "#a3bf8f",
    warn: "#dcc07f",
    bad: "#d99a6c",
    error: "#d97f7a",
    panel: "#1f1f22",
    selected: "#3c3b40",
  }),
  spinner: {
    waiting_faces: ["(●)", "(◉)", "(○)"],
    thinking_faces: ["(●)", "(◍)", "(◌)"],
    thinking_verbs: ["pushing", "up the hill again", "one more step", "starting over"],
    wings: [["╱", "●"]],
  },
  branding: { agent_name: "Sisyphus", response_label: "● Sisyphus", prompt_symbol: "●" },
};

const CHARIZARD: PartialSkin = {
  name: "charizard",
  description: "Orange flames",
  colors: spread({
    ...GOLD,
    border: "#c2591b",
    title: "#ffc06b",
    accent: "#ff8f3d",
    dim: "#94786a",
    text: "#ffe8d1",
    label: "#eb9b52",
    panel: "#26170f",
    selected: "#53301b",
  }),
  spinner: {
    waiting_faces: ["(^)", "(◇)", "(△)"],
    thinking_faces: ["(◆)", "(▲)", "(◇)"],
    thinking_verbs: ["warming up", "spreading wings", "breathing fire", "circling"],
    wings: [["⟪✦", "✦⟫"]],
  },
  branding: { agent_name: "Charizard", response_label: "✦ Charizard", prompt_symbol: "✦" },
};

export const BUILTIN_SKINS: readonly PartialSkin[] = [
  DEFAULT_SKIN,
  ARES,
  MONO,
  SLATE,
  DAYLIGHT,
  WARM_LIGHTMODE,
  POSEIDON,
  SISYPHUS,
  CHARIZARD,
];
