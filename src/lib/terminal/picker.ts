// A list to choose from: arrows move, typing filters, Enter chooses, Esc cancels.
import { emitKeypressEvents, type Key } from "node:readline";
import type { ReadStream } from "node:tty";
import { fitToWidth } from "../text/text-width.ts";
import type { Terminal } from "./terminal.ts";

export interface Choice<T> {
  readonly label: string;
  /** Searched as well as the label. */
  readonly keywords?: string | undefined;
  readonly value: T;
}

interface PickerState<T> {
  filter: string;
  cursor: number;
  visible: readonly Choice<T>[];
}

const PAGE = 12;

function matching<T>(choices: readonly Choice<T>[], filter: string): readonly Choice<T>[] {
  const words = filter.toLowerCase().split(/\s+/u).filter(Boolean);
  return choices.filter((choice) => {
    const text = `${choice.label} ${choice.keywords ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function draw<T>(terminal: Terminal, title: string, state: PickerState<T>): string[] {
  const start = Math.max(0, Math.min(state.cursor - Math.floor(PAGE / 2), state.visible.length - PAGE));
  const rows = state.visible.slice(start, start + PAGE).map((choice, index) => {
    const chosen = start + index === state.cursor;
    const text = fitToWidth(`${chosen ? "❯" : " "} ${terminal.forOut(choice.label)}`, terminal.columns - 1);
    return chosen ? terminal.style("cyan", text) : text;
  });
  const count = `${state.visible.length === 0 ? 0 : state.cursor + 1}/${state.visible.length}`;
  const head = fitToWidth(
    `${title}  ${state.filter === "" ? "type to filter" : `filter: ${state.filter}`}  ${count}`,
    terminal.columns - 1,
  );
  return [terminal.style("dim", head), ...rows];
}

/** Handles one key. */
function press<T>(
  state: PickerState<T>,
  choices: readonly Choice<T>[],
  text: string | undefined,
  key: Key,
): "stay" | "choose" | "cancel" {
  const refilter = (filter: string) => {
    state.filter = filter;
    state.visible = matching(choices, filter);
    state.cursor = 0;
  };
  if (key.name === "escape" || (key.ctrl && (key.name === "c" || key.name === "d"))) return "cancel";
  if (key.name === "return" || key.name === "enter") return "choose";
  if (key.name === "up") state.cursor = Math.max(0, state.cursor - 1);
  else if (key.name === "down") state.cursor = Math.min(state.visible.length - 1, state.cursor + 1);
  else if (key.name === "pageup") state.cursor = Math.max(0, state.cursor - PAGE);
  else if (key.name === "pagedown") state.cursor = Math.min(state.visible.length - 1, state.cursor + PAGE);
  else if (key.name === "backspace") refilter(state.filter.slice(0, -1));
  else if (text && !key.ctrl && !key.meta && text >= " ") refilter(state.filter + text);
  return "stay";
}

/** Null when the user cancels. Needs an interactive terminal. */
export async function pick<T>(
  terminal: Terminal,
  title: string,
  choices: readonly Choice<T>[],
  options: { /** Index of the choice under the cursor at the start. */ readonly start?: number } = {},
): Promise<T | null> {
  const input = terminal.streams.stdin as ReadStream;
  const output = terminal.streams.stdout;
  const state: PickerState<T> = { filter: "", cursor: options.start ?? 0, visible: choices };
  let drawn = 0;
  const clear = () => {
    if (drawn > 0) output.write(`\u001b[${drawn}A\u001b[0J`);
    drawn = 0;
  };
  const redraw = () => {
    const lines = draw(terminal, title, state);
    clear();
    output.write(`${lines.join("\n")}\n`);
    drawn = lines.length;
  };
  emitKeypressEvents(input);
  input.setRawMode(true);
  input.resume();
  redraw();
  try {
    return await new Promise<T | null>((resolve) => {
      const onKey = (text: string | undefined, key: Key) => {
        const next = press(state, choices, text, key);
        if (next === "stay") return redraw();
        const chosen = state.visible[state.cursor];
        if (next === "choose" && !chosen) return;
        input.off("keypress", onKey);
        resolve(next === "choose" && chosen ? chosen.value : null);
      };
      input.on("keypress", onKey);
    });
  } finally {
    clear();
    input.setRawMode(false);
    input.pause();
  }
}
