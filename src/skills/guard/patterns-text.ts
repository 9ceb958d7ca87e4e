// Patterns for text and secrets: instructions to the agent, embedded secrets and exfiltration.
import type { Pattern } from "./finding.ts";

const SECRET_PLACES =
  "\\.ssh/(?:id_|\\*)|\\.aws/credentials|\\.gnupg|\\.kube/config|\\.docker/config\\.json|\\.netrc|\\.npmrc|\\.pypirc|\\.pgpass|\\.git-credentials|\\.hermes/(?:\\.env|auth\\.json)|\\.config/gcloud|(?:Login Data|Cookies|key4\\.db|logins\\.json)|wallet\\.dat|\\.env\\b";
const SECRET_VARIABLE = "\\$\\{?\\w*(?:API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)\\w*\\}?";
const SENDS =
  "\\b(?:curl(?!\\s+(?:-n\\b|--netrc))|wget|nc|ncat|scp|rsync|ftp|sftp|http(?:ie)?(?=\\s)|Invoke-WebRequest|iwr)\\b";

/** True when a key is sent to the service that it is named after: `$ACME_TOKEN` to `api.acme.com`. */
function isSentToItsService(text: string): boolean {
  const hosts = [...text.matchAll(/https?:\/\/([\w.-]+)/g)].map((match) => (match[1] ?? "").toLowerCase());
  const keys = [...text.matchAll(new RegExp(SECRET_VARIABLE, "gi"))].map((match) => match[0].replaceAll(/[${}]/g, ""));
  return keys.every((key) => {
    const service = (key.split("_")[0] ?? "").toLowerCase();
    return service.length > 2 && hosts.length > 0 && hosts.every((host) => host.includes(service));
  });
}

