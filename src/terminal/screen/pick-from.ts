// Opens the picker for the choices of a slash command.
import type { ChooseAnswer } from "../chat-ui.ts";
import { ChoiceDialog } from "../dialogs/choice-dialog.ts";
import type { Modal } from "../dialogs/modal.ts";
import { Picker, type PickerAnswer } from "../dialogs/picker.ts";
import type { Screen } from "./screen.ts";

function openModal<T>(screen: Screen, build: (done: (answer: T) => void) => Modal): Promise<T> {
  return new Promise((resolve) => {
    let close: (() => void) | undefined;
    const done = (answer: T) => {
      close?.();
      resolve(answer);
    };
    close = screen.open(build(done));
  });
}

async function confirm(screen: Screen, heading: string): Promise<boolean> {
  const question = {
    heading,
    body: "",
    choices: [{ label: "Yes" }, { label: "No" }],
    cancelLabel: "goes back",
    role: "warn" as const,
  };
  return (await openModal<number | null>(screen, (done) => new ChoiceDialog(screen, question, done))) === 0;
}

/** The arguments with which the command runs again; null when nothing was chosen. */
export async function pickFrom(screen: Screen, answer: ChooseAnswer): Promise<string | null> {
  const { title, choices, multiple, actions = [] } = answer;
  const question = { title, choices, multiple: multiple !== undefined, actions };
  for (;;) {
    const picked = await openModal<PickerAnswer>(screen, (done) => new Picker(screen, question, done));
    if (picked === null) return null;
    if (picked.type === "chosen") return multiple ? multiple.args(picked.values) : (picked.values[0] ?? null);
    const { action, choice } = picked;
    const confirmation = action.confirm?.(choice);
    if (confirmation === undefined || (await confirm(screen, confirmation))) return action.args(choice.value);
  }
}
