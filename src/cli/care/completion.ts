// `hermes completion bash|zsh|fish`: a script for the shell, generated from the command table.
import { UserError } from "../../core/failure.ts";
import { chatOptions } from "../chat-options.ts";
import type { CliCommand, CliOption, CommandTable } from "../command.ts";

/** What may follow a sequence of command words. */
interface CompletionPoint {
  /** `hermes sessions list`. */
  readonly path: string;
  readonly commands: readonly (readonly [name: string, summary: string])[];
  readonly options: readonly (readonly [flag: string, help: string])[];
}

type Options = { readonly [name: string]: CliOption };

function flags(options: Options): [string, string][] {
  const own = Object.entries(options).flatMap(([name, { short, help }]): [string, string][] => [
    [`--${name}`, help],
    ...(short ? [[`-${short}`, help] as [string, string]] : []),
  ]);
  return [...own, ["--help", "Show the help"], ["--profile", "Use this profile"]];
}

function pointsOf(command: CliCommand, parent: string): CompletionPoint[] {
  const path = `${parent} ${command.name}`;
  const subcommands = command.subcommands ?? [];
  const fallback = subcommands.find((sub) => sub.name === command.defaultSubcommand);
  const options = { ...fallback?.options, ...command.options };
  const names = subcommands.flatMap((sub) => [sub.name, ...(sub.aliases ?? [])].map((name) => [name, sub.summary]));
  const own: CompletionPoint = { path, commands: names as [string, string][], options: flags(options) };
  const below = subcommands.flatMap((sub) =>
    [sub.name, ...(sub.aliases ?? [])].flatMap((name) => pointsOf({ ...sub, name }, path)),
  );
  return [own, ...below];
}

/** Every point, the program itself first. */
async function completionPoints(commands: CommandTable): Promise<CompletionPoint[]> {
  const loaded = await Promise.all(Object.values(commands).map((entry) => entry.load()));
  const top: CompletionPoint = {
    path: "hermes",
    commands: Object.entries(commands).map(([name, entry]) => [name, entry.summary] as const),
    options: [...flags(chatOptions), ["--version", "Print the version"]],
  };
  return [top, ...loaded.flatMap((command) => pointsOf(command, "hermes"))];
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Follows the words before the cursor as long as they are commands; used by all three shells. */
function knownPaths(points: readonly CompletionPoint[]): string {
  return points
    .slice(1)
    .map(({ path }) => quoted(path))
    .join("|");
}

function bashScript(points: readonly CompletionPoint[]): string {
  const cases = points.map(({ path, commands: names, options }) => {
    const words = names.map(([name]) => name).join(" ");
    return `    ${quoted(path)}) words=${quoted(words)}; flags=${quoted(options.map(([flag]) => flag).join(" "))} ;;`;
  });
  return `# bash completion for hermes. Install: hermes completion bash > ~/.local/share/bash-completion/completions/hermes
_hermes() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" at=hermes words="" flags="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${knownPaths(points)}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at" in
${cases.join("\n")}
  esac
  COMPREPLY=()
  if [[ "$cur" == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$cur")
  elif [[ -n "$words" ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  fi
}
complete -o bashdefault -o default -F _hermes hermes
`;
}

function zshScript(points: readonly CompletionPoint[]): string {
  const described = (rows: CompletionPoint["options"]) =>
    rows.map(([name, text]) => quoted(`${name.replaceAll(":", "\\:")}:${text}`)).join(" ");
  const cases = points.map(
    ({ path, commands: names, options }) =>
      `    ${quoted(path)}) words_=(${described(names)}); flags_=(${described(options)}) ;;`,
  );
  return `#compdef hermes
# zsh completion for hermes. Install: hermes completion zsh > a file named _hermes in a folder of $fpath
_hermes() {
  local at=hermes i
  local -a words_ flags_
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
      ${knownPaths(points)}) at="$at \${words[i]}" ;;
    esac
  done
  case "$at" in
${cases.join("\n")}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe 'option' flags_
  elif (( \${#words_} )); then
    _describe 'command' words_
  else
    _files
  fi
}
if [[ "$funcstack[1]" == "_hermes" ]]; then _hermes "$@"; else compdef _hermes hermes; fi
`;
}

function fishScript(points: readonly CompletionPoint[]): string {
  const fishQuoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = points.flatMap(({ path, commands: names, options }) => {
    const here = `-n ${fishQuoted(`test (__hermes_at) = "${path}"`)}`;
    return [
      ...names.map(([name, text]) => `complete -c hermes -f ${here} -a ${fishQuoted(name)} -d ${fishQuoted(text)}`),
      ...options.map(([flag, text]) => {
        const kind = flag.startsWith("--") ? "-l" : "-s";
        return `complete -c hermes ${here} ${kind} ${fishQuoted(flag.replace(/^-+/, ""))} -d ${fishQuoted(text)}`;
      }),
    ];
  });
  const known = points.slice(1).map(({ path }) => fishQuoted(path));
  return `# fish completion for hermes. Install: hermes completion fish > ~/.config/fish/completions/hermes.fish
set -g __hermes_paths ${known.join(" ")}
function __hermes_at
  set -l at hermes
  for word in (commandline -opc)[2..-1]
    if contains -- "$at $word" $__hermes_paths
      set at "$at $word"
    end
  end
  echo $at
end
${lines.join("\n")}
`;
}

const SCRIPTS: { readonly [shell: string]: (points: readonly CompletionPoint[]) => string } = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export const completionCommand: CliCommand = {
  name: "completion",
  args: "bash|zsh|fish",
  summary: "Print the completion script of a shell",
  maxPositionals: 1,
  examples: [
    "hermes completion bash > ~/.local/share/bash-completion/completions/hermes",
    "hermes completion fish > ~/.config/fish/completions/hermes.fish",
  ],
  run: async ({ positionals, terminal, home, commands }) => {
    const shell = positionals[0] ?? (home.env.SHELL ?? "").split("/").at(-1) ?? "";
    const script = SCRIPTS[shell];
    if (!script)
      throw new UserError(shell === "" ? "for which shell?" : `there is no completion for "${shell}"`, {
        hint: "Use one of: bash, zsh, fish",
        exitCode: 2,
      });
    terminal.out(script(await completionPoints(commands)));
    return 0;
  },
};
