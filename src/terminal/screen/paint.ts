// Styles of the screen's own parts: dialogs, popup, composer.

export type PaintRole =
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
  | "selected";

/** The text in a style; unchanged where the terminal shows none. */
export type Paint = (role: PaintRole, text: string) => string;

export function createPaint(theme: { sgr(role: PaintRole): string }): Paint {
  return (role, text) => {
    const sgr = theme.sgr(role);
    return sgr === "" || text === "" ? text : `\u001b[${sgr}m${text}\u001b[0m`;
  };
}
