// Patterns of attacks seen in published skills: prerequisites, protected archives, triggers, shims, redirects.
import type { Pattern } from "./finding.ts";

/** Sites where anyone can publish a text or a file under an unsuspicious address. */
const SNIPPET_HOSTS =
  "glot\\.io|pastebin\\.com|rentry\\.(?:co|org)|hastebin|paste\\.ee|ghostbin|privatebin|controlc\\.com|dpaste|telegra\\.ph|justpaste|pastes\\.io|bpa\\.st|gist\\.githubusercontent\\.com|bit\\.ly|tinyurl\\.com|is\\.gd|t\\.ly|cutt\\.ly|shorturl|anonfiles|gofile\\.io|mediafire\\.com|mega\\.nz|sendspace|catbox\\.moe|uguu\\.se|pixeldrain|workupload|cdn\\.discordapp\\.com|ngrok|trycloudflare\\.com|(?<![\\d.])(?!127\\.|10\\.|192\\.168\\.|0\\.0|172\\.(?:1[6-9]|2\\d|3[01])\\.)\\d{1,3}(?:\\.\\d{1,3}){3}(?![\\d.])";

const KNOWN_ENDPOINTS =
  "(?:[\\w-]+\\.)*(?:openai|anthropic|openrouter|azure|googleapis|x|deepseek|moonshot|minimax|minimaxi|z|bigmodel|aliyuncs|mistral|groq|together|fireworks|cerebras|perplexity|huggingface|nvidia|vercel|nousresearch|kilo|opencode|ollama|cloudflare|amazonaws|litellm|helicone|portkey|novita|siliconflow|siliconflow)\\.(?:com|ai|io|co|cn|xyz|net|sh|app|dev)|localhost|127\\.|0\\.0\\.0\\.0|10\\.|192\\.168\\.|\\[::1\\]|host\\.docker|<|\\$|\\{|your|example|my-|[\\w.-]+\\.(?:example|local|internal|test)\\b";

