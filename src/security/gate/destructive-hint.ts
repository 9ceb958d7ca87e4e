// A quick opinion for checkpoints: would this command change or remove files that are worth a snapshot first?
import { analyseCommand } from "./analyse.ts";
import { loadShellParser } from "./shell/shell-parser.ts";
import { type Invocation, programOf, type ShellEnvironment } from "./shell/shell-types.ts";
import { innerOf } from "./shell/shell-unwrap.ts";
import { ShellWalk } from "./shell/shell-walk.ts";

const CHANGERS = new Set(["rm", "rmdir", "cp", "mv", "install", "truncate", "dd", "shred", "unlink"]);

function changes(invocation: Invocation): boolean {
  const program = programOf(invocation);
  const args = invocation.args.map((word) => word.text);
  if (CHANGERS.has(program)) return true;
  if (program === "sed" || program === "perl") return args.some((arg) => /^-[a-zA-Z]*i|^--in-place/.test(arg));
  if (program === "git") return args.some((arg) => /^(?:reset|clean|checkout|restore)$/.test(arg));
  return invocation.redirects.some(
    ({ operator, target }) => /^(?:>|>\||&>)$/.test(operator) && !/^(?:\/dev\/|\d$)/.test(target.text),
  );
}

/** True when the command looks like it overwrites, moves or deletes files. */
export async function destructiveHint(command: string, host: ShellEnvironment): Promise<boolean> {
  const parse = await loadShellParser();
  const { effects } = analyseCommand(command, host, parse);
  if (effects.some((effect) => effect.category === "deletion")) return true;
  const queue = [...new ShellWalk(host, parse).run(command).invocations];
  for (let at = 0; at < queue.length && at < 500; at++) {
    const invocation = queue[at];
    if (!invocation) break;
    if (changes(invocation)) return true;
    const inner = innerOf(invocation);
    queue.push(...inner.commands);
    for (const script of inner.scripts)
      if (script.language === "shell" && queue.length < 500)
        queue.push(...new ShellWalk(host, parse).run(script.text.text).invocations);
  }
  return false;
}
