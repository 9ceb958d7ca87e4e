// The clipboard: text through a program of the system or the terminal (OSC 52), images through a program.
import { mkdtemp, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runToEnd } from "../lib/process/run-to-end.ts";
import { which } from "../lib/which.ts";

interface Environment {
  readonly [name: string]: string | undefined;
}

const LIMIT_MS = 3_000;
/** Terminals refuse longer requests. */
const MAX_OSC52 = 75_000;

const NEEDED = /^(?:PATH|HOME|DISPLAY|XAUTHORITY|WAYLAND_DISPLAY|XDG_RUNTIME_DIR|TMPDIR|WSL_.*|SystemRoot)$/;

/** The variables that clipboard programs need; no secrets. */
function clipboardEnvironment(env: Environment): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && NEEDED.test(entry[0])),
  );
}

/** Programs that write the clipboard, best first. */
function writers(env: Environment): string[][] {
  if (process.platform === "darwin") return [["pbcopy"]];
  if (process.platform === "win32") return [["clip"]];
  return [
    ...(env.WAYLAND_DISPLAY ? [["wl-copy"]] : []),
    ...(env.DISPLAY
      ? [
          ["xclip", "-selection", "clipboard"],
          ["xsel", "--clipboard", "--input"],
        ]
      : []),
    ...(env.WSL_DISTRO_NAME ? [["clip.exe"]] : []),
  ];
}

/** Copies the text; says whether a program confirmed it or the request went to the terminal, which does not confirm. */
export async function copyText(
  text: string,
  env: Environment,
  write: (bytes: string) => void,
): Promise<"program" | "terminal" | "too long"> {
  // Over SSH the programs would write the clipboard of the other machine.
  const commands = env.SSH_CONNECTION ? [] : writers(env);
  for (const [program = "", ...args] of commands) {
    const path = which(program, env.PATH);
    if (!path) continue;
    const run = await runToEnd([path, ...args], {
      cwd: "/",
      env: clipboardEnvironment(env),
      timeoutMs: LIMIT_MS,
      stdin: text,
    });
    if (run.code === 0) return "program";
  }
  const encoded = Buffer.from(text).toString("base64");
  if (encoded.length > MAX_OSC52) return "too long";
  write(`\u001b]52;c;${encoded}\u0007`);
  return "terminal";
}

/** Commands that write the clipboard's image to $1. */
function imageReaders(env: Environment): string[] {
  if (process.platform === "darwin")
    return [
      'pngpaste "$1"',
      `osascript -e 'set png to (the clipboard as «class PNGf»)' -e "set f to open for access POSIX file \\"$1\\" with write permission" -e 'write png to f' -e 'close access f'`,
    ];
  return [
    ...(env.WAYLAND_DISPLAY ? ['wl-paste --type image/png > "$1"'] : []),
    ...(env.DISPLAY ? ['xclip -selection clipboard -t image/png -o > "$1"'] : []),
    ...(env.WSL_DISTRO_NAME
      ? [
          `powershell.exe -NoProfile -Command "Add-Type -AssemblyName System.Windows.Forms; (Get-Clipboard -Format Image).Save('$(wslpath -w "$1")')"`,
        ]
      : []),
  ];
}

/** The path of a file with the clipboard's image; null when there is none. */
export async function clipboardImage(env: Environment): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), "hermes-image-"));
  const file = join(folder, "clipboard.png");
  for (const command of imageReaders(env)) {
    const options = { cwd: folder, env: clipboardEnvironment(env), timeoutMs: LIMIT_MS };
    const run = await runToEnd(["/bin/sh", "-c", command, "sh", file], options);
    const size = (await stat(file).catch(() => undefined))?.size ?? 0;
    if (run.code === 0 && size > 0) return file;
  }
  return null;
}
