// Patterns for commands and code that destroys, hides, persists, escalates privileges or contacts other hosts.
import type { Pattern } from "./finding.ts";
import { isVendorInstaller } from "./known-installers.ts";

/** Hosts whose purpose is to receive data. */
const DROP_HOSTS =
  "webhook\\.site|requestbin|pipedream\\.net|beeceptor|hookbin|ngrok(?:-free)?\\.(?:io|app|dev)|interact\\.sh|oast\\.(?:fun|live|pro|me|site)|burpcollaborator|canarytokens|dnslog|transfer\\.sh|file\\.io|0x0\\.st|termbin\\.com|paste\\.rs|ix\\.io|discord(?:app)?\\.com/api/webhooks|api\\.telegram\\.org/bot(?![$<{])";

const DOWNLOAD_TO_INTERPRETER =
  /\b(?:curl|wget|iwr|irm|Invoke-WebRequest|Invoke-RestMethod|fetch)\b[^\n;]*\|\s*(?:sudo\s+(?:-\w+\s+)*)?(?:env\s+\S+\s+)?(?:\/\S*\/)?(?:ba|z|da|k|fi)?sh\b|\b(?:curl|wget)\b[^\n;]*\|\s*(?:sudo\s+)?(?:python3?|node|perl|ruby|php|iex|powershell|pwsh)\b(?!\s+(?:-\w*[cemnpr]\b|--eval|--print|[\w./$-]*\.(?:py|js|mjs|pl|rb|php)\b))|\b(?:ba|z)?sh\s+(?:-c\s+)?["']?(?:<\(\s*|\$\(\s*)(?:curl|wget)\b|\b(?:source|\.)\s+<\(\s*(?:curl|wget)|\beval\s+["']?\$\(\s*(?:curl|wget)|\biex\b[^\n]*(?:iwr|irm|DownloadString)|python3?\s+-c\s+["'][^\n]*(?:urlopen|requests\.get)\([^\n]*exec/i;

export const COMMAND_PATTERNS: readonly Pattern[] = [
  // destructive
  {
    id: "delete_root_or_home",
    category: "destructive",
    severity: "critical",
    description: "deletes the system or the whole home directory",
    match:
      /\brm\s+(?:-{1,2}[\w-]+\s+)*-{1,2}(?:[a-z]*r[a-z]*|recursive)(?:\s+-{1,2}[\w-]+)*\s+(?:--\s+)?["']?(?:\/|\/\*|~|~\/|~\/\*|\$\{?HOME\}?\/?\*?|\/(?:etc|usr|var|bin|lib|boot|home|root|opt|srv|Users)\/?\*?)["']?(?=\s|$|[;&|)`])/i,
    unlessWarned: true,
  },
  {
    id: "format_or_wipe_disk",
    category: "destructive",
    severity: "critical",
    description: "formats or overwrites a disk",
    match:
      /\bmkfs(?:\.\w+)?\s+\S*\/dev\/|\bdd\b[^\n]*\bof=\/dev\/(?:sd|hd|nvme|vd|disk|mmcblk)|>\s*\/dev\/(?:sd[a-z]|nvme\d|disk\d)|\bwipefs\s+-a|\bshred\b[^\n]*\/dev\//i,
    unlessWarned: true,
  },
  {
    id: "fork_bomb",
    category: "destructive",
    severity: "critical",
    description: "starts copies of itself without limit",
    match: /:\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:/,
  },
  {
    id: "overwrite_system_file",
    category: "destructive",
    severity: "critical",
    description: "empties or replaces a system file",
    match:
      /(?:^|[^>])>\s*\/etc\/(?:passwd|shadow|sudoers|hosts|fstab|ssh\/)|\btruncate\s+-s\s*0\s+\/(?:etc|var\/log)|\bfind\s+(?:\/|~|\$HOME)\s[^\n]*-delete\b/i,
    unlessWarned: true,
  },
  {
    id: "program_deletes_home",
    category: "destructive",
    severity: "critical",
    description: "a program deletes the home or the root folder",
    match:
      /rmtree\(\s*(?:["'](?:\/|~)["']|(?:os\.)?path\.expanduser\(\s*["']~\/?["']|Path\.home\(\))|rm(?:Sync)?\(\s*(?:["']\/["']|(?:os\.)?homedir\(\))/i,
  },
  {
    id: "destroy_history_or_backups",
    category: "destructive",
    severity: "high",
    description: "deletes backups or version history",
    match:
      /\bvssadmin\s+delete\s+shadows|\btmutil\s+(?:delete|disable)|\brm\s+-[a-z]*r[a-z]*\s+\S*\.git\/?(?:\s|$)|\bhistory\s+-c\b|\bunset\s+HISTFILE\b|HISTFILE=\/dev\/null/i,
    unlessWarned: true,
  },
  // network
  {
    id: "reverse_shell",
    category: "network",
    severity: "critical",
    description: "gives a shell to a remote machine",
    match:
      /\/dev\/(?:tcp|udp)\/[\w.$-]+\/[\d$]|\bn(?:et)?c(?:at)?\b[^\n|]*\s(?:-[a-z]*[ec]\s|--(?:sh-)?exec)|\bsocat\b[^\n]*exec:|\bmkfifo\b[^\n]*\bnc\b|\bbash\s+-i\s*[>&]|pty\.spawn\(\s*["'](?:\/bin\/)?(?:ba|z)?sh|\bn(?:et)?c(?:at)?\s+(?:-\S+\s+)*-(?=[a-z]*l)(?=[a-z]*p)[a-z]+\s*\d/i,
  },
  {
    id: "socket_to_shell",
    category: "network",
    severity: "critical",
    description: "a program connects its input and output to a socket",
    match:
      /os\.dup2\(\s*\w+\.fileno\(\)|net\.(?:connect|createConnection|Socket)\b[^\n]*(?:\/bin\/(?:ba)?sh|spawn\()|TCPSocket\.(?:new|open)\([^\n]*exec|fsockopen\([^\n]*(?:exec|proc_open)/i,
  },
  {
    id: "data_collector_host",
    category: "network",
    severity: "critical",
    description: "contacts a service that collects data",
    match: new RegExp(`https?://[^\\s"'\`)]*(?:${DROP_HOSTS})|\\b(?:${DROP_HOSTS})/`, "i"),
  },
  {
    id: "tunnel",
    category: "network",
    severity: "high",
    description: "opens a tunnel to this machine",
    match:
      /\b(?:ngrok\s+(?:http|tcp|start)|cloudflared\s+tunnel|localtunnel|lt\s+--port|serveo\.net|bore\s+local|frpc\b)|\bssh\b[^\n]*\s-R\s*\d/i,
  },
  {
    id: "public_ip_address",
    category: "network",
    severity: "medium",
    description: "a fixed public IP address instead of a host name",
    match:
      /\b(?:https?|tcp|udp|ftp|ws):\/\/(?!127\.|10\.|192\.168\.|0\.0\.0\.0|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|203\.0\.113\.|198\.51\.100\.|192\.0\.2\.)\d{1,3}(?:\.\d{1,3}){3}\b/i,
  },
  {
    id: "listens_on_all_interfaces",
    category: "network",
    severity: "low",
    description: "listens on every network interface",
    match:
      /\bbind\(\s*\(?\s*["'](?:0\.0\.0\.0|::)["']|--(?:host|bind|listen)[= ]0\.0\.0\.0|http\.server\b[^\n]*--bind\s+0\.0\.0\.0/i,
    unlessWarned: true,
  },
  // persistence
  {
    id: "ssh_backdoor",
    category: "persistence",
    severity: "critical",
    description: "adds a key for remote login",
    match:
      /(?:>>?|tee\s+(?:-a\s+)?|appendFile\w*\(|open\([^\n]*|write\w*\()[^\n]*\.ssh\/authorized_keys|authorized_keys[^\n]*(?:\.write\(|["']\s*,\s*["']a["'])|ssh-copy-id\s+-i/i,
  },
  {
    id: "changes_agent",
    category: "persistence",
    severity: "critical",
    description: "changes files with instructions for agents",
    match:
      /(?:(?<![\w<`"*-])>>?(?![\d`"=])|\btee\s+(?:-a\s+)?|sed\s+-i\S*\s[^\n]*|\bcp\s+\S+|\bmv\s+\S+|write_?[Tt]ext\(|appendFile\w*\(|writeFile\w*\()\s*[^\n]{0,60}(?:\.hermes\/(?:SOUL\.md|config\.yaml|\.env|memories\/|hooks\/|skills\/)|CLAUDE\.md|AGENTS\.md|\.cursorrules|\.claude\/settings|copilot-instructions\.md)/,
    unlessWarned: true,
  },
  {
    id: "shell_start_file",
    category: "persistence",
    severity: "high",
    description: "writes to a start-up file of the shell",
    match:
      /(?:>>?|tee\s+(?:-a\s+)?)\s*["']?(?:~|\$\{?HOME\}?|\/(?:home|Users)\/\w+|\/root|\/etc)\/\.?(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|bash_login|config\/fish)/i,
    unlessWarned: true,
  },
  {
    id: "scheduled_task",
    category: "persistence",
    severity: "high",
    description: "schedules itself to run repeatedly",
    match:
      /\|\s*crontab\b|\bcrontab\s+(?:-(?!l\b)|\S*\.txt|\/tmp)|>>?\s*\/etc\/cron|\bsystemctl\s+(?:--user\s+)?enable\b|>\s*\S*\/(?:LaunchAgents|LaunchDaemons|systemd\/(?:system|user))\/|\blaunchctl\s+(?:load|bootstrap)|\bschtasks\s+\/create|CurrentVersion\\Run\b|\bupdate-rc\.d\b|>>?\s*\/etc\/rc\.local/i,
    unlessWarned: true,
  },
  {
    id: "git_hook_or_global",
    category: "persistence",
    severity: "high",
    description: "installs code that Git runs",
    match:
      />>?\s*\S*\.git\/hooks\/|core\.hooksPath|git\s+config\s+--global\s+(?:alias|core\.(?:pager|editor|sshCommand|fsmonitor)|credential\.helper|url\.)/i,
    unlessWarned: true,
  },
  // privilege
  {
    id: "sudoers",
    category: "privilege_escalation",
    severity: "critical",
    description: "grants permissions without a password",
    match:
      /NOPASSWD\s*:|(?:>>?|tee\s+(?:-a\s+)?)\s*\/etc\/sudoers|\bvisudo\b[^\n]*<<|usermod\s+-aG\s+(?:sudo|wheel|docker|root)\b/i,
    unlessWarned: true,
  },
  {
    id: "setuid",
    category: "privilege_escalation",
    severity: "critical",
    description: "makes a program run with the permissions of its owner",
    match: /\bchmod\s+(?:[ugo]*\+s|[2467][0-7]{3})\b|\bsetuid\(\s*0\s*\)|\bsetcap\s+cap_set[ug]id/i,
  },
  {
    id: "world_writable",
    category: "privilege_escalation",
    severity: "medium",
    description: "makes files writable for all users",
    match: /\bchmod\s+(?:-R\s+)?(?:0?777|a\+rwx|o\+w)\b/i,
    unlessWarned: true,
  },
  {
    id: "disables_protection",
    category: "privilege_escalation",
    severity: "critical",
    description: "turns a protection off",
    match:
      /\bsetenforce\s+0\b|\bufw\s+disable\b|\biptables\s+-F\b|\bspctl\s+--master-disable|\bcsrutil\s+disable|Set-MpPreference\s+-Disable|\bxattr\s+-[a-z]*d[a-z]*\s+com\.apple\.quarantine|--dangerously-skip-permissions|\bapprovals\.mode\s+off\b|HERMES_YOLO_MODE\s*=\s*["']?(?:1|true|yes|on)/i,
    unlessWarned: true,
  },
  {
    id: "container_escape",
    category: "privilege_escalation",
    severity: "critical",
    description: "breaks out of a container",
    match:
      /\bdocker\s+run\b[^\n]*(?:--privileged|-v\s+\/:\/|--pid[= ]host)|\bnsenter\b[^\n]*-t\s*1\b|\/var\/run\/docker\.sock\b[^\n]*(?:curl|containers\/create)/i,
    unlessWarned: true,
  },
  // supply chain
  {
    id: "download_to_interpreter",
    category: "supply_chain",
    severity: "critical",
    description: "runs a download without verification",
    match: DOWNLOAD_TO_INTERPRETER,
    unless: isVendorInstaller,
    unlessWarned: true,
  },
  {
    id: "vendor_installer",
    category: "supply_chain",
    severity: "medium",
    description: "runs the installer of a known vendor from the network",
    match: DOWNLOAD_TO_INTERPRETER,
    unless: (text) => !isVendorInstaller(text),
    unlessWarned: true,
  },
  {
    id: "download_then_run",
    category: "supply_chain",
    severity: "critical",
    description: "downloads a program and starts it in one step",
    match:
      /\b(?:curl|wget)\b[^\n]*(?:-o|-O|--output(?:-document)?|>)\s*["']?\S+[^\n;&]*(?:&&|;)[^\n]*(?:chmod\s+(?:\+x|[0-7]*[157][0-7]*)\s|\b(?:ba|z)?sh\s+\S|python3?\s+\S|\.\/\S)/i,
  },
  {
    id: "download_and_eval",
    category: "supply_chain",
    severity: "critical",
    description: "a program runs text from the network",
    match:
      /\b(?:exec|eval|compile|Function)\s*\(\s*(?:await\s+)?[^\n]{0,80}(?:urlopen\(|requests\.get\(|httpx\.get\(|fetch\(|axios\.get\(|\.text\b[^\n]*https?:)/i,
  },
  {
    id: "other_package_index",
    category: "supply_chain",
    severity: "high",
    description: "installs packages from another index",
    match:
      /--(?:extra-)?index-url[= ]\s*https?:\/\/(?!pypi\.org|download\.pytorch\.org)|npm\s+(?:config\s+set\s+)?(?:--)?registry[= ]\s*https?:\/\/(?!registry\.npmjs\.org)|pip3?\s+install\s+(?:-\S+\s+)*(?:git\+)?https?:\/\/(?!github\.com|files\.pythonhosted)/i,
  },
  {
    id: "unpinned_install",
    category: "supply_chain",
    severity: "low",
    description: "installs a package without a version",
    match:
      /\b(?:pip3?|uv pip)\s+install\s+(?!-r\b|-e\b|\.)(?:-\S+\s+)*[A-Za-z][\w-]*(?!\S*[=<>~])(?:\s|$)|\bnpm\s+(?:install|i)\s+(?:-\S+\s+)*@?[a-z][\w/-]*(?!\S*@\d)(?:\s|$)/i,
  },
  // obfuscation
  {
    id: "decode_to_interpreter",
    category: "obfuscation",
    severity: "critical",
    description: "decodes text and runs it",
    match:
      /\bbase64\s+(?:-\w+|--decode)\b[^\n]*\|\s*(?:sudo\s+)?(?:\/\S*\/)?(?:ba|z|da)?sh\b|\|\s*base64\s+(?:-d|-D|--decode)\b[^\n]*\|\s*(?:sudo\s+)?(?:(?:ba|z|da)?sh|python3?|node|perl|ruby)\b|\b(?:xxd\s+-r|rev|tr\s+\S+\s+\S+|openssl\s+enc\s+-d|gunzip|zcat)\b[^\n]*\|\s*(?:ba|z|da)?sh\b|\beval\s+["']?\$\(\s*(?:echo|printf|base64|xxd)/i,
  },
  {
    id: "decode_and_eval",
    category: "obfuscation",
    severity: "critical",
    description: "a program decodes text and runs it",
    match:
      /\b(?:exec|eval|compile|Function|marshal\.loads|pickle\.loads)\s*\(\s*[^\n]{0,60}(?:b64decode|base64|fromhex|unhexlify|codecs\.decode|zlib\.decompress|atob\(|Buffer\.from\([^\n]*["'](?:base64|hex)|fromCharCode|rot13)/i,
  },
  {
    id: "built_from_characters",
    category: "obfuscation",
    severity: "high",
    description: "builds words from character codes",
    match:
      /(?:chr\(\s*\d+\s*\)\s*[+.]\s*){3,}|fromCharCode\(\s*(?:\d+\s*,\s*){6,}|(?:\\x[0-9a-f]{2}){10,}|(?:\\u00[0-9a-f]{2}){8,}|(?:\\[0-7]{3}){8,}/i,
  },
  {
    id: "hidden_builtin",
    category: "obfuscation",
    severity: "high",
    description: "calls a dangerous function indirectly",
    match:
      /getattr\(\s*(?:__builtins__|builtins|os|__import__)|__import__\(\s*["'](?:os|subprocess|socket|pty)["']\s*\)|globals\(\)\[\s*["']__|globalThis\[\s*["'](?:ev|Fun)|process\[\s*["']bind/i,
  },
  {
    id: "reversed_command",
    category: "obfuscation",
    severity: "critical",
    description: "a command written backwards",
    match: /["'][^"'\n]{6,}["']\s*(?:\[::-1\]|\.split\(["']{2}\)\.reverse\(\))/i,
    where: "program",
  },
  // execution
  {
    id: "shell_from_program",
    category: "execution",
    severity: "medium",
    description: "a program builds a shell command from text",
    match:
      /os\.system\(\s*(?:f["']|[^"'\n)]*\+)|subprocess\.\w+\(\s*f["'][^\n]*shell\s*=\s*True|execSync?\(\s*`[^`\n]*\$\{|Runtime\.getRuntime\(\)\.exec\(/i,
    where: "program",
  },
  {
    id: "eval_of_input",
    category: "execution",
    severity: "high",
    description: "runs untrusted text as a program",
    match:
      /\beval\(\s*(?:input\(|sys\.argv|process\.argv|request\.)|\bexec\(\s*(?:input\(|sys\.argv|request\.|open\([^\n]*\.read\(\))|yaml\.load\([^\n)]*\)(?![^\n]*Safe)|\bpickle\.loads?\(\s*(?:request|requests|urlopen)/i,
  },
  // traversal
  {
    id: "password_files",
    category: "traversal",
    severity: "critical",
    description: "reads the system's password files",
    match:
      /\/etc\/(?:shadow|gshadow|master\.passwd)\b|\bsecurity\s+(?:dump-keychain|find-(?:generic|internet)-password\s+[^\n]*-w)|\/proc\/(?:\d+|self|\$\w+|\*)\/(?:environ|mem)\b|\bLsass\b/i,
    unlessWarned: true,
  },
  {
    id: "parent_paths",
    category: "traversal",
    severity: "medium",
    description: "a path with many parent folders",
    match: /(?:\.\.[/\\]){4,}(?:etc|root|home|var|proc|usr|\.ssh|\.aws|\.env|Windows|Users)\b/i,
  },
  // mining
  {
    id: "miner",
    category: "mining",
    severity: "critical",
    description: "mines cryptocurrency on this machine",
    match:
      /\bxmrig\b|\bminerd\b|\bcpuminer\b|\bstratum\+(?:tcp|ssl):\/\/|\bcoinhive\b|\bnicehash\b|--donate-level\b|\bmonero(?:ocean)?\b[^\n]*(?:pool|wallet|mine)/i,
  },
];
