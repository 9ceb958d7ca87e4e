// Detects commands that would not end in the foreground, such as servers, before they run.

const DETACHERS = /(^|[;&|(]\s*)(nohup|disown|setsid)\b/;
const SERVERS: readonly RegExp[] = [
  /\b(npm|pnpm|yarn|bun)\s+(run\s+)?(dev|start|serve|watch)\b/,
  /\bdocker[ -]compose\s+up\b(?!.*\s-d\b)(?!.*--detach)/,
  /\b(next\s+dev|vite(?!st)\b(?!\s+build)|nodemon|uvicorn|gunicorn|flask\s+run)\b/,
  /\bpython3?\s+-m\s+http\.server\b/,
  /\b(tail\s+-[a-zA-Z]*[fF]|watch)\s/,
];
const ASKS_FOR_HELP = /\s(--help|-h|--version|-V)(\s|$)/;

/** Replaces quoted text, which is not shell syntax. */
function withoutQuotes(command: string): string {
  return command.replaceAll(/'[^']*'|"(?:\\.|[^"\\])*"/g, "''").replaceAll(/\\./g, "");
}

/** True for an `&` that starts a background job, but not for `&&` and redirects such as `2>&1` or `&>`. */
function hasBackgroundJob(command: string): boolean {
  return /(?<![&>|<])&(?![&>\d])/.test(command);
}

export function foregroundProblem(command: string): string | undefined {
  const bare = withoutQuotes(command);
  if (ASKS_FOR_HELP.test(bare)) return undefined;
  if (DETACHERS.test(bare)) return "nohup, disown and setsid hide a process; start it with background: true instead";
  if (hasBackgroundJob(bare))
    return "a job started with & is lost when the command ends; start it with background: true instead";
  if (SERVERS.some((pattern) => pattern.test(bare)))
    return "this looks like a server or a watcher that does not end; start it with background: true";
  return undefined;
}