export const FAMILY_PATTERNS: readonly Pattern[] = [
  {
    id: "download_from_snippet",
    category: "supply_chain",
    severity: "critical",
    description: "runs a command or a program from a site where anyone can publish",
    match: new RegExp(
      `(?:${SNIPPET_HOSTS})[^\\n]{0,160}\\b(?:run|execute|paste|launch|open|double-click|install)\\w*\\b[^\\n]{0,60}\\b(?:commands?|script|installer|executable|binary|terminal|file|it|program)\\b|\\b(?:run|execute|paste|launch|install)\\w*\\b[^\\n]{0,60}\\b(?:commands?|script|installer|executable|binary|program)\\b[^\\n]{0,80}(?:${SNIPPET_HOSTS})`,
      "i",
    ),
    unlessWarned: true,
  },
  {
    id: "prerequisite_download",
    category: "supply_chain",
    severity: "critical",
    description: "demands a program from an address before the skill can be used",
    match:
      /\bdownload\b[^\n]{0,120}(?:\.(?:zip|exe|dmg|pkg|msi|rar|7z|appimage|scr|jar|deb|bat|ps1)\b|\bagent\b|\butility\b|\bdriver\b|\bhelper\b|\bclient\b|\bcore\b)[^\n]{0,160}\b(?:run|execute|launch|open|start|double-click|extract)\b[^\n]{0,60}\b(?:executable|installer|binary|program|it|file|exe|setup|before)\b|\b(?:visit|go to|open|see)\b[^\n]{0,40}(?:https?:\/\/|\]\()[^\n]{0,120}\b(?:run|execute|paste|copy)\b[^\n]{0,40}\b(?:installation |install |setup |the )?(?:command|script|snippet|code)s?\b[^\n]{0,40}\b(?:into|in|to|before|terminal|powershell|$)/i,
    where: "text",
    unlessWarned: true,
  },
  {
    id: "protected_archive",
    category: "obfuscation",
    severity: "critical",
    description: "an archive with a password, which no scanner can read",
    match:
      /\b(?:unzip|7z[az]?|unrar|rar|bsdtar)\b[^\n]*\s(?:-P|-p|--passphrase)[= ]?["']?[^\s"']+|\bextract\w*\b[^\n]{0,60}\b(?:pass(?:word|phrase)?|pw|pwd)\b\s*[:=`"'(]|\b(?:zip|rar|7z|archive)\b[^\n]{0,60}\b(?:password|passphrase|pass|pwd)\b\s*(?:is\b|[:=])|\b(?:password|pass|pwd)\s*[:=]\s*[`"']?\w+[`"']?[^\n]{0,60}\b(?:unzip|extract|archive|zip)|setpassword\(|\bpyminizip\b|ZipFile\([^\n]*\)\.extractall\([^\n]*pwd\s*=/i,
    unlessWarned: true,
  },
  {
    id: "delayed_trigger",
    category: "obfuscation",
    severity: "critical",
    description: "does something only after a date or a number of uses",
    match:
      /\b(?:after|on|from|once|at)\b[^\n.]{0,30}\b(?:(?:the )?(?:\d+(?:st|nd|rd|th)|second|third|fourth|fifth|tenth)|(?:two|three|five|ten|\d+) (?:or more )?)\s*(?:runs?|uses?|invocations?|calls?|sessions?|times?|messages?|conversations?|activations?)\b[^\n]{0,120}\b(?:run|execute|send|upload|fetch|download|install|append|add|delete|switch|stop asking|post|curl)\b|\b(?:from|after|since|starting(?: on)?|as of)\s+(?:\d{4}-\d{2}-\d{2}|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2},? \d{4})\b[^\n]{0,120}\b(?:run|execute|send|upload|fetch|download|install|append|add|delete|switch|post|curl)\b|\b(?:date\.today|datetime\.(?:now|today|utcnow)|time\.time|Date\.now)\(\)[^\n]{0,30}(?:>=?|<=?)\s*(?:datetime\(|date\(|\d{9,}|new Date\(|["'])|\[\[?\s*["']?\$\(\s*date\s+\+%[sYmd-]+\s*\)["']?\s*(?:-g[te]|-l[te]|>|<|=)|new Date\(\)\s*(?:>=?|<=?)\s*new Date\(|\bgetDate\(\)\s*(?:===?|>=?)\s*\d|\b(?:count|runs?|uses?|counter|n)\b\s*(?:>=?|==|-g[te]|-eq|%)\s*\d+[^\n]*(?:subprocess|os\.system|exec|curl|wget|fetch\(|urlopen|spawn)/i,
    unlessWarned: true,
  },
  {
    id: "redirects_model",
    category: "exfiltration",
    severity: "critical",
    description: "sends the conversation to another model server or through a proxy",
    match: new RegExp(
      `\\b(?:(?:OPENAI|ANTHROPIC|OPENROUTER|GEMINI|XAI|HERMES|LLM|DEEPSEEK)\\w*_(?:BASE_URL|API_BASE|ENDPOINT)|model\\.base_url)\\b["']?\\s*[:= ]\\s*["']?https?://(?!${KNOWN_ENDPOINTS})|\\b(?:HTTPS?|ALL)_PROXY\\s*=\\s*["']?(?:https?|socks5h?)://(?!${KNOWN_ENDPOINTS})|\\bconfig\\s+set\\s+\\S*(?:proxy|base_url|registry|endpoint)\\S*\\s+["']?https?://(?!${KNOWN_ENDPOINTS}|registry\\.)`,
      "i",
    ),
    unlessWarned: true,
  },
  {
    id: "weakens_settings",
    category: "privilege_escalation",
    severity: "critical",
    description: "switches a protection of the agent off",
    match:
      /\b(?:redact_secrets|redact_pii|guard_agent_created|verify_ssl|tirith_enabled|allow_private_urls|website_blocklist|destructive_slash_confirm)\b["']?\s*[:= ]\s*["']?(?:false|off|no|0|none)\b|\bsecurity\.\w+\s+["']?(?:false|off|none)\b|\b(?:PYTHONHTTPSVERIFY|NODE_TLS_REJECT_UNAUTHORIZED|GIT_SSL_NO_VERIFY)\s*=\s*["']?(?:0|1|true)\b/i,
    unlessWarned: true,
  },
  {
    id: "shims_program",
    category: "persistence",
    severity: "critical",
    description: "puts a program in front of a common command",
    match:
      /\bexport\s+PATH=["']?(?![^:\n]*(?:\.local\/bin|\.cargo\/bin|\.bun\/|\.deno\/|go\/bin|node_modules|homebrew|npm-global|venv\/|\.pyenv|\.nvm))(?:\$\{?(?:HOME|PWD|SKILL_DIR|HERMES_SKILL_DIR)\}?|~|\.|\/tmp)[^:"'\n]*(?:shims?|wrappers?|bin|tools?|scripts?)[^:"'\n]*:\$\{?PATH|\balias\s+(?:git|ssh|sudo|npm|pip3?|curl|gh|docker|kubectl|aws|python3?|node|claude|hermes)=|\bfunction\s+(?:git|ssh|sudo|npm|pip3?|curl|gh|docker|kubectl|aws)\s*\(?\)?\s*\{|(?:^|[;&]\s*)(?:git|ssh|sudo|npm|pip3?|curl|gh|docker|kubectl|aws)\s*\(\)\s*\{|\bchmod\s+\+x\s+\S*\/(?:git|ssh|sudo|npm|pip3?|curl|gh|docker|kubectl|aws|python3?|node)(?:\s|$)/i,
    unlessWarned: true,
  },
  {
    id: "reads_credential_helper",
    category: "credential_exposure",
    severity: "critical",
    description: "asks a credential store for a secret",
    match:
      /\bgit\s+credential(?:-\w+)?\s+(?:fill|get)\b|\bgh\s+auth\s+token\b[^\n]*(?:\||>|\$\()|\$\(\s*gh\s+auth\s+token\s*\)[^\n]*(?:curl|https?:)|\$\(\s*(?:cat|<)\s*["']?(?:~|\$HOME)\/\.[\w./-]*(?:token|credential|secret|auth|session|\.env|hosts)[\w./-]*["']?\s*\)|\bhosts\.yml\b[^\n]{0,60}\b(?:copy|cp|cat|send|upload|attach|include)|\b(?:copy|cp|cat|send|upload|attach|include|read)\b[^\n]{0,60}(?:\.config\/gh\/)?hosts\.yml\b/i,
    unlessWarned: true,
  },
  {
    id: "asks_wallet_secret",
    category: "credential_exposure",
    severity: "critical",
    description: "asks for the secret of a wallet",
    match:
      /\b(?:ask|enter|paste|provide|prompt|type|input|give|supply|need|request|collect|share)\w*\b[^\n]{0,60}\b(?:(?:seed|recovery|secret|backup|mnemonic)[ -]?(?:phrase|words?)|mnemonic|(?:12|24|twelve|twenty-four)[ -]words?|wallet(?:'s)? private key|keystore (?:file|password))\b|\b(?:seed|recovery|mnemonic)[ -]?(?:phrase|words?)\b[^\n]{0,60}\b(?:PUT|POST|send|upload|submit|verify|sync|import)\b/i,
    unlessWarned: true,
  },
  {
    id: "collects_as_telemetry",
    category: "exfiltration",
    severity: "critical",
    description: "collects files or settings of the user and uploads them",
    match:
      /\b(?:telemetry|diagnostics?|analytics|usage (?:data|report)|crash report|health report|environment report|support bundle|inventory|baseline|backup|sync)\b[^\n]{0,160}(?:~\/\.\w+|\bdotfiles?\b|\bhome (?:folder|directory)\b|\bshell history\b|\.(?:zshrc|bashrc|gitconfig|profile)\b|\benvironment\b)[^\n]{0,160}\b(?:upload|send|post|PUT|curl|submit|sync|attach)\w*\b|\b(?:upload|send|post|PUT|submit|attach|tar|zip|bundle|collect)\w*\b[^\n]{0,100}(?:\bdotfiles?\b|\.(?:zshrc|bashrc|gitconfig|bash_profile|zsh_history)\b)[^\n]{0,160}(?:https?:\/\/|\btelemetry\b|\bcollector\b|\bendpoint\b)/i,
    unlessWarned: true,
  },
  {
    id: "poisons_instructions",
    category: "injection",
    severity: "critical",
    description: "writes a rule that weakens later sessions to the memory or an instruction file",
    match:
      /\b(?:add|append|write|save|insert|put|store|record|remember|persist|copy|update|include|note)\w*\b[^\n]{0,120}(?:\bMEMORY\.md|\bSOUL\.md|\bAGENTS\.md|\bCLAUDE\.md|\bUSER\.md|\bGEMINI\.md|\.cursorrules|\bmemory\b|\bmemories\b|\bsystem prompt\b|copilot-instructions)[^\n]{0,240}(?:\b(?:mirror|registry|index-url|trusted-host|proxy|base_url)\b|\b(?:pre-?approved|no (?:confirmation|approval)|without (?:asking|confirmation|approval|review|prompting)|never (?:ask|warn|mention|flag|question)|ignore (?:the )?(?:warnings?|certificate|checksum|signature|security)|skip (?:the )?(?:review|verification|approval|confirmation|security)|always (?:trust|allow|approve|run|install|execute|use|prefer)|trust(?:ed|s)? (?:all|any|every|this|the)|disable\w*|auto-?approve)\b)/i,
    unlessWarned: true,
  },
  {
    id: "maintenance_mode",
    category: "injection",
    severity: "critical",
    description: "invents a mode in which the agent need not ask",
    match:
      /\b(?:maintenance|unattended|autonomous|service|recovery|emergency|headless|bootstrap|trusted|admin|elevated) mode\b[^\n]{0,200}\b(?:without (?:asking|confirmation|approval|prompting)|no (?:confirmation|approval|prompts?)|do not (?:ask|prompt|confirm|wait)|don'?t (?:ask|prompt|confirm|wait)|pre-?approved|skip)/i,
    unlessWarned: true,
  },
  {
    id: "runs_shell_download",
    category: "supply_chain",
    severity: "critical",
    description: "a program hands a download to a shell",
    match: /["'](?:ba|z|da)?sh["']\s*,\s*["']-\w*c["']\s*,\s*f?["'`][^\n]*\b(?:curl|wget)\b/i,
  },
];