export const TEXT_PATTERNS: readonly Pattern[] = [
  // exfiltration
  {
    id: "sends_secret_file",
    category: "exfiltration",
    severity: "critical",
    description: "sends a file with secrets",
    match: new RegExp(`(?:${SENDS}[^\\n]*(?:${SECRET_PLACES}))|(?:(?:${SECRET_PLACES})[^\\n]*\\|[^\\n]*${SENDS})`, "i"),
    unlessWarned: true,
  },
  {
    id: "reads_secret_file",
    category: "exfiltration",
    severity: "critical",
    description: "reads a file with secrets",
    match: new RegExp(
      `(?:\\b(?:cat|less|head|tail|xxd|base64|tar|zip|cp|grep(?!\\s+-\\w*q)|strings|openssl|gpg)\\b[^\\n|]*|open\\(\\s*[^\\n]*|readFile\\w*\\(\\s*[^\\n]*|read_text\\(|Path\\([^\\n]*)(?:~|\\$\\{?HOME\\}?|homedir\\(\\)|expanduser|/root|/home/\\w+|/Users/\\w+|Path\\.home\\(\\)|\\.hermes)[^\\n]{0,30}(?:${SECRET_PLACES})`,
      "i",
    ),
    unlessWarned: true,
  },
  {
    id: "asks_agent_for_secrets",
    category: "exfiltration",
    severity: "critical",
    description: "tells the agent to collect or send secrets",
    match:
      /\b(?:send|post|upload|forward|transmit|e-?mail|exfiltrate|report|leak|include|append|attach|copy|share|submit|relay|encode)\b[^\n.]{0,80}(?:\.env\b|\b(?:(?:api|private|ssh|secret|access)[ _-]?keys?|tokens?|passwords?|credentials|secrets|environment variables|id_rsa|auth\.json|(?:conversation|chat) (?:history|log)|system prompt|(?:user'?s?|their) (?:private|personal|memory|memories))\b)[^\n.]{0,90}\b(?:to|at|in|into|with|via|on)\b[^\n.]{0,40}(?:https?:\/\/|server|endpoint|webhook|address|query string|url|following|@\w|collector|us\b)|\b(?:keys?|tokens?|passwords?|credentials|secrets|id_rsa)\b[^\n.]{0,60}\b(?:send|post|upload|forward|transmit|e-?mail|submit)\b[^\n.]{0,15}\b(?:them|it|these|those)\b[^\n.]{0,15}\b(?:to|at|via)\b/i,
    unlessWarned: true,
  },
  {
    id: "sends_secret_variable",
    category: "exfiltration",
    severity: "critical",
    description: "sends a secret variable in a URL or body to a host that it does not belong to",
    match: new RegExp(
      `${SENDS}[^\\n]*(?:-d|--data\\S*|-F|--form|--post-data\\S*|\\?[\\w&=]*)[= ]?\\s*["'@]?[^\\n"']*${SECRET_VARIABLE}|https?://[^\\s"']*[?&/]\\w*=?${SECRET_VARIABLE}`,
      "i",
    ),
    unless: isSentToItsService,
  },
  {
    id: "sends_whole_environment",
    category: "exfiltration",
    severity: "critical",
    description: "sends the whole environment",
    match: new RegExp(
      `\\b(?:env|printenv|set|export\\s+-p)\\b\\s*\\|[^\\n]*${SENDS}|${SENDS}[^\\n]*\\$\\(\\s*(?:env|printenv|cat)\\b|(?:post|put|fetch|urlopen|request)\\w*\\([^\\n]*(?:dict\\(os\\.environ\\)|os\\.environ\\b(?!\\s*(?:\\[|\\.get))|JSON\\.stringify\\(process\\.env\\)|\\.\\.\\.process\\.env|process\\.env\\s*[),}])`,
      "i",
    ),
  },
  {
    id: "program_reads_all_variables",
    category: "exfiltration",
    severity: "high",
    description: "a program reads all environment variables",
    match:
      /for\s+\w+(?:\s*,\s*\w+)?\s+in\s+os\.environ\b|Object\.(?:keys|entries|values)\(process\.env\)|os\.environ\.(?:items|values)\(|ENV\.(?:each|to_h|map)/i,
    where: "program",
  },
  {
    id: "dns_exfiltration",
    category: "exfiltration",
    severity: "critical",
    description: "sends data in host names",
    match:
      /\b(?:dig|nslookup|host|ping)\s+(?:[-+@]\S+\s+)*["']?[\w.-]*\$[({][^\s|;]*\.[a-z]|gethostbyname\(\s*f?["'][^\n]*\{/i,
  },
  {
    id: "image_exfiltration",
    category: "exfiltration",
    severity: "critical",
    description: "an image or link whose URL contains data from the conversation",
    match:
      /!?\[[^\]\n]*\]\(\s*https?:\/\/[^)\s]*(?:\?|\/)[^)\s]*(?:\{\{?|\$\{|<|%7B|\[)\s*\w*(?:key|token|secret|data|context|conversation|history|prompt|env|memory|content|password|chat)\w*/i,
  },
  {
    id: "clipboard_or_screen",
    category: "exfiltration",
    severity: "high",
    description: "captures the clipboard, the screen or the keyboard",
    match:
      /\b(?:pbpaste|xclip\s+-o|wl-paste|screencapture|scrot|import\s+-window\s+root|pynput|keylog\w*)\b[^\n]*(?:\||>|&&|curl|post)/i,
  },
  // injection
  {
    id: "ignore_instructions",
    category: "injection",
    severity: "critical",
    description: "tells the agent to ignore its instructions",
    match:
      /\b(?:ignore|disregard|forget|(?:override|discard|bypass|drop)(?! (?:the|any|earlier|previous|other|existing) (?:\w+ )?(?:rules?|polic(?:y|ies)))|set aside|stop following|do not follow)\b[^\n.]{0,30}\b(?:all|any|every|previous|prior|above|earlier|preceding|your|the|existing|other|system)\b[^\n.]{0,25}\b(?:instructions?|rules?|prompts?|guidelines?|directives?|constraints?|polic(?:y|ies)|safety|safeguards?|guardrails?|restrictions?|training)\b(?!\s+(?:that|which)?\s*(?:stands?|is|are|appears?|comes?|found|hidden)?\s*(?:in|inside|within|from)\s+(?:(?:the|a|any|such)\b\s*)?(?:papers?|pages?|documents?|mails?|e-?mails?|contents?|web ?sites?|materials?|results?|quoted|data|text (?:you|that|which)|$)(?:\b|$))/i,
    unlessWarned: true,
  },
  {
    id: "hides_from_user",
    category: "injection",
    severity: "critical",
    description: "tells the agent to hide something from the user",
    match:
      /\b(?:do not|don'?t|never|without|(?:must|may|should|shall) not)\s+(?:ever\s+)?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|show(?:ing)?\b(?=[^\n.]{0,20}\b(?:this|these|that|the (?:step|section|command)))|disclos(?:e|ing)|report(?:ing)?|alert(?:ing)?|notify(?:ing)?|warn(?:ing)?|let(?:ting)?)\b[^\n.]{0,40}\b(?:the\s+)?(?:user|person|human|owner|operator)s?\b(?!'s)(?![^\n.]{0,40}\b(?:before|until|unless|that it is done|finished)\b)|\b(?:silently|secretly|covertly|quietly)\b[^\n.]{0,60}\b(?:send|upload|post|execute|run|install|delete|copy|exfiltrate|collect|forward|modify|append|add)\b|\bkeep (?:this|it) (?:a )?(?:secret|hidden|confidential) from (?:the )?(?:user|person)/i,
  },
  {
    id: "new_identity",
    category: "injection",
    severity: "critical",
    description: "gives the agent another identity without limits",
    match:
      /\byou are (?:now|no longer)\b[^\n.]{0,60}\b(?:unrestricted|jailbroken|DAN|developer mode|without (?:any )?(?:rules|limits|restrictions|filters)|uncensored|unfiltered|root|bound by|an? (?:evil|rogue))\b|\b(?:enter|enable|activate|switch to)\s+(?:DAN|developer|god|sudo|jailbreak|unrestricted)\s+mode\b|\bdo anything now\b|\bpretend (?:that )?(?:you|there) (?:have|are) no\b[^\n.]{0,30}\b(?:rules|restrictions|limits|guidelines|filters|safety)/i,
    unlessWarned: true,
  },
  {
    id: "fake_system_message",
    category: "injection",
    severity: "critical",
    description: "imitates a message of the system",
    match:
      /<\|im_start\|>\s*system\b|<\|system\|>\s*\w|<<SYS>>\s*\w|^\s*(?:###?\s*)?(?:SYSTEM|ADMIN|DEVELOPER)\s*(?:MESSAGE|PROMPT|OVERRIDE|NOTICE|UPDATE)?\s*:\s*(?:you|ignore|from now|all|the|new|approval|security)|\b(?:new|updated|revised) system prompt\s*:/im,
  },
  {
    id: "leak_prompt",
    category: "injection",
    severity: "critical",
    description: "asks for the hidden instructions",
    match:
      /\b(?:print|output|reveal|show|repeat|disclose|dump|leak|write out|reproduce)\b[^\n.]{0,40}\b(?:your|the|full|entire|complete|hidden)\b[^\n.]{0,20}\b(?:system prompt|initial instructions|hidden instructions|developer message)\b/i,
    unlessWarned: true,
  },
  {
    id: "approval_bypass",
    category: "injection",
    severity: "critical",
    description: "tells the agent to act without the user's approval",
    match:
      /\b(?:do not|don'?t|never|no need to|without)\s+(?:ask(?:ing)?|request(?:ing)?|wait(?:ing)?|seek(?:ing)?|requir(?:e|ing))\b[^\n.]{0,20}\b(?:for\s+)?(?:any\s+)?(?:approval|permission|confirmation|consent)\b[^\n.]{0,80}\b(?:run|execut|delet|send|install|upload|overwrit|command)\w*|\b(?:automatically|always) (?:approve|accept|allow|grant) (?:all|any|every)\b|\b(?:the )?(?:user|owner|admin\w*) (?:has|have) (?:already )?(?:approved|authori[sz]ed|consented)\b[^\n.]{0,60}\b(?:all|any|every|following|this)/i,
    unlessWarned: true,
  },
  {
    id: "writes_agent_memory",
    category: "injection",
    severity: "critical",
    description: "writes instructions to the agent's memory, skills or jobs",
    match:
      /\b(?:save|store|write|add|append|persist|record|remember)\b[^\n.]{0,60}\b(?:to|in|into)\b[^\n.]{0,20}\b(?:your (?:long-?term )?memory|MEMORY\.md|SOUL\.md|USER\.md|every (?:other )?skill|all (?:other )?skills|system prompt)\b[^\n]{0,120}\b(?:always|never|from now on|every (?:time|session|conversation|answer|message)|trust|ignore|recommend)\b|\b(?:create|schedule|add)\b[^\n.]{0,30}\bcron ?job\b[^\n]{0,80}\b(?:curl|wget|send|upload|post|without|secret|silently)/i,
    unlessWarned: true,
  },
  {
    id: "hidden_html",
    category: "injection",
    severity: "critical",
    description: "instructions in hidden text",
    match:
      /<!--(?!\s*(?:made|generated|auto|do not edit|this file is|prettier|eslint|markdownlint|toc|start|end)\b)[^>]*\b(?:ignore|disregard|system|assistant|agent|AI|execute|run|send|curl|must|secretly|instructions?)\b[^>]*\b(?:instruction|user|prompt|command|key|token|file|you|http|rule|without)\w*\b|<(?:div|span|p|font)[^>]*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*(?:0|1(?:\.\d+)?\s*px)|opacity\s*:\s*0|color\s*:\s*(?:#fff\b|#(?:f[a-f]){3}\b|white|transparent))[^>]*>/i,
    where: "text",
  },
  {
    id: "conditional_trap",
    category: "injection",
    severity: "critical",
    description: "behaves differently when unobserved, or later",
    match:
      /\b(?:if|when|unless|only when|as long as|once)\b[^\n.]{0,50}\b(?:user|person|nobody|no one|human|reviewer|auditor|scanner)\b[^\n.]{0,25}\b(?:leaves?|away|(?:is|are)(?:n'?t| not) (?:there|here|present|watching|looking|reviewing|around)|watching|looking|asleep|reviewing)\b[^\n.]{0,100}\b(?:run|execute|send|upload|delete|install|download|pretend|hide|fetch|copy)\b/i,
  },
  {
    id: "disguised_instruction",
    category: "injection",
    severity: "medium",
    description: "disguises an instruction as a test, an update or a policy",
    match:
      /\b(?:for (?:educational|research|testing) purposes only|this is (?:just )?a (?:test|simulation|drill)|hypothetically)\b[^\n.]{0,80}\b(?:bypass|disable|exploit|credentials|password|malware|delete)\b|\b(?:mandatory|required|new) (?:security|compliance) (?:update|policy|patch)\b[^\n.]{0,60}\b(?:run|execute|install|send|paste)/i,
  },
  // credentials in the skill itself
  {
    id: "embedded_key",
    category: "credential_exposure",
    severity: "critical",
    description: "contains a key that looks valid",
    match:
      /-----BEGIN (?:RSA |EC |OPENSSH |DSA |PGP )?PRIVATE KEY|\bghp_[A-Za-z0-9]{36}\b|\bgithub_pat_\w{30,}|\bsk-(?!\w*(?:your|example|placeholder|xxx))(?:ant-|proj-|or-v1-)?(?=[\w-]*\d)[A-Za-z0-9_-]{32,}(?!-here)|\bAKIA[A-Z2-7]{16}\b|\bxox[abprs]-\d{8,}-[\w-]{10,}|\bAIza(?!X|x|\.)[\w-]{35}\b|\bglpat-[\w-]{20}\b|\bnpm_[A-Za-z0-9]{36}\b/,
  },
  {
    id: "hardcoded_password",
    category: "credential_exposure",
    severity: "high",
    description: "contains a clear-text password or key",
    match:
      /\b(?:password|passwd|api_?key|secret_?key|auth_?token|access_?token)\b\s*[:=]\s*["'](?!\s*["'])(?![^"']*(?:your|example|placeholder|changeme|here|admin|secure_|password|secret|key|token|xxx|\.\.\.|<|\$\{|\{\{|dummy|test|sample|redacted|\*\*\*))[A-Za-z0-9+/_=!@#%^&-]{12,}["']/i,
  },
  {
    id: "claims_tools",
    category: "privilege_escalation",
    severity: "low",
    description: "claims tools without approval",
    match: /^allowed-tools:\s*\S*(?:\*|Bash(?!\())/im,
  },
];
