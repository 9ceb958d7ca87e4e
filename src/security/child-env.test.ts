// Child processes get what they need, and no secret that was not passed explicitly.
import { describe, expect, it } from "vitest";
import { codeEnv, containerEnv, terminalEnv } from "./child-env.ts";

const env = {
  PATH: "/usr/bin",
  HOME: "/home/ada",
  LANG: "C.UTF-8",
  EDITOR: "vi",
  OPENAI_API_KEY: "k1",
  OPENAI_BASE_URL: "https://x",
  DB_PASSWORD: "k2",
  SUDO_PASSWORD: "k3",
  GITHUB_TOKEN: "k4",
  MY_SKILL_TOKEN: "k5",
  SSH_AUTH_SOCK: "/run/agent",
  _HERMES_FORCE_TELEGRAM_BOT_TOKEN: "k6",
  UNSET: undefined,
};
const blocked = new Set(["OPENAI_API_KEY", "OPENAI_BASE_URL"]);

describe("child environments", () => {
  it("terminal: everything but secrets", () => {
    expect(terminalEnv(env, { blocked })).toEqual({
      PATH: "/usr/bin",
      HOME: "/home/ada",
      LANG: "C.UTF-8",
      EDITOR: "vi",
      SSH_AUTH_SOCK: "/run/agent",
      TELEGRAM_BOT_TOKEN: "k6",
    });
  });

  it("declared names pass unless they are blocked; names chosen by the user always pass", () => {
    const child = terminalEnv(env, {
      blocked,
      declared: ["MY_SKILL_TOKEN", "OPENAI_API_KEY", "SUDO_PASSWORD"],
      passthrough: ["GITHUB_TOKEN"],
      home: "/h",
    });
    expect(child).toMatchObject({ MY_SKILL_TOKEN: "k5", GITHUB_TOKEN: "k4", HOME: "/h" });
    expect(child).not.toHaveProperty("OPENAI_API_KEY");
    expect(child).not.toHaveProperty("SUDO_PASSWORD");
  });

  it("code: only the essentials", () => {
    expect(Object.keys(codeEnv(env, { blocked, declared: ["MY_SKILL_TOKEN"] })).sort()).toEqual([
      "HOME",
      "LANG",
      "MY_SKILL_TOKEN",
      "PATH",
      "TELEGRAM_BOT_TOKEN",
    ]);
  });

  it("containers: explicit values and forwarded names", () => {
    expect(containerEnv(env, { values: { A: "1" }, forward: ["GITHUB_TOKEN", "MISSING"] })).toEqual({
      GITHUB_TOKEN: "k4",
      A: "1",
    });
  });
});
