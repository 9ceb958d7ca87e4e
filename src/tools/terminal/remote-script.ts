// The script that runs a command remotely: in its own process group, with marks at start and end, stopped when we disconnect.
import { shellQuote } from "../../lib/text/shell-quote.ts";

export interface RemoteCommand {
  readonly command: string;
  readonly cwd: string;
  /** Random for each command. */
  readonly token: string;
  /** A private folder on the remote machine. */
  readonly folder: string;
  /** True when the command reads input, which arrives as `w<base64>` and `c` lines. */
  readonly input: boolean;
  /** `keep` restores and saves variables and directory, `use` only restores them, `none` does neither. */
  readonly state: "keep" | "use" | "none";
  readonly pty?: boolean | undefined;
}

/** Prints the exported variables, without those of the shell itself, as a script that sets them. */
export const EXPORTS = "(export -n SHLVL PWD OLDPWD _; export -p)";

function body(options: RemoteCommand): string {
  const quoted = shellQuote(options.command);
  const run = options.pty
    ? `if command -v script >/dev/null; then script -qefc ${quoted} /dev/null; else eval ${quoted}; fi`
    : `eval ${quoted}`;
  const restore =
    options.state === "none"
      ? ""
      : '[ -r "$__h_d/state" ] && . "$__h_d/state" 2>/dev/null; [ -r "$__h_d/own" ] && . "$__h_d/own" 2>/dev/null\n';
  const go = options.cwd === "" ? "" : `cd -- ${shellQuote(options.cwd)} || exit 126\n`;
  if (options.state !== "keep") return `${restore}${go}${run}`;
  return `${restore}${go}${run}\n__h_c=$?; pwd -P > "$__h_d/cwd.$$"; ${EXPORTS} > "$__h_d/new.$$"; exit $__h_c`;
}

/**
 * Standard input carries one instruction per line: `w<base64>` is input for the command, `c` closes its input, `k`
 * stops the process group. The end of standard input means that this program has ended, and stops the group too.
 */
export function remoteScript(options: RemoteCommand): string {
  const lines = [
    `printf '\\036%s:begin\\036' ${options.token}`,
    `__h_t=${options.token}; __h_d=${shellQuote(options.folder)}; umask 077; [ -d "$__h_d" ] || mkdir "$__h_d" || exit 126`,
    "umask 022; exec 9<&0 </dev/null 2>&1",
    options.input
      ? // The command reads from an anonymous pipe: opening /dev/stdin again would block on a named one.
        'mkfifo -m 600 "$__h_d/in.$$" && exec 8<>"$__h_d/in.$$" 6<"$__h_d/in.$$" 7< <(exec cat <&6 8>&- 9<&-) 6<&-; rm -f "$__h_d/in.$$"'
      : "exec 7</dev/null 8>/dev/null",
    `set -m\n{ set +m\n${body(options)}\n} <&7 7<&- 8>&- 9<&- &\n__h_p=$!; set +m; exec 7<&-`,
    `printf '\\036%s:pid:%s\\036' "$__h_t" "$__h_p"`,
    `{ while IFS= read -r -u 9 __h_l; do case $__h_l in w*) printf %s "\${__h_l#w}" | base64 -d >&8;; c) exec 8>&-;; k) break;; esac; done`,
    "exec 8>&-; kill -TERM -- -$__h_p; sleep 1; kill -KILL -- -$__h_p; } >/dev/null 2>&1 &",
    "__h_w=$!; exec 8>&- 9<&- 2>/dev/null; wait $__h_p; __h_c=$?; kill -KILL -- -$__h_p; kill -KILL $__h_w; __h_n=",
    options.state === "keep"
      ? '[ -s "$__h_d/new.$$" ] && mv -f "$__h_d/new.$$" "$__h_d/state" && IFS= read -r __h_n < "$__h_d/cwd.$$"; rm -f "$__h_d/cwd.$$"'
      : ":",
    `printf '\\036%s:end:%s:%s\\036' "$__h_t" "$__h_c" "$__h_n"; exit 0`,
  ];
  return lines.join("\n");
}
