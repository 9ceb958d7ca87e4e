// Variables that make other programs run something: editors, pagers, loaders, start-up files.
import type { Invocation } from "./shell-types.ts";

/** The value is a command. */
const COMMANDS =
  /^(?:GIT_(?:EDITOR|SEQUENCE_EDITOR|EXTERNAL_DIFF|SSH_COMMAND|SSH|ASKPASS|PAGER|PROXY_COMMAND)|SSH_ASKPASS|SUDO_ASKPASS|PAGER|MANPAGER|EDITOR|VISUAL|FCEDIT|LESSOPEN|LESSCLOSE|BROWSER|PROMPT_COMMAND|CARGO_BUILD_RUSTC_WRAPPER|RUSTC_WRAPPER)$/;
/** Any value makes programs load code or settings that run commands. */
const LOADERS =
  /^(?:BASH_ENV|ENV|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|PERL5OPT|PERL5DB|PYTHONSTARTUP|MAKEFILES|EXINIT|VIMINIT|GVIMINIT|GIT_CONFIG_(?:GLOBAL|SYSTEM|COUNT|PARAMETERS|KEY_\d+|VALUE_\d+)|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|SHELLOPTS|npm_config_script_shell|NPM_CONFIG_SCRIPT_SHELL)$|^BASH_(?:ALIASES|CMDS|FUNC_)/;
const OPTIONS: readonly [RegExp, RegExp][] = [
  [/^NODE_OPTIONS$/, /--(?:require|import|loader|experimental-loader|eval)|(?:^|\s)-r/],
  [/^RUBYOPT$/, /-r|-e/],
  [/^TAR_OPTIONS$/, /exec|command|program|remove|-I/],
  [/^MAKEFLAGS$/, /eval|-f|file/],
  [/^PS[0-4]$/, /\$\(|`|\$\{/],
  [/^PATH$/, /^(?:\/tmp|\/var\/tmp|\/dev\/shm|\.|:|$)/],
];
const HARMLESS_VALUE = /^(?:|0|\/dev\/null|true|false)$/;
const PLAIN_COMMAND =
  /^(?:\/(?:usr\/(?:local\/)?)?s?bin\/)?(?:cat|less|more|most|bat|true|false|:|vi|vim|nvim|nano|emacs|code|subl|ed|echo|ssh|head|tee)(?:\s+[-\w=.@/:]+)*$/;

/** Commands in the values of variables, to be checked like any other. */
export function environmentCommands(invocation: Invocation): string[] {
  return Object.entries(invocation.values ?? {}).flatMap(([name, value]) =>
    COMMANDS.test(name) && value !== undefined && !PLAIN_COMMAND.test(value) ? [value.replace(/^[|-]+/, "")] : [],
  );
}

/** Names of variables that make a program run something unknown. */
export function runningVariables(invocation: Invocation): string[] {
  const own = Object.entries(invocation.values ?? {}).flatMap(([name, value]) => {
    if (LOADERS.test(name)) return value !== undefined && HARMLESS_VALUE.test(value) ? [] : [name];
    if (COMMANDS.test(name)) {
      // A command that is only known at run time, or a file with unknown content.
      const opaque = value === undefined || /^\.{0,2}\/|^~|^[^\s]+\//.test(value.replace(/^[|-]+/, ""));
      return opaque && !(value !== undefined && PLAIN_COMMAND.test(value)) ? [name] : [];
    }
    return OPTIONS.some(([key, pattern]) => key.test(name) && pattern.test(value ?? "")) ? [name] : [];
  });
  const functions = invocation.args.filter((word) => /^BASH_FUNC_\w+/.test(word.text)).map((word) => word.text);
  return [...own, ...functions];
}
