// Tells commands that only read from those that may change files, for checkpoints.
import { analyseCommand } from "./analyse.ts";
import { isReadOnlyCall } from "./read-only-programs.ts";
import { loadShellParser } from "./shell/shell-parser.ts";

/** True unless every program of the command is known to read only. */
export async function mayWrite(
  command: string,
  paths: { readonly userHome: string; readonly hermesHome: string; readonly cwd: string },
): Promise<boolean> {
  const { invocations, readable, refusal } = analyseCommand(command, paths, await loadShellParser());
  return !readable || refusal !== undefined || !invocations.every(isReadOnlyCall);
}
