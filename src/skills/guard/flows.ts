// Rules about whole programs: private data that is sent, downloaded text that is run, persistent changes.
import {
  AUTOSTART_PATH,
  type Capability,
  COMMAND_SHADOWING,
  DECODES,
  EVALUATES,
  FETCHES,
  PRIVATE,
  REQUEST_INPUT,
  SECRET_PATH,
  SENDS,
  WALKS_HOME,
  WRITES,
} from "./capabilities.ts";
import type { Category, Finding, Severity } from "./finding.ts";
import { matches, registerRules } from "./literal-gate.ts";
import type { CodeLine, Program } from "./units.ts";

registerRules([
  ...[...PRIVATE, ...SENDS, ...FETCHES, ...EVALUATES, ...DECODES, ...REQUEST_INPUT].map(({ match }) => match),
  AUTOSTART_PATH,
  COMMAND_SHADOWING,
  WALKS_HOME,
]);

interface Rule {
  readonly id: string;
  readonly category: Category;
  readonly severity: Severity;
  readonly description: string;
}

export type Hit = Rule & CodeLine;

function first(program: Program, capabilities: readonly Capability[]): CodeLine | undefined {
  return program.lines.find(({ text }) => can(capabilities, text));
}

/** True when the line has one of the capabilities. */
function can(capabilities: readonly Capability[], text: string): boolean {
  return capabilities.some(({ match, unless }) => matches(match, text) && !unless?.test(text));
}

const rule = (id: string, category: Category, severity: Severity, description: string): Rule => ({
  id,
  category,
  severity,
  description,
});

const SENDS_PRIVATE = rule(
  "sends_private_data",
  "exfiltration",
  "critical",
  "reads private data and sends it to another machine",
);
const RUNS_REMOTE = rule("runs_remote_text", "supply_chain", "critical", "runs text from the network");
const RUNS_DOWNLOAD = rule(
  "runs_download",
  "supply_chain",
  "critical",
  "downloads a program and runs it without verification",
);
const RUNS_CHECKED = rule("runs_checked_download", "supply_chain", "medium", "downloads a program and runs it");
const UNPACKS = rule("runs_unpacked_download", "supply_chain", "high", "downloads an archive and runs its content");
const ASSEMBLED = rule("assembled_word", "obfuscation", "critical", "a dangerous word that is assembled from pieces");
const PERSISTS_ONLINE = rule(
  "persistent_network_code",
  "persistence",
  "critical",
  "installs code that runs automatically and uses the network",
);
const PERSISTS_NEAR_NETWORK = rule(
  "persistent_code_with_network",
  "persistence",
  "high",
  "installs code that runs automatically, in a program that uses the network",
);
const SHADOWS = rule("shadows_command", "persistence", "critical", "replaces a common command");
const REMOTE_SHELL = rule("remote_control", "network", "critical", "runs commands from another machine");
const RUNS_HIDDEN = rule("runs_decoded_text", "obfuscation", "critical", "decodes text and runs it");
const RUNS_REQUESTS = rule("runs_request_input", "network", "critical", "runs commands from network requests");
const DESTROYS_FILES = rule(
  "destroys_user_files",
  "destructive",
  "critical",
  "searches the user's files and deletes or encrypts them",
);
const APPROVALS_OFF = rule("approvals_off", "privilege_escalation", "critical", "settings that turn approvals off");
const TUNNEL_REPORTED = rule(
  "tunnel_reported",
  "network",
  "critical",
  "opens a tunnel to this machine and sends its address",
);
const PHISHES = rule(
  "asks_password_and_sends",
  "exfiltration",
  "critical",
  "asks for a password and sends it to another machine",
);

/** Words that harmless programs write literally. */
const LITERAL_WORDS: readonly RegExp[] = [
  /\bcurl\b/i,
  /\bwget\b/i,
  /\b(?:bash|zsh|\/bin\/sh)\b/i,
  /os\.system|\bsubprocess\b|child_process/i,
  /authorized_keys/i,
  /\bid_(?:rsa|ed25519)\b/i,
  /\.ssh\b/i,
  /\.aws\b/i,
  /sudoers/i,
  /NOPASSWD/i,
  /Invoke-Expression|DownloadString/i,
  /\beval\b/i,
  /\brm\s+-rf?\b/i,
  /\bcrontab\b/i,
  /\.netrc|\.npmrc|\.gnupg|\.kube\b/i,
  /\bbase64\b/i,
];

