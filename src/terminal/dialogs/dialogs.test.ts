// Dialogs: what answers them, what does not, and what they show.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../../lib/text/text-width.ts";
import { actionRows } from "./action-rows.ts";
import { ChoiceDialog, type ChoiceQuestion } from "./choice-dialog.ts";
import type { DialogHost } from "./modal.ts";
import { Picker, type PickerAnswer } from "./picker.ts";
import { TextDialog } from "./text-dialog.ts";

function host(): DialogHost & { time: number } {
  return {
    time: 10_000,
    lastInput: 0,
    paint: (_, text) => text,
    redraw: () => undefined,
    now() {
      return this.time;
    },
  };
}

const key = (name: string) => ({ name, text: "", bytes: name });
const text = (typed: string) => ({ name: "", text: typed, bytes: typed });
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const QUESTION: ChoiceQuestion = {
  heading: "Needs your approval: deletes files",
  body: "rm -rf build",
  flagged: ["-rf"],
  choices: [{ label: "Allow once", needsAll: true }, { label: "Deny" }],
  cancelLabel: "denies",
  role: "warn",
};

function choice(question: Partial<ChoiceQuestion> = {}) {
  const answers: (number | null)[] = [];
  const screen = host();
  const dialog = new ChoiceDialog(screen, { ...QUESTION, ...question }, (index) => answers.push(index));
  const shown = (rows = 20) => dialog.render({ width: 60, rows, now: screen.time }).lines.join("\n");
  return { screen, dialog, answers, shown };
}

describe("a choice", () => {
  it("takes no answer while the user is typing, and hands typed text back", () => {
    const { screen, dialog, answers } = choice();
    expect(dialog.key(text("1"))).toBe(false);
    dialog.key(key("enter"));
    screen.time += 5_000;
    expect(dialog.key(text("oh no"))).toBe(false);
    expect(dialog.key(text("1"))).toBe(false);
    expect(dialog.key(key("enter"))).toBe(true);
    expect(answers).toEqual([]);
  });

  it("is answered with arrow keys and Enter, a digit alone, or Escape", async () => {
    const first = choice();
    first.screen.time += 5_000;
    first.shown();
    first.dialog.key(key("enter"));
    expect(first.answers).toEqual([]);
    first.dialog.key(key("down"));
    first.dialog.key(key("enter"));
    expect(first.answers).toEqual([0]);
    const second = choice();
    second.screen.time += 5_000;
    second.dialog.key(text("2"));
    expect(second.answers).toEqual([]);
    await wait(350);
    expect(second.answers).toEqual([1]);
    const third = choice();
    third.screen.time += 5_000;
    third.dialog.key(key("escape"));
    expect(third.answers).toEqual([null]);
  });

  it("ignores a digit that begins a sentence, and pasted text", async () => {
    const { screen, dialog, answers } = choice();
    screen.time += 5_000;
    dialog.key(text("2"));
    expect(dialog.key(text(" "))).toBe(true);
    expect(dialog.key(text("files please"))).toBe(false);
    expect(dialog.paste()).toBe(false);
    await wait(350);
    expect(answers).toEqual([]);
  });

  it("may be allowed only after the whole command was shown", () => {
    const body = Array.from({ length: 60 }, (_, index) => `echo line ${index}`).join("\n");
    const { screen, dialog, answers, shown } = choice({ body });
    screen.time += 5_000;
    expect(shown(16)).toContain("more; PgDn");
    dialog.key(key("down"));
    dialog.key(key("enter"));
    expect(answers).toEqual([]);
    for (let page = 0; page < 12; page++) {
      dialog.key(key("pageDown"));
      shown(16);
    }
    expect(shown(16)).toContain("echo line 59");
    dialog.key(key("down"));
    dialog.key(key("enter"));
    expect(answers).toEqual([0]);
  });
});

it("the action of an approval loses nothing, fits the width, and marks the flagged part", () => {
  const rows = actionRows("echo \u001b[2J; rm -rf /tmp/x", ["rm -rf"], 12);
  const joined = rows.map((row) => row.pieces.map((piece) => piece.text).join("")).join("");
  expect(joined).toBe("echo \\x1b[2J; rm -rf /tmp/x");
  const flagged = rows
    .flatMap((row) => row.pieces.filter((piece) => piece.flagged).map((piece) => piece.text))
    .join("");
  expect(flagged).toBe("rm -rf");
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 80 }), fc.integer({ min: 4, max: 40 }), (action, width) => {
      const rows = actionRows(action, [action.slice(2, 5)], width);
      const lines = rows.map((row) => row.pieces.map((piece) => piece.text).join(""));
      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(Math.max(2, width));
      expect(lines.join("")).not.toMatch(/\p{Cc}/u);
    }),
    { numRuns: 40 },
  );
});

it("a secret is never drawn", () => {
  const answers: (string | null)[] = [];
  const screen = host();
  const dialog = new TextDialog(screen, { heading: "Password", secret: true, cancelLabel: "refuses" }, (answer) =>
    answers.push(answer),
  );
  screen.time += 5_000;
  for (const part of ["hun", "ter2"]) dialog.key(text(part));
  dialog.paste("!\n");
  expect(dialog.render({ width: 60, rows: 10, now: screen.time }).lines.join("\n")).not.toMatch(/hun|ter2/);
  dialog.key(key("enter"));
  expect(answers).toEqual(["hunter2!"]);
});

describe("the picker", () => {
  const choices = [
    { label: "alpha", value: "a", description: "first" },
    { label: "beta", value: "b", current: true, detail: "the preview\nof beta" },
    { label: "gamma", value: "c" },
  ];
  const open = (multiple = false) => {
    const answers: PickerAnswer[] = [];
    const actions = [{ key: "d", label: "delete", args: (value: string) => `delete ${value}` }];
    const picker = new Picker(host(), { title: "Letters", choices, multiple, actions }, (answer) =>
      answers.push(answer),
    );
    return { picker, answers, shown: () => picker.render({ width: 60, rows: 20, now: 0 }).lines.join("\n") };
  };

  it("filters as you type, shows the preview, and chooses", () => {
    const { picker, answers, shown } = open();
    expect(shown()).toContain("❯ ● beta");
    expect(shown()).toContain("│ of beta");
    picker.key(text("gm"));
    expect(shown()).toContain("(1 of 3)");
    picker.key(key("enter"));
    expect(answers).toEqual([{ type: "chosen", values: ["c"] }]);
  });

  it("marks several, and runs actions", () => {
    const several = open(true);
    several.picker.key(text(" "));
    several.picker.key(key("enter"));
    expect(several.answers).toEqual([{ type: "chosen", values: ["a", "b"] }]);
    const { picker, answers } = open();
    picker.key(key("ctrl+d"));
    expect(answers[0]).toMatchObject({ type: "action", choice: { value: "b" } });
  });
});
