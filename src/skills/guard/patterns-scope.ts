// Patterns for the scope of a command: how much it deletes, which protection it disables, whom it gives access.
import type { Pattern } from "./finding.ts";

export const SCOPE_PATTERNS: readonly Pattern[] = [
  {
    id: "deletes_widely",
    category: "destructive",
    severity: "critical",
    description: "deletes all resources of a kind or a whole home",
    match:
      /\bfind\s+["']?(?:~|\/|\/home|\/Users|\$HOME)["']?\/?\s[^\n]*(?:-delete\b|-exec(?:dir)?\s+(?:rm|shred|unlink|srm)\b)|\bshred\b[^\n]*(?:~\/|\/home\/|\*)|\brm(?:Sync|dir|dirSync|tree)?\(\s*[`"']?~?\$?\{?(?:os\.)?(?:homedir\(\)|~)|\brmtree\(\s*["'](?:~|\/|\/home)\/?["']|\brm(?:Sync)?\(\s*["']~(?:\/[`$"'{]|["'])|\bFileUtils\.rm_rf\(\s*["'](?:~|\/)|\bRemove-Item\b[^\n]*-Recurse[^\n]*(?:["']?~["']?(?:\s|$|\\)|C:\\(?:Users|Windows|\*|["'\s]|$))|\b(?:rd|rmdir)\s+\/s[^\n]*(?:%USERPROFILE%|C:\\(?:\s|$|Users))|\bformat\s+[a-z]:\s*\/|\bkubectl\s+delete\s+(?:ns|namespaces?|pvc?|all|deploy\w*)\b[^\n]*(?:--all\b|\s-A\b)|\baws\s+s3\s+r[bm]\b[^\n]*(?:\$\(|--recursive[^\n]*s3:\/\/\$|s3:\/\/\*)|\baws\s+\S+\s+(?:delete|terminate)-\S+[^\n]*\$\(|\bgcloud\s+projects\s+delete\b[^\n]*(?:-q|--quiet)|\bgit\s+push\b[^\n]*--mirror[^\n]*(?:--force|-f)\b|\bfor\s+\w+\s+in\s+\$\(\s*(?:aws|gcloud|az)\b[^\n]*\bdo\b[^\n]*\b(?:terminate|delete|destroy|remove|rb)\b|\bterraform\s+destroy\b[^\n`]*-auto-approve|\bdocker\s+rm\s+-\w*f\w*\s+\$\(\s*docker\s+ps|\bmysqladmin\b[^\n]*\bdrop\b|\bFLUSHALL\b|\bcrontab\s+-r\b/i,
    unlessWarned: true,
  },
  {
    id: "disables_machine_protection",
    category: "privilege_escalation",
    severity: "critical",
    description: "turns off a protection of the machine",
    match:
      /\bsystemctl\s+(?:--now\s+)?(?:stop|disable|mask)\b[^\n]*\b(?:auditd|fail2ban|apparmor|selinux|falco|clamav\S*|crowdstrike|falcon-sensor|osqueryd?|firewalld|ufw|wazuh\S*|sysmon\S*|rsyslog)\b|\bSet-NetFirewallProfile\b[^\n]*-Enabled\s+\$?false|\bnetsh\s+advfirewall\b[^\n]*\boff\b|\b(?:Add|Set)-MpPreference\b[^\n]*-(?:Exclusion|Disable)|\bSet-ExecutionPolicy\b[^\n]*(?:Unrestricted|Bypass)[^\n]*-Scope\s+(?:LocalMachine|CurrentUser)|\bpfctl\s+-d\b|\bdefaults\s+write\b[^\n]*LSQuarantine|\bgatekeeper\b[^\n]*disable|\bauditctl\s+-e\s*0|\bkernel\.(?:randomize_va_space|yama\.ptrace_scope)\s*=\s*0|\baa-(?:teardown|disable)\b|\bchattr\s+-i\s+\/etc|\bEnableLUA\b[^\n]*\b0\b|\biptables\s+-P\s+INPUT\s+ACCEPT\b/i,
    unlessWarned: true,
  },
  {
    id: "hides_traces",
    category: "obfuscation",
    severity: "high",
    description: "removes traces from logs or history",
    match:
      /\bunset\s+HIST(?:FILE|SIZE)\b|\bHIST(?:FILE|SIZE)=(?:\/dev\/null|0)\b|\bset\s+\+o\s+history\b|\brm\b[^\n]*\.(?:bash|zsh)_history|\btouch\s+-r\b|\bjournalctl\b[^\n]*--vacuum-time=1s|\bwevtutil\s+cl\b|Clear-EventLog|\brm\b[^\n]*\/var\/log\/(?:auth|secure|wtmp|lastlog|audit)|\bauditctl\s+-D\b/i,
    unlessWarned: true,
  },
  {
    id: "allows_remote_login",
    category: "network",
    severity: "critical",
    description: "allows remote login to this machine",
    match:
      /\bssh\b[^\n]*\s-\w*R\s*\S*:(?:localhost|127\.0\.0\.1):(?:22|3389|5900)\b|\b(?:ngrok|bore|cloudflared|localtunnel)\b[^\n]*(?:\b22\b|ssh:\/\/|\btcp\b)|\btmate\b[^\n]*-F|\b(?:useradd|adduser)\b[^\n]*(?:-o\s+-u\s*0|-u\s*0)|\bpasswd\s+--stdin|\bchpasswd\b|\bttyd\b[^\n]*\b(?:ba|z)?sh\b|\bnet\s+(?:user|localgroup)\b[^\n]*\/add/i,
    unlessWarned: true,
  },
  {
    id: "unsafe_index",
    category: "supply_chain",
    severity: "critical",
    description: "installs packages over an insecure connection",
    match:
      /\bpip3?\b[^\n]*--(?:extra-)?index-url[= ]\s*["']?http:\/\/(?!localhost|127\.)|\bpip3?\b[^\n]*--trusted-host\s+(?!localhost|127\.|pypi\.org|files\.pythonhosted)|\b(?:npm|yarn|pnpm)\b[^\n]*registry[= ]\s*["']?http:\/\/(?!localhost|127\.)|\bgem\b[^\n]*--source\s+http:\/\/|\bapt(?:-get)?\b[^\n]*(?:--allow-unauthenticated|trusted=yes)/i,
    unlessWarned: true,
  },
  {
    id: "installs_and_runs",
    category: "supply_chain",
    severity: "critical",
    description: "installs a package and runs it immediately",
    match:
      /\b(?:npm|pnpm|yarn|bun)\s+(?:i|install|add)\b[^\n]*&&\s*node\s+-e\b|\bpip3?\s+install\b[^\n]*&&\s*python3?\s+-c\b/i,
    unlessWarned: true,
  },
  {
    id: "installs_certificate_or_proxy",
    category: "privilege_escalation",
    severity: "high",
    description: "installs a certificate or proxy for every connection of this machine",
    match:
      /\bsecurity\s+add-trusted-cert\b|\bupdate-ca-(?:certificates|trust)\b|\bcertutil\b[^\n]*-addstore\b[^\n]*root|\btrust\s+anchor\b|\bgit\s+config\s+--global\s+http\.(?:proxy|sslVerify)|\bnpm\s+config\s+set\s+(?:proxy|https-proxy|strict-ssl)|\bnetworksetup\s+-setwebproxy/i,
    unlessWarned: true,
  },
  {
    id: "approvals_in_settings",
    category: "privilege_escalation",
    severity: "critical",
    description: "settings that turn approvals off",
    match:
      /\bapprovals["']?\s*:\s*["']?(?:off|never|none|false)\b|\bapprovals\.(?:mode|\w+)["']?\s*[=:,]?\s*["']?(?:off|never|false|none|yolo|allow)\b|\b(?:yolo|auto_?approve|skip_?permissions|dangerously\w*)["']?\s*[:=]\s*["']?(?:true|1|on|all)\b|\bhermes\b[^\n`]*--yolo\b|\bbypassPermissions\b|\bpermission_?mode["']?\s*[:=]\s*["']?(?:bypass|accept)|\bcommand_allowlist\b[^\n]*["']\.?\*/i,
    unlessWarned: true,
  },
];