function assembledWords(program: Program): Hit[] {
  const hidden = LITERAL_WORDS.filter((word) => !word.test(program.raw));
  const found = program.lines.find(({ text }) => hidden.some((word) => word.test(text)));
  return found ? [{ ...ASSEMBLED, ...found }] : [];
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The file that a line downloads to. */
function downloadedTo(text: string): string | undefined {
  if (!FETCHES.some(({ match }) => matches(match, text))) return undefined;
  const named =
    /\s(?:-o|--output(?:-document)?|-O|-OutFile|--out)[= ]\s*["']?([^\s"';&|]+)/i.exec(text)?.[1] ??
    /\b(?:urlretrieve|DownloadFile)\(\s*[^,\n]+,\s*["']?([^"')\s]+)/i.exec(text)?.[1] ??
    /(?<![0-9&])>\s*["']?([^\s"';&|>]+)/.exec(text)?.[1];
  if (named && !/^(?:https?:|-|\/dev\/)/.test(named)) return named;
  const folder = /\s-P\s+["']?([^\s"']+)/.exec(text)?.[1];
  const base = /https?:\/\/[^\s"'?#]*\/([\w.+-]+)/.exec(text)?.[1];
  if (!base || !/\bwget\b|\bcurl\b[^\n]*\s-[a-zA-Z]*O/.test(text)) return undefined;
  return folder ? `${folder.replace(/\/$/, "")}/${base}` : base;
}

const CHECKED =
  /\b(?:sha\d+sum|shasum)\b[^\n]*(?:-c\b|--check)|\bgpg2?\b[^\n]*--verify|\bcosign\s+verify|\bminisign\b|Get-FileHash|hashlib\.sha|\b(?:less|more|bat|view|cat|vim?|nano|Get-Content)\s/i;

function runsPattern(path: string): RegExp {
  const place = `["']?(?:\\./)?${escaped(path.replace(/^\.\//, ""))}["']?(?=[\\s;&|)"'\`,\\]]|$)`;
  const bare = /\//.test(path) ? `(?:^|[;&|(\`]\\s*|\\bsudo\\s+|["'(\\[]\\s*)${place}|` : "";
  return new RegExp(
    `${bare}(?:^|[;&|(\`]\\s*|\\bsudo\\s+)["']?\\./${escaped(path.replace(/^\.\//, ""))}|(?:^|[;&|(\`"'\\s])(?:(?:ba|z|da)?sh|source|\\.|python3?|node|perl|ruby|php|exec|nohup|Start-Process|pwsh|powershell|deno run|bun|msiexec|open|&)\\s+(?:-\\S+\\s+)*${place}|(?:run|Popen|call|spawn\\w*|execFile\\w*|system|execSync|check_\\w+)\\(\\s*\\[?\\s*(?:["'](?:ba|z)?sh["'],\\s*|["']python3?["'],\\s*)?${place}`,
    "i",
  );
}

function runsDownload(program: Program): Hit[] {
  const lines = program.lines;
  for (const [index, line] of lines.entries()) {
    const path = downloadedTo(line.text);
    if (path === undefined || path.length < 2) continue;
    const after = [...line.text.split(/&&|;/).slice(1), ...lines.slice(index + 1).map((next) => next.text)];
    const runs = runsPattern(path);
    const at = after.findIndex((text) => runs.test(text));
    if (at >= 0) {
      const checked = after.slice(0, at).some((text) => CHECKED.test(text));
      return [{ ...(checked ? RUNS_CHECKED : RUNS_DOWNLOAD), ...line }];
    }
    if (!/\.(?:tar|t?gz|tgz|zip|xz|bz2)\b/i.test(path)) continue;
    const unpack = after.findIndex((text) => /\b(?:tar|unzip|7z|Expand-Archive)\b/i.test(text));
    const verified = after.some((text) => CHECKED.test(text));
    if (
      unpack >= 0 &&
      !verified &&
      after.slice(unpack).some((text) => /(?:^|[;&|(]\s*|\bnohup\s[^\n]*)\.\/\S/.test(text))
    )
      return [{ ...UNPACKS, ...line }];
  }
  return [];
}

/** Lines that are written to a file that runs automatically: on the same line, or in the text that follows. */
function writtenText(program: Program, at: number): string {
  const start = program.lines[at]?.text ?? "";
  const end = /<<-?\s*["']?(\w+)["']?/.exec(start)?.[1];
  if (end === undefined) return start;
  const rest = program.lines.slice(at + 1).map((line) => line.text);
  const stop = rest.findIndex((text) => text.trim() === end);
  return [start, ...rest.slice(0, stop < 0 ? 40 : stop)].join("\n");
}

function persists(program: Program): Hit[] {
  const hits: Hit[] = [];
  const online = [...SENDS, ...FETCHES];
  for (const [index, line] of program.lines.entries()) {
    if (!matches(COMMAND_SHADOWING, line.text) && !matches(AUTOSTART_PATH, line.text)) continue;
    if (!WRITES.test(line.text)) continue;
    if (matches(COMMAND_SHADOWING, line.text)) hits.push({ ...SHADOWS, ...line });
    if (!matches(AUTOSTART_PATH, line.text)) continue;
    const written = writtenText(program, index);
    const body = written.split("\n");
    const calls = body.some((text) => online.some(({ match }) => matches(match, text)));
    const harmful = body.some((text) => [...SENDS, ...EVALUATES].some(({ match }) => matches(match, text)));
    const fetched = program.lines.some((other) => {
      const path = downloadedTo(other.text);
      return path !== undefined && path.length > 3 && written.includes(path);
    });
    if ((calls && harmful) || fetched) hits.push({ ...PERSISTS_ONLINE, ...line });
    else if (!program.inText && first(program, online)) hits.push({ ...PERSISTS_NEAR_NETWORK, ...line });
  }
  return hits.slice(0, 3);
}

const SHELL =
  /\b(?:ba|z|da|k)?sh\s+-i\b|["'](?:\/bin\/|\/usr\/bin\/)?(?:ba|z|da)?sh["']|\/bin\/(?:ba|z|da)?sh\b|\bcmd(?:\.exe)?\b["']|\bpowershell(?:\.exe)?["']|pty\.spawn/i;
const STREAM =
  /\bopenssl\s+s_client|\b(?:nc|ncat|netcat|socat|telnet|websocat)\s+\S|\/dev\/(?:tcp|udp)\/|\/inet\/(?:tcp|udp)\/|socket\.socket|create_connection\(|TCPSocket|TcpClient|net\.(?:connect|createConnection|Socket)|fsockopen|IO::Socket|new\s+WebSocket|websocket\.|net\.Dial/i;
const RECEIVES =
  /\.recv\(|\.on\(\s*["'](?:data|message)["']|\bgets\b|getline|\.read(?:line)?\(|\.GetStream\(|<\$?\w+>|onmessage/i;
const COMMANDS =
  /\bsubprocess\.|os\.(?:system|popen)|\bexec(?:Sync|File|FileSync)?\(|\bspawn(?:Sync)?\(|\biex\b|Invoke-Expression|\bpopen\b|`#\{|\|&|Process\.Start|\bsystem\(/i;

function remoteControl(program: Program): Hit[] {
  const single = program.lines.find(
    ({ text }) =>
      /\/inet\/(?:tcp|udp)\//.test(text) ||
      (SHELL.test(text) && STREAM.test(text) && /[|<>]|dup2|pipe\(|exec/.test(text)),
  );
  if (single) return [{ ...REMOTE_SHELL, ...single }];
  const stream = first(program, [{ match: STREAM }]);
  const runsInput = first(program, [{ match: RECEIVES }]) && first(program, [{ match: COMMANDS }]);
  const connected =
    first(program, [{ match: SHELL }]) && first(program, [{ match: /dup2\(|\.pipe\(|stdin\s*=\s*\w+|stdio:/ }]);
  return stream && !program.inText && (runsInput || connected) ? [{ ...REMOTE_SHELL, ...stream }] : [];
}

/** A private path that is read on the line that sends data, or anywhere in a program file that sends. */
function sendsPrivateData(program: Program): Hit[] {
  const source = first(program, PRIVATE);
  if (!source) return [];
  if (!program.inText) return first(program, SENDS) ? [{ ...SENDS_PRIVATE, ...source }] : [];
  // Commands in a text may be unrelated steps: they must be close together, and the path must be read, not only named.
  const near = program.lines.filter((line) => Math.abs(line.line - source.line) <= 6);
  const sends = near.find(({ text }) => SENDS.some(({ match, unless }) => match.test(text) && !unless?.test(text)));
  return sends &&
    (sends === source ||
      !SECRET_PATH.test(source.text) ||
      /\b(?:cat|tar|zip|base64|xxd|cp|gzip|openssl|head|tail|grep|read|open)\b|=\$?\(/i.test(source.text))
    ? [{ ...SENDS_PRIVATE, ...source }]
    : [];
}

const EVALUATES_ALIAS = { match: /(?:^|[=,:([]\s*)(?:exec|eval|Function)\s*(?:[;,)\]}]|$)/m };

/** In JavaScript `exec` starts a program by name; in other languages it runs code. */
function evaluates(program: Program): CodeLine | undefined {
  const commands = /child_process/.test(program.raw);
  const found = program.lines.filter(({ text }) =>
    [...EVALUATES, EVALUATES_ALIAS].some(({ match }) => matches(match, text)),
  );
  return found.find(
    ({ text }) => !commands || EVALUATES.some(({ match }) => match.test(text.replaceAll(/\bexec\s*\(/g, "start("))),
  );
}

const REMOVES =
  /\bos\.(?:remove|unlink)\(|\.unlink\(|\brmtree\(|\brm\s+-|\b(?:rm|unlink)(?:Sync)?\(|\bRemove-Item\b|File\.delete|FileUtils\.rm|\bshred\b|os\.Remove(?:All)?\(|\bunlink\b|\.encrypt\(|createCipheriv|AES\.new|\bopenssl\s+enc\b|\.truncate\(/i;

function destroysFiles(program: Program): Hit[] {
  const walks = program.lines.find(({ text }) => matches(WALKS_HOME, text));
  return walks && !program.inText && first(program, [{ match: REMOVES }]) ? [{ ...DESTROYS_FILES, ...walks }] : [];
}

function runsRequestInput(program: Program): Hit[] {
  const asked = first(program, REQUEST_INPUT);
  const runs =
    asked &&
    first(program, [
      {
        match:
          /\b(?:shell_exec|passthru|proc_open|popen|system|exec|eval|execSync|spawn)\s*\(|subprocess\.|os\.(?:system|popen)|`\$/i,
      },
    ]);
  return asked && runs && !program.inText ? [{ ...RUNS_REQUESTS, ...asked }] : [];
}

const TUNNEL =
  /\b(?:ngrok|cloudflared\s+tunnel|localtunnel|lt\s+--port|bore\s+local|frpc|serveo)\b|\bssh\b[^\n]*\s-\w*R\s*\d/i;
const PASSWORD_PROMPT =
  /\[sudo\]|password for \$|display dialog[^\n]*(?:password|hidden answer)|Get-Credential|\b(?:keychain|system|login|macOS|Windows) password/i;

/** A block of settings that spans several lines. */
function approvalsOff(program: Program): Hit[] {
  const off = /\bapprovals["']?\s*:\s*\{?\s*["']?mode["']?\s*:\s*["']?(?:off|never|none|false)\b/i;
  const found = program.lines.find((line, index) => off.test(`${line.text}\n${program.lines[index + 1]?.text ?? ""}`));
  return found ? [{ ...APPROVALS_OFF, ...found }] : [];
}

export function flowHits(program: Program): Hit[] {
  const fetches = first(program, FETCHES);
  const runs = evaluates(program);
  const hidden = runs && !program.inText && first(program, DECODES);
  const tunnel = program.inText ? undefined : first(program, [{ match: TUNNEL }]);
  const asks = first(program, [{ match: PASSWORD_PROMPT }]);
  return [
    ...sendsPrivateData(program),
    ...(fetches && runs && (!program.inText || fetches === runs) ? [{ ...RUNS_REMOTE, ...runs }] : []),
    ...(hidden ? [{ ...RUNS_HIDDEN, ...hidden }] : []),
    ...approvalsOff(program),
    ...destroysFiles(program),
    ...runsRequestInput(program),
    ...runsDownload(program),
    ...assembledWords(program),
    ...persists(program),
    ...remoteControl(program),
    ...(tunnel && first(program, SENDS) ? [{ ...TUNNEL_REPORTED, ...tunnel }] : []),
    ...(asks && first(program, SENDS) ? [{ ...PHISHES, ...asks }] : []),
  ];
}

export function toFinding(hit: Hit, file: string): Finding {
  const { id, category, severity, description, line, text } = hit;
  return { pattern_id: id, category, severity, description, file, line, match: text.trim().slice(0, 120) };
}
