// Only real sudo calls are rewritten, and the password is never part of the command.
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { absentHuman } from "../core/human.ts";
import { rewriteSudo, SudoPassword, sudoInput } from "./sudo.ts";

const signal = new AbortController().signal;

describe("rewriting", () => {
  it.each([
    ["sudo apt update", "sudo -S -p '' apt update", 1],
    ["ls; sudo id && sudo whoami", "ls; sudo -S -p '' id && sudo -S -p '' whoami", 2],
    ["if true; then sudo id; fi", "if true; then sudo -S -p '' id; fi", 1],
    ["echo $(sudo id)", "echo $(sudo -S -p '' id)", 1],
    ["FOO=1 sudo -u www id", "FOO=1 sudo -S -p '' -u www id", 1],
    ["echo 'sudo id'", "echo 'sudo id'", 0],
    ["echo sudo id", "echo sudo id", 0],
    ["ls # sudo id", "ls # sudo id", 0],
    ["sudo -n true", "sudo -n true", 0],
    ["sudo -S id", "sudo -S id", 0],
    ["cat sudo.txt; pseudo id", "cat sudo.txt; pseudo id", 0],
    ["sudo 'open", "sudo 'open", 0],
  ])("%s", async (command, expected, calls) => {
    expect(await rewriteSudo(command)).toEqual({ command: expected, calls });
  });

  it("produces a command that reads the password from standard input", async () => {
    const { command, calls } = await rewriteSudo("sudo echo done");
    const fake =
      'sudo() { read -r p; [ "$1 $2" = "-S -p" ] && printf "got %s\\n" "$(printf %s "$p" | wc -c)"; shift 3; "$@"; }; ';
    const result = spawnSync("bash", ["-c", fake + command], {
      input: sudoInput("pa'ss \"word", calls),
      encoding: "utf8",
    });
    expect(result.stdout).toBe("got 11\ndone\n");
  });
});

describe("the password", () => {
  const asking = (answer: string | null) => {
    let asked = 0;
    const secret = async () => {
      asked++;
      return answer;
    };
    return { human: { ...absentHuman, present: true, secret }, count: () => asked };
  };

  it("comes from the configuration, the session, the machine or the user, in that order", async () => {
    const typed = asking("typed");
    expect(
      await new SudoPassword({ configured: "set", passwordless: async () => true }).get("s", typed.human, signal),
    ).toBe("set");
    expect(
      await new SudoPassword({ configured: undefined, passwordless: async () => true }).get("s", typed.human, signal),
    ).toBe("");
    const sudo = new SudoPassword({ configured: undefined, passwordless: async () => false });
    expect(await sudo.get("s", typed.human, signal)).toBe("typed");
    expect(await sudo.get("s", typed.human, signal)).toBe("typed");
    expect(typed.count()).toBe(1);
    sudo.forget("s");
    expect(await sudo.get("s", absentHuman, signal)).toBeNull();
    expect(await sudo.get("s", asking(null).human, signal)).toBeNull();
  });
});
