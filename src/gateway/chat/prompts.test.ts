// Questions to the user of a chat are always closed in the end.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { type Asking, Prompts } from "./prompts.ts";

function asking(change: Partial<Asking> = {}): Asking {
  const show = async () => () => undefined;
  const times = { approvalMs: 60_000, clarifyMs: 60_000 };
  const place = { buttons: false, maxLength: 4096, role: "owner" as const, userId: "1" };
  return { show, ...place, ...times, closed: () => "closed", waiting: () => undefined, ...change };
}

const never = new AbortController().signal;
const question = { question: "Which colour?", choices: ["red", "blue"] };

describe("a question", () => {
  it("that cannot be shown is closed: the next text does not answer it", async () => {
    const signs: boolean[] = [];
    const show = () => Promise.reject(new Error("the disk is full"));
    const prompts = new Prompts();
    const human = prompts.human(() => asking({ show, waiting: (on) => signs.push(on) }));
    await expect(human.clarify(question, never)).rejects.toThrow("the disk is full");
    expect(prompts.takesText).toBe(false);
    expect(prompts.text("hello")).toBe(false);
    expect(signs).toEqual([true, false]);
  });

  it("times out, also after a garbage collection", async () => {
    setFlagsFromString("--expose-gc");
    const tidyUp = runInNewContext("gc") as () => void;
    const prompts = new Prompts();
    const human = prompts.human(() => asking({ clarifyMs: 300 }));
    const tidying = setInterval(tidyUp, 20);
    try {
      expect(await human.clarify(question, never)).toBeNull();
      expect(prompts.open).toBe(0);
    } finally {
      clearInterval(tidying);
    }
  });

  it("is closed together with its turn", async () => {
    const turn = new AbortController();
    const prompts = new Prompts();
    const shown: string[] = [];
    const answer = prompts
      .human(() => asking({ show: async () => (after) => shown.push(after) }))
      .approve(
        { action: "rm -r x", reason: "deletes x", intent: "x", choices: ["once", "deny"], toolName: "terminal" },
        turn.signal,
      );
    turn.abort();
    expect(await answer).toEqual({ choice: "deny", unattended: true });
    expect(prompts.open).toBe(0);
    expect(shown).toEqual([expect.stringMatching(/closed$/)]);
  });
});
