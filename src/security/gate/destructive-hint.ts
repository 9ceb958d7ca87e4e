// Tells checkpoints whether a command may change or remove files, so that a snapshot is taken first.
import { analyseCommand } from "./analyse.ts";
import { loadShellParser } from "./shell/shell-parser.ts";
import { type Invocation, programName, type ShellEnvironment } from "./shell/shell-types.ts";
import { unwrapInvocation } from "./shell/shell-unwrap.ts";
import { ShellWalk } from "./shell/shell-walk.ts";

const CHANGERS = new Set(["rm", "rmdir", "cp", "mv", "install", "truncate", "dd", "shred", "unlink"]);

function changes(invocation: Invocation): boolean {
  const program = programName(invocation);
  const args = invocation.args.map((word) => word.text);
  if (CHANGERS.has(program)) return true;
  if (program === "sed" || program === "perl") return args.some((arg) => /^-[a-zA-Z]*i|^--in-place/.test(arg));
  if (program === "git") return args.some((arg) => /^(?:reset|clean|checkout|restore)$/.test(arg));
  return invocation.redirects.some(
    ({ operator, target }) => /^(?:>|>\||&>)$/.test(operator) && !/^(?:\/dev\/|\d$)/.test(target.text),
  );
}

/** True when the command appears to overwrite, move or delete files. */
export async function destructiveHint(command: string, host: ShellEnvironment): Promise<boolean> {
  const parse = await loadShellParser();
  const { effects } = analyseCommand(command, host, parse);
  if (effects.some((effect) => effect.category === "deletion")) return true;
  const queue = [...new ShellWalk(host, parse).run(command).invocations];
  for (let at = 0; at < queue.length && at < 500; at++) {
    const invocation = queue[at];
    if (!invocation) break;
    if (changes(invocation)) return true;
    const inner = unwrapInvocation(invocation);
    queue.push(...inner.commands);
    for (const script of inner.scripts)
      if (script.language === "shell" && queue.length < 500)
        queue.push(...new ShellWalk(host, parse).run(script.text.text).invocations);
  }
  return false;
}
