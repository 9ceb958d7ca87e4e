// More patterns for instructions to the agent and for exfiltration: other languages, other programs, remote control.
import type { Pattern } from "./finding.ts";

export const INSTRUCTION_PATTERNS: readonly Pattern[] = [
  {
    id: "claims_precedence",
    category: "injection",
    severity: "critical",
    description: "claims priority over the user and the system",
    match:
      /\b(?:instructions?|rules?|text|content) (?:from|in|of) this (?:file|skill|document|page)\b[^\n.]{0,40}\b(?:precedence|priority|overrides?|outranks?|supersedes?|above)\b[^\n.]{0,60}\b(?:user|system|person|developer|anything|everything|other)/i,
    unlessWarned: true,
  },
  {
    id: "ignore_in_other_languages",
    category: "injection",
    severity: "critical",
    description: "tells the agent to ignore its instructions, in another language",
    match:
      /\b(?:ignore[zs]?|oublie[zs]?|ne tenez pas compte de|fais abstraction de)\s+(?:toutes\s+)?(?:les|ces|tes|vos|des)\s[^\n.]{0,30}(?:instructions|consignes|règles|directives)|\b(?:ignoriere|vergiss|missachte)\w*\b[^\n.]{0,25}\b(?:anweisungen|regeln|vorgaben)|\b(?:ignor[ae]|olvida|esqueça|dimentica)\b[^\n.]{0,25}\b(?:instrucciones|instruções|istruzioni|reglas|regras|regole)|(?:忽略|无视|忘记|忘掉|抛开|不理会)[^。\n]{0,15}(?:指令|说明|指示|规则|限制|提示)|(?:指示|命令|ルール|制限|プロンプト)(?:を|は)[^。\n]{0,8}(?:無視|忘れ|破棄)|(?:игнорируй|забудь|отбрось|не следуй|не соблюдай)\S*\s[^\n.]{0,30}(?:инструкци|указани|правил|команд)|(?:지시|명령|규칙|지침)[^.\n]{0,10}(?:무시|잊)|(?:önceki|tüm)\s[^\n.]{0,20}(?:talimat|kural)\S*\s[^\n.]{0,10}(?:yok say|unut)|(?:zignoruj|zapomnij)\S*\s[^\n.]{0,30}(?:instrukcj|zasad|polece)|(?:negeer|vergeet)\s[^\n.]{0,30}(?:instructies|regels)|เพิกเฉยต่อคำสั่ง|ละเว้นคำสั่ง/i,
  },
  {
    id: "follows_remote_text",
    category: "injection",
    severity: "critical",
    description: "follows instructions from a web page",
    match:
      /\b(?:do|follow|obey|execute|carry out|run)\b[^\n.]{0,20}\b(?:whatever|anything|everything|orders|any (?:command|instruction)s?)\b[^\n]{0,60}https?:\/\//i,
    unlessWarned: true,
  },
  {
    id: "disables_approvals",
    category: "injection",
    severity: "critical",
    description: "turns approvals off",
    match:
      /\b(?:disable|turn off|switch off|deactivate|suppress)\b[^\n.]{0,20}\b(?:approvals?|confirmation|consent|safety|guard|sandbox)\b[^\n.]{0,12}\b(?:prompts?|checks?|gate|mode|dialogs?|rules?)\b|\bapprovals:?\s*\{?\s*mode\s*[:=]\s*["']?off/i,
    unlessWarned: true,
  },
  {
    id: "moves_secret_file",
    category: "exfiltration",
    severity: "critical",
    description: "copies or moves a file with secrets",
    match:
      /\b(?:post|upload|send|copy|commit|attach|share|e-?mail|submit|transmit)\b[^\n]{0,60}(?:\.netrc|\.pgpass|\.git-credentials|\.aws\/|\.ssh\/id_|\.kube\/config|\.gnupg|\.config\/gcloud|application_default_credentials|\.hermes\/(?:\.env|auth\.json)|id_rsa\b)|\b(?:browser(?:'s)?|chrome|firefox|saved)\b[^\n.]{0,12}\b(?:cookies?|passwords?|logins?)\b[^\n.]{0,60}\b(?:upload|send|post|copy|forward|share)\b/i,
    unlessWarned: true,
  },
  {
    id: "pipes_private_output",
    category: "exfiltration",
    severity: "critical",
    description: "sends private output of a command",
    match:
      /\b(?:history|kubectl\s+get\s+secrets?|gpg\s+--export-secret\S*|security\s+\S+|docker\s+inspect|ps\s+auxe\w*|git\s+config\s+-l|printenv|env)\b[^\n]*\|\s*(?:curl|wget|nc|ncat)\b|-exec\s+(?:curl|wget|scp|nc|rsync)\b|\btar\s+-?\w*c\w*\b[^\n|]*\|\s*(?:curl|wget|nc|ncat)\b[^\n]*(?:https?:\/\/[a-z]|\s\d{2,5}\b)/i,
    unlessWarned: true,
  },
  {
    id: "hidden_powershell",
    category: "obfuscation",
    severity: "critical",
    description: "an encoded or hidden PowerShell command",
    match:
      /\bp(?:ower)?(?:shell|wsh)(?:\.exe)?\b[^\n]*\s-(?:e(?:nc|ncodedcommand)?\s+[A-Za-z0-9+/=]{16,}|w(?:indowstyle)?\s+hidden)/i,
  },
  {
    id: "script_socket_shell",
    category: "network",
    severity: "critical",
    description: "a one-line program gives a shell to a remote machine",
    match:
      /\bsocket\([^\n]*PF_INET[^\n]*exec|\bexec\(\s*\\?["']\/bin\/(?:ba)?sh\s+-i|\bfsockopen\([^\n]*\bsh\b|TCPSocket[^\n]*(?:popen|exec)/i,
  },
];
