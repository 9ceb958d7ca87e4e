// Programs that only read and print: they run without approval where commands cannot be contained.
import { basename } from "node:path";
import type { Invocation } from "./shell/shell-types.ts";

const READERS = new Set(
  (
    "ls cat head tail wc nl tac rev cut paste tr uniq comm join fold fmt column expand unexpand cmp diff sum cksum md5sum " +
    "sha1sum sha256sum sha512sum b2sum base64 od xxd hexdump strings file stat du df pwd basename dirname realpath readlink " +
    "which type command whereis whoami id groups uname arch hostname date cal uptime nproc free ps pgrep pstree lsblk lscpu " +
    "lsusb lspci printenv echo printf true false test [ [[ : seq factor expr bc sleep tree jq grep egrep fgrep rg zgrep " +
    "zcat bzcat xzcat getent locale tput man info help history cd pushd popd export set unset local declare return exit"
  ).split(" "),
);

/** Options with which a reader writes files or runs programs. */
const WRITING_OPTIONS: Readonly<Record<string, RegExp>> = {
  file: /^(?:-C|--compile)$/,
  date: /^(?:-s|--set)/,
  hostname: /^[^-]/,
  tree: /^-o/,
  xxd: /^-r/,
  man: /^(?:-P|--pager|-H|--html)/,
  command: /^[^-]/,
  rg: /^--(?:pre|hostname-bin|search-zip)|^-z/,
  column: /^$/,
};

const GIT_READERS = new Set(
  "status log show diff shortlog describe rev-parse rev-list ls-files ls-tree cat-file blame name-rev merge-base for-each-ref count-objects whatchanged".split(
    " ",
  ),
);
const GIT_RUNS = /^(?:-c|--exec-path|--git-dir|--work-tree|-C|--ext-diff|--textconv|--output|-o|--no-index|-O|--open)/;
const FIND_ACTIONS = /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/;

/** Builtins that evaluate what looks like an array index, such as `a[$(command)]`. */
const EVALUATORS = new Set("test [ [[ printf declare export set unset local expr".split(" "));

/** True when the call reads and prints and nothing else. */
export function isReadOnlyCall({ name, args, redirects, assigned }: Invocation): boolean {
  if (name.dynamic || assigned.length > 0) return false;
  if (redirects.some(({ operator, target }) => operator.includes(">") && !/^(?:\/dev\/null|[0-9])$/.test(target.text)))
    return false;
  const program = basename(name.text);
  if (name.text.includes("/") && !/^\/(?:usr\/)?s?bin\//.test(name.text)) return false;
  const words = args.map((arg) => arg.text);
  if (EVALUATORS.has(program) && args.some(({ text, dynamic }) => dynamic || /\$\(|`|\[./.test(text))) return false;
  if (program === "find") return !words.some((word) => FIND_ACTIONS.test(word)) && !args.some((arg) => arg.dynamic);
  if (program === "sort") return !words.some((word) => /^-o|^--output|^--compress|^-T/.test(word));
  if (program === "git")
    return (
      GIT_READERS.has(words[0] ?? "") && !words.some((word) => GIT_RUNS.test(word)) && !args.some((arg) => arg.dynamic)
    );
  if (!READERS.has(program)) return false;
  const risky = WRITING_OPTIONS[program];
  return !risky || !words.some((word) => risky.test(word));
}
