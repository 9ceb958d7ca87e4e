// Edits a text in the user's editor.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { which } from "../../lib/which.ts";

interface Environment {
  readonly [name: string]: string | undefined;
}

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH/i;
const FALLBACKS = ["nano", "vim", "vi"];

/** The editor of VISUAL or EDITOR, else the first common one; undefined when there is none. */
function editorCommand(env: Environment): string | undefined {
  const named = env.VISUAL?.trim() || env.EDITOR?.trim();
  return named || FALLBACKS.find((program) => which(program, env.PATH) !== undefined);
}

/** The text as it was saved; an error message when the editor failed. */
export async function editText(
  text: string,
  env: Environment,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  const command = editorCommand(env);
  if (command === undefined) return { problem: "there is no editor; set EDITOR to one" };
  const folder = await mkdtemp(join(tmpdir(), "hermes-edit-"));
  const file = join(folder, "message.md");
  try {
    await writeFile(file, text, { mode: 0o600 });
    const kept = Object.entries(env).filter(([name]) => !SECRET_NAME.test(name) || name === "SSH_AUTH_SOCK");
    const code = await new Promise<number | string>((resolve) => {
      // The setting may have arguments ("code --wait"): the shell splits them.
      const child = spawn("/bin/sh", ["-c", `${command} "$1"`, "sh", file], {
        stdio: "inherit",
        env: Object.fromEntries(kept),
      });
      child.on("error", (error) => resolve(error.message));
      child.on("close", (status) => resolve(status ?? "a signal"));
    });
    if (code !== 0) return { problem: `the editor (${command}) ended with ${code}; the draft was not changed` };
    return { text: (await readFile(file, "utf8")).replace(/\n$/, "") };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
