// What a slash command may ask of the terminal: things that only the conversation screen can do.

export type TerminalRequest =
  /** Copies the text to the clipboard; `what` names it in the confirmation ("the last answer"). */
  | { readonly kind: "copy"; readonly text: string; readonly what: string }
  /** Moves what is on the screen into the scrollback. */
  | { readonly kind: "clear" }
  /** Puts the text into the composer, to be edited and sent. */
  | { readonly kind: "draft"; readonly text: string }
  /** Attaches an image to the next message: a file, or the clipboard's image when there is no path. */
  | { readonly kind: "attach"; readonly path?: string | undefined }
  /** Opens the draft in the external editor. */
  | { readonly kind: "edit" }
  /** Draws the whole screen again. */
  | { readonly kind: "redraw" }
  /**
   * Settings of `display` have changed, by their names: what the screen remembers of them is replaced. `text` is the
   * confirmation for the user.
   */
  | { readonly kind: "display"; readonly changes: { readonly [key: string]: unknown }; readonly text: string }
  /** Runs the task in a separate conversation; without a task, lists the running ones. */
  | { readonly kind: "background"; readonly task: string };
