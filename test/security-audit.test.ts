// The security audit reports problems with hints, never shows a secret, and passes a well-kept home.
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSettings } from "../src/config/api.ts";
import type { Home } from "../src/core/home.ts";
import { openHome } from "../src/home/api.ts";
import { securityAudit } from "../src/security/api.ts";
import { tempDir } from "./kit/temp-dir.ts";

let path = "";
beforeEach(() => {
  path = tempDir("audit-");
  chmodSync(path, 0o700);
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

function file(name: string, text: string, mode = 0o600): void {
  writeFileSync(join(path, name), text);
  chmodSync(join(path, name), mode);
}

const open = (env: { [name: string]: string } = {}) =>
  openHome([], { env: { HERMES_HOME: path, ...env }, cwd: path, platform: "linux", homedir: path }).home;
const audit = async (home: Home) => securityAudit(home, await openSettings(home).inspect());
const ids = async (env?: { [name: string]: string }) => (await audit(open(env))).findings.map((finding) => finding.id);

describe("the audit", () => {
  it("reports nothing for a well-kept home", async () => {
    file("config.yaml", "model:\n  default: x\napi_key: $OPENAI_API_KEY\n");
    file(".env", "OPENAI_API_KEY=abc\n");
    expect(await audit(open())).toMatchObject({ ok: true });
  });

  it("reports settings that reduce protection", async () => {
    file(
      "config.yaml",
      "approvals:\n  mode: off\n  cron_mode: approve\nsecurity:\n  redact_secrets: false\n  allow_private_urls: true\n",
    );
    expect(await ids({ HERMES_YOLO_MODE: "1", TELEGRAM_ALLOW_ALL_USERS: "true", API_SERVER_HOST: "0.0.0.0" })).toEqual(
      expect.arrayContaining([
        "approvals_off",
        "cron_approves",
        "redaction_off",
        "private_urls",
        "yolo",
        "all_users",
        "open_server",
      ]),
    );
  });

  it("reports files that others can read, with the command that fixes the mode", async () => {
    file(".env", "A=b\n", 0o644);
    file("auth.json", "{}", 0o666);
    chmodSync(path, 0o755);
    const home = open();
    // Opening the home fixed the modes.
    chmodSync(join(path, ".env"), 0o644);
    chmodSync(join(path, "auth.json"), 0o666);
    const { ok, findings } = await audit(home);
    expect(ok).toBe(false);
    expect(findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          severity: "high",
          what: expect.stringContaining(".env can be read"),
          hint: `chmod 600 ${join(path, ".env")}`,
        }),
        expect.objectContaining({ severity: "high", what: expect.stringContaining("auth.json can be changed") }),
        expect.objectContaining({ severity: "medium", hint: `chmod 700 ${path}/`.replace(/\/$/, "") }),
      ]),
    );
  });

  it("reports clear-text secrets without showing them, and permanent permissions", async () => {
    const key = `sk-${"Zq8Lw2Xv9Bn4Mc7Kd1Jf6Hs3"}`;
    file(
      "config.yaml",
      `custom_providers:\n  - name: x\n    api_key: ${key}\ncommand_allowlist:\n  - recursive delete\n  - "exact [x] in /: y"\n`,
    );
    const { findings } = await audit(open());
    expect(findings.map((finding) => finding.id)).toEqual(expect.arrayContaining(["secret_in_config", "allow_list"]));
    expect(JSON.stringify(findings)).not.toContain(key);
  });
});
