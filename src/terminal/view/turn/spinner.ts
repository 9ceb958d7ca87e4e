// The sign of work: one calm character, a face or a verb, by the settings and the skin.
import type { Skin } from "../theme/skin.ts";

export type Indicator = "kaomoji" | "emoji" | "unicode" | "ascii";

const FRAMES: { readonly [style in "emoji" | "unicode" | "ascii"]: readonly string[] } = {
  emoji: ["🌑", "🌒", "🌓", "🌔", "🌕", "🌖", "🌗", "🌘"],
  unicode: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
  ascii: ["|", "/", "-", "\\"],
};

/** One step per this time: quick enough to show life, slow enough not to draw the eye. */
export const SPINNER_MS = 120;
/** Faces and verbs change rarely. */
const FACE_MS = 2_500;
const VERB_MS = 8_000;

function at<T>(list: readonly T[], step: number): T | undefined {
  return list[step % Math.max(1, list.length)];
}

/** The spinning character of tool lines: never a face, which would change the width of the line. */
export function spinnerFrame(indicator: Indicator, now: number): string {
  const frames = FRAMES[indicator === "kaomoji" ? "unicode" : indicator];
  return at(frames, Math.floor(now / SPINNER_MS)) ?? "";
}

export interface BusySign {
  readonly indicator: Indicator;
  /** `kawaii` (the default) and any other persona but `none` use the faces of the skin. */
  readonly personality: string;
}

/** What stands before "Working": a face for `kaomoji`, otherwise the spinning character; with the wings of the skin. */
export function busySign(sign: BusySign, skin: Skin, thinking: boolean, now: number): string {
  const faces = thinking ? skin.spinner.thinking_faces : skin.spinner.waiting_faces;
  const wantsFace = sign.indicator === "kaomoji" && sign.personality !== "none" && faces.length > 0;
  const face = wantsFace ? at(faces, Math.floor(now / FACE_MS)) : undefined;
  const [left, right] = at(skin.spinner.wings, Math.floor(now / FACE_MS)) ?? ["", ""];
  const core = face === undefined ? spinnerFrame(sign.indicator, now) : `${spinnerFrame(sign.indicator, now)} ${face}`;
  return left === "" && right === "" ? core : `${left} ${core} ${right}`;
}

/** A verb of the skin instead of the plain word, when it has some and the language is English. */
export function busyVerb(skin: Skin, plain: string, english: boolean, now: number): string {
  const verb = english ? at(skin.spinner.thinking_verbs, Math.floor(now / VERB_MS)) : undefined;
  return verb === undefined ? plain : verb.charAt(0).toUpperCase() + verb.slice(1);
}
