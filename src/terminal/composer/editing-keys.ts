// The editing keys of a text field, as in readline.
import type { TextBuffer } from "./text-buffer.ts";

const KEYS: { readonly [key: string]: (buffer: TextBuffer) => void } = {
  left: (buffer) => buffer.move("left"),
  right: (buffer) => buffer.move("right"),
  "ctrl+b": (buffer) => buffer.move("left"),
  "ctrl+f": (buffer) => buffer.move("right"),
  home: (buffer) => buffer.move("lineStart"),
  end: (buffer) => buffer.move("lineEnd"),
  "ctrl+a": (buffer) => buffer.move("lineStart"),
  "ctrl+e": (buffer) => buffer.move("lineEnd"),
  "ctrl+home": (buffer) => buffer.move("textStart"),
  "ctrl+end": (buffer) => buffer.move("textEnd"),
  "alt+left": (buffer) => buffer.move("wordLeft"),
  "alt+right": (buffer) => buffer.move("wordRight"),
  "ctrl+left": (buffer) => buffer.move("wordLeft"),
  "ctrl+right": (buffer) => buffer.move("wordRight"),
  "alt+b": (buffer) => buffer.move("wordLeft"),
  "alt+f": (buffer) => buffer.move("wordRight"),
  backspace: (buffer) => buffer.erase("left"),
  "ctrl+h": (buffer) => buffer.erase("left"),
  "shift+backspace": (buffer) => buffer.erase("left"),
  delete: (buffer) => buffer.erase("right"),
  "ctrl+w": (buffer) => buffer.kill("wordLeft"),
  "alt+backspace": (buffer) => buffer.kill("wordLeft"),
  "ctrl+backspace": (buffer) => buffer.kill("wordLeft"),
  "alt+d": (buffer) => buffer.kill("wordRight"),
  "ctrl+u": (buffer) => buffer.kill("lineStart"),
  "ctrl+k": (buffer) => buffer.kill("lineEnd"),
  "ctrl+y": (buffer) => buffer.yank(),
  "alt+y": (buffer) => buffer.yankOlder(),
  "ctrl+-": (buffer) => buffer.undo(),
  "ctrl+_": (buffer) => buffer.undo(),
  "ctrl+/": (buffer) => buffer.undo(),
  "alt+u": (buffer) => buffer.undo(),
  "alt+r": (buffer) => buffer.redo(),
};

/** False when the key edits nothing. */
export function editingKey(buffer: TextBuffer, name: string): boolean {
  const edit = KEYS[name];
  edit?.(buffer);
  return edit !== undefined;
}
