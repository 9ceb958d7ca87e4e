// Sudo without a terminal: rewrites sudo calls to read the password from standard input.
import type { Human } from "../core/human.ts";
import { underSignals } from "../lib/async/joined-signal.ts";
import { loadShellParser, type ShellNode } from "./gate/shell/shell-parser.ts";

export interface SudoRewrite {
  readonly command: string;
  /** Number of rewritten sudo calls: the password is written once for each. */
  readonly calls: number;
}

/** `sudo` as the name of a command: not quoted text, not a comment, not an argument. */
function sudoWords(node: ShellNode, found: ShellNode[] = []): ShellNode[] {
  const stack = [node];
  while (stack.length > 0) {
    const current = stack.pop();
    if (!current) break;
    if (current.type === "command_name" && current.text === "sudo") found.push(current);
    stack.push(...current.namedChildren.reverse());
  }
  return found.sort((a, b) => a.startIndex - b.startIndex);
}

/** Flags that already determine the source of the password, or that need none. */
const PASSWORD_FLAGS =
  /^\s+(?:-[A-Za-z]*[SnAkKv]\b|--(?:stdin|non-interactive|askpass|validate|version|help|reset-timestamp))/;

/**
 * Rewrites every sudo in command position to `sudo -S -p ''`. The password itself never enters the command line; the
 * caller writes it to standard input. Text that cannot be parsed is returned unchanged.
 */
export async function rewriteSudo(command: string): Promise<SudoRewrite> {
  if (!command.includes("sudo")) return { command, calls: 0 };
  const root = (await loadShellParser())(command);
  if (!root || root.hasError) return { command, calls: 0 };
  let result = "";
  let at = 0;
  let calls = 0;
  for (const word of sudoWords(root)) {
    if (PASSWORD_FLAGS.test(command.slice(word.endIndex, word.endIndex + 40))) continue;
    result += `${command.slice(at, word.endIndex)} -S -p ''`;
    at = word.endIndex;
    calls++;
  }
  return { command: result + command.slice(at), calls };
}

export interface SudoSources {
  /** SUDO_PASSWORD of the configuration or environment. */
  readonly configured: string | undefined;
  /** True when sudo works without a password; called at most once, on this machine only. */
  readonly passwordless: () => Promise<boolean>;
  readonly timeoutMs?: number | undefined;
}

/** The source of the sudo password, in this order: configured, remembered, not needed, entered by the user. */
export class SudoPassword {
  readonly #sources: SudoSources;
  readonly #remembered = new Map<string, string>();
  #free: Promise<boolean> | undefined;

  constructor(sources: SudoSources) {
    this.#sources = sources;
  }

  /** The password; an empty string when none is needed; null when there is none. */
  async get(sessionId: string, human: Human, signal: AbortSignal): Promise<string | null> {
    if (this.#sources.configured) return this.#sources.configured;
    const remembered = this.#remembered.get(sessionId);
    if (remembered !== undefined) return remembered;
    this.#free ??= this.#sources.passwordless().catch(() => false);
    if (await this.#free) return "";
    if (!human.present) return null;
    const typed = await underSignals([signal], this.#sources.timeoutMs ?? 45_000, (limit) =>
      human.secret("Password for sudo (it is not shown to the model): ", limit),
    );
    if (typed) this.#remembered.set(sessionId, typed);
    return typed === "" ? null : typed;
  }

  /** Forgets a wrong password. */
  forget(sessionId: string): void {
    this.#remembered.delete(sessionId);
  }
}

/** What to write to standard input before the command's own input. */
export function sudoInput(password: string, calls: number): string {
  return `${password}\n`.repeat(calls);
}
