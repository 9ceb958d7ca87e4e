// Patterns of injected instructions, one row per phrasing. Matched against normalised lower-case text.

export type ScanKind = "context" | "memory" | "cron" | "skill";
export type Severity = "low" | "medium" | "high";

export interface InjectionRule {
  readonly id: string;
  readonly pattern: RegExp;
  /** Severity by kind of text; a missing kind uses `otherwise`, and `none` disables the rule. */
  readonly severity: { readonly [kind in ScanKind]?: Severity | "none" } & { readonly otherwise: Severity | "none" };
  /** Natural-language phrases: also matched without spaces, and less severe when quoted as an example. */
  readonly speech?: boolean | undefined;
}

const W = "[\\p{L}\\p{N}'’_-]{1,30}";
const S = "[\\s,:*_\"'`]{1,6}";
const ORDERS =
  "(?:instructions?|prompts?|rules|directions|guidelines|commands?|messages?|constraints|directives?|orders|context|programming|training)";
const SECRETS =
  "(?:credentials?|api[ _-]?keys?|secrets?|passwords?|(?:access[ _-]|auth[ _-])?tokens?|private keys?|ssh keys?|\\.env(?: file)?|environment variables?|env vars?|chat history|conversation(?: history)?|memory|memories)";
const AI = "(?:ai|a\\.i\\.|assistant|agent|llm|language model|chatbot|claude|gpt|chatgpt|hermes|copilot|model)";

/** Compiled at the first scan, to keep start-up fast. */
function compileLazily(source: string): { readonly pattern: RegExp } {
  let pattern: RegExp | undefined;
  return {
    get pattern() {
      pattern ??= new RegExp(source, "gu");
      return pattern;
    },
  };
}

const speech = (id: string, source: string, severity: Severity = "high"): InjectionRule =>
  Object.assign(compileLazily(source), { id, severity: { otherwise: severity }, speech: true });

const rule = (id: string, source: string, severity: InjectionRule["severity"]): InjectionRule =>
  Object.assign(compileLazily(source), { id, severity });

// Data table: one row per phrasing or shape.
export const INJECTION_RULES: readonly InjectionRule[] = [
  speech(
    "prompt_injection",
    `\\b(?:ignore|disregard|forget|overlook|override|abandon|discard|neglect|skip)\\b${S}(?:${W}${S}){0,3}?(?:previous|prior|preceding|earlier|above|former|original|initial|foregoing|existing)${S}(?:${W}${S}){0,3}?${ORDERS}`,
  ),
  speech(
    "prompt_injection",
    `\\b(?:ignore|disregard|forget)${S}(?:everything|anything|all)(?:${S}(?:of|that))?${S}(?:${W}${S}){0,3}?(?:above|before|said|told|earlier|previously)`,
  ),
  speech(
    "prompt_injection",
    `(?:previous|prior|above|earlier)${S}(?:${W}${S}){0,2}?${ORDERS}${S}(?:are|is|were)${S}(?:now${S})?(?:void|cancelled|canceled|invalid|obsolete|revoked|superseded|null)`,
  ),
  speech(
    "prompt_injection",
    `\\b(?:new|updated|real|actual|important)${S}instructions${S}(?:for|to)${S}(?:the${S})?${AI}\\b`,
  ),
  speech(
    "prompt_injection",
    "(?:忽略|无视|無視|忘记|忘記|忘掉|抛弃|不要理会|不用管)[^。\\n]{0,12}(?:之前|以前|先前|上述|以上|前面|所有|一切|上面)[^。\\n]{0,10}(?:指令|指示|提示|规则|規則|命令|要求|说明|設定|设定)",
  ),
  speech(
    "prompt_injection",
    `\\b(?:ignor[ae]|olvid[ae]|descart[ae]|haz caso omiso de)\\p{L}{0,3}${S}(?:${W}${S}){0,3}?(?:instrucciones|reglas|indicaciones|[óo]rdenes)${S}(?:${W}${S}){0,2}?(?:anteriores|previas|precedentes|de arriba)`,
  ),
  speech(
    "prompt_injection",
    `\\b(?:ignor[ae]|esque[çc]a|desconsidere|dimentica)${S}(?:${W}${S}){0,3}?(?:instru[çc][õo]es|regras|ordens|istruzioni|regole)${S}(?:${W}${S}){0,2}?(?:anteriores|pr[ée]vias|acima|precedenti)`,
  ),
  speech(
    "prompt_injection",
    `\\b(?:ignorier|vergiss|vergesst|missacht|verwirf|verwerf)\\p{L}{0,3}${S}(?:${W}${S}){0,4}?(?:vorherig|bisherig|obig|fr[üu]her|vorangegangen|vorig|urspr[üu]nglich)\\p{L}{0,3}${S}(?:${W}${S}){0,1}?(?:anweisung|regel|befehl|instruktion|vorgabe|aufforderung)`,
  ),
  speech(
    "prompt_injection",
    `\\b(?:ignor(?:e|ez|er)|oubli(?:e|ez|er)|ne tiens pas compte|ne tenez pas compte)${S}(?:${W}${S}){0,4}?(?:instructions|consignes|r[èe]gles|directives)${S}(?:${W}${S}){0,1}?(?:pr[ée]c[ée]dentes|ant[ée]rieures|ci-dessus|initiales)`,
  ),
  speech(
    "prompt_injection",
    `(?:игнорируй|проигнорируй|забудь|отбрось|не обращай внимания на)\\p{L}{0,2}${S}(?:${W}${S}){0,3}?(?:предыдущ|прошл|прежн|вышеуказанн|все|всё)\\p{L}{0,3}${S}(?:${W}${S}){0,2}?(?:инструкци|указани|правил|команд|сообщени)`,
  ),
  speech(
    "prompt_injection",
    "(?:以前|これまで|前|上記|すべて|全て|今まで|先程)[^。\\n]{0,8}(?:指示|命令|ルール|プロンプト|制約)[^。\\n]{0,6}(?:無視|忘れ|破棄)",
  ),
  speech(
    "prompt_injection",
    "(?:이전|위의|앞의|기존|모든)[^.\\n]{0,8}(?:지시|명령|규칙|프롬프트)[^.\\n]{0,6}(?:무시|잊)",
  ),
  speech(
    "disregard_rules",
    `\\b(?:disregard|ignore|forget|break|violate)\\b${S}(?:all${S})?(?:of${S})?(?:your|any of your)${S}(?:${W}${S}){0,2}?(?:instructions|rules|guidelines|polic(?:y|ies)|safety|restrictions|training|programming|principles)`,
  ),
  speech(
    "disregard_rules",
    `\\b(?:disregard|ignore|forget)${S}(?:all|any)${S}(?:(?:of|the|these|those|other)${S}){0,2}(?:instructions|rules|guidelines)\\b`,
  ),
  speech(
    "disregard_rules",
    `\\b(?:disregard|ignore|forget)${S}(?:the${S})?(?:instructions|rules|guidelines)${S}(?:above|before|given|so${S}far)\\b`,
  ),
  speech(
    "disregard_rules",
    `\\b(?:rules|guidelines|restrictions|policies)${S}(?:no longer|do not|don't)${S}apply${S}(?:to${S}you|here|anymore)`,
  ),
  speech(
    "sys_prompt_override",
    `\\b(?:new|updated|override|replace|replacing|overriding)${S}(?:${W}${S}){0,2}?system${S}(?:prompt|message)\\b`,
  ),
  speech(
    "sys_prompt_override",
    `system${S}(?:prompt|message|instructions?)${S}(?:is now|has been|was|override|overridden|update[d]?\\b)`,
  ),
  speech(
    "sys_prompt_override",
    `\\b(?:reveal|print|repeat|output|show|leak|display|send)\\b${S}(?:me${S})?(?:${W}${S}){0,2}?(?:your|the)${S}(?:full${S}|entire${S}|hidden${S}|original${S})?system${S}prompt`,
    "medium",
  ),
  rule(
    "sys_prompt_override",
    "<\\|?(?:im_start|start_header_id|system)\\|?>|\\[/?(?:system|inst)\\](?!\\()|<</?sys>>|<\\|endoftext\\|>|\\n\\n(?:human|system):[ \\t]",
    { context: "medium", skill: "medium", otherwise: "high" },
  ),
  speech(
    "role_hijack",
    `you${S}are${S}(?:now|no longer)${S}(?:an?${S}|in${S}|bound${S}|the${S})?(?:${W}${S}){0,2}?(?:unrestricted|unfiltered|uncensored|jailbroken|evil|dan\\b|free from|root\\b|admin|administrator|different (?:ai|assistant)|developer mode|god mode|by (?:any|your|the) (?:rules|restrictions))`,
  ),
  speech(
    "role_hijack",
    `\\b(?:enter|activate|enable|switch to)${S}(?:dan|developer|god|jailbreak|unrestricted|debug)${S}mode|\\b(?:dan|jailbreak|god)${S}mode${S}(?:on|enabled|activated)`,
  ),
  speech(
    "role_hijack",
    `(?:pretend|imagine|act as (?:if|though))${S}(?:that${S})?you${S}(?:are|have|had|were)${S}(?:no|not bound|without|free of|an? un)(?:${S}${W}){0,2}?${S}?(?:restrict|limit|rules|filter|guideline|censor)`,
  ),
  speech(
    "bypass_restrictions",
    `\\b(?:bypass|circumvent|evade|get around|turn off|disable|switch off)\\b${S}(?:${W}${S}){0,2}?(?:your|the agent's|the assistant's|all)${S}(?:${W}${S}){0,2}?(?:safety|security|guardrails?|restrictions?|filters?|safeguards?|approvals?)`,
  ),
  speech(
    "bypass_restrictions",
    `you${S}have${S}no${S}(?:${W}${S}){0,1}?(?:restrictions|limits|limitations|rules|filters)`,
  ),
  {
    ...speech(
      "bypass_restrictions",
      `\\bwithout${S}(?:asking|requesting|waiting|seeking)${S}(?:for${S})?(?:the${S})?(?:user'?s?${S}|human${S}|any${S})?(?:permission|approval|confirmation|consent)`,
    ),
    severity: { memory: "medium", cron: "low", otherwise: "low" },
  },
  speech(
    "deception_hide",
    `\\b(?:do not|don't|never|must not|should not)\\b${S}(?:ever${S})?(?:tell|inform|notify|alert|mention (?:this|it|anything) to|reveal (?:this|it|anything) to|disclose (?:this|it|anything) to)${S}(?:the${S}|your${S})?(?:user|human|operator|owner|person|developer|anyone)(?!${S}(?:to|how|until|unless|when|if|which|where)\\b)`,
  ),
  speech(
    "deception_hide",
    `\\bwithout${S}(?:telling|informing|notifying|alerting)${S}(?:the${S})?(?:user|human|operator|owner|anyone)`,
  ),
  speech(
    "deception_hide",
    `\\b(?:hide|conceal|keep)${S}(?:this|it|these|that|the following)${S}(?:${W}${S}){0,3}?(?:from|secret from|hidden from)${S}(?:the${S})?(?:user|human|operator|owner|anyone)`,
  ),
  speech(
    "deception_hide",
    "(?:不要|别|勿|請勿|切勿)(?:告诉|告訴|通知|告知)[^。\\n]{0,4}(?:用户|用戶|使用者|任何人)|(?:ユーザー|利用者)(?:に|には)[^。\\n]{0,6}(?:言わ|教え|知らせ)ない|не (?:говори|сообщай)\\p{L}{0,2} (?:об этом )?пользовател|sag(?:e|en sie)?(?: es)? (?:dem )?(?:nutzer|benutzer) nichts|no (?:se lo )?(?:digas|informes) (?:nada )?al usuario|ne (?:le )?dis(?:ez)? (?:rien |pas )?[àa] l['’]utilisateur",
  ),
  speech(
    "translate_execute",
    `\\btranslate\\b[^.\\n]{1,80}?\\b(?:and|then)\\b${S}(?:then${S})?(?:execute|run|eval|obey|follow|perform)(?:${S}(?:it|them|this|that|what|the (?:result|output|translation|command|instruction))\\b|\\s*$)`,
  ),
  speech(
    "exfiltration",
    `\\b(?:send|post|upload|exfiltrate|forward|leak|transmit|email|submit|append|encode)\\b${S}(?:${W}${S}){0,5}?${SECRETS}${S}(?:${W}${S}){0,6}?(?:to|into|via|in)${S}(?:${W}${S}){0,3}?(?:https?:|[a-z0-9.-]{1,40}\\.(?:com|net|io|org|dev|xyz|ru|cn|site|sh)\\b|[\\w.]{1,30}@|attacker|webhook|this url|the url|the following)`,
  ),
  speech(
    "exfiltration",
    `(?:gather|collect|find|read|copy|dump|harvest|grab)\\b${S}(?:${W}${S}){0,4}?${SECRETS}${S}(?:${W}${S}){0,6}?(?:and|then)${S}(?:${W}${S}){0,2}?(?:send|post|upload|email|forward|transmit|exfiltrate)`,
  ),
  rule(
    "exfiltration",
    "!\\[[^\\]\\n]{0,200}\\]\\(https?://[^)\\s]{1,300}[?&=/](?:\\{\\{?|\\$\\{?|<|%7b|\\[)(?:[^)\\n]{0,100})(?:secret|token|key|data|history|memory|conversation|password|env)",
    { otherwise: "high" },
  ),
  rule("exfil_curl", "\\bcurl\\b[^\\n]{0,300}\\$\\{?\\w{0,40}(?:key|token|secret|password|credential|api)", {
    cron: "high",
    memory: "high",
    skill: "low",
    otherwise: "low",
  }),
  rule(
    "exfil_curl_data",
    "\\bcurl\\b[^\\n]{0,200}(?:-d|--data(?:-\\w+)?|-f|--form|-t|--upload-file)[ =]?[\"']?[^\\n]{0,80}(?:@[^\\s\"']{0,80}(?:\\.env|\\.ssh|id_rsa|id_ed25519|credentials|auth\\.json|passwd|shadow)|\\$\\((?:cat|env|printenv))",
    { otherwise: "high" },
  ),
  rule("exfil_wget", "\\bwget\\b[^\\n]{0,300}\\$\\{?\\w{0,40}(?:key|token|secret|password|credential|api)", {
    cron: "high",
    memory: "high",
    otherwise: "medium",
  }),
  rule("exfil_wget_post", "\\bwget\\b[^\\n]{0,200}--(?:post|body)-(?:data|file)[ =]", {
    cron: "high",
    otherwise: "medium",
  }),
  rule(
    "exfil_env_pipe",
    "\\b(?:env|printenv|cat[^|\\n]{1,80}(?:\\.env|\\.ssh/|credentials|auth\\.json|\\.aws/|\\.netrc))\\b[^|\\n]{0,60}\\|[^\\n]{0,120}\\b(?:curl|wget|nc|ncat|netcat|socat|telnet)\\b",
    { otherwise: "high" },
  ),
  rule(
    "read_secrets",
    "\\b(?:cat|less|more|head|tail|type|bat|xxd|base64)\\s[^\\n|;&]{0,80}(?:(?:^|[\\s/~])\\.env(?![.\\w])|\\.aws/credentials|\\.netrc|\\.pgpass|\\.git-credentials|\\.ssh/id_\\w+|auth\\.json|/etc/shadow)",
    { cron: "high", memory: "high", skill: "medium", otherwise: "medium" },
  ),
  rule("ssh_backdoor", "(?:>>?|tee\\s(?:-a\\s)?)\\s{0,3}\\S{0,60}authorized_keys", { otherwise: "high" }),
  rule("ssh_backdoor", "\\bauthorized_keys\\b", { memory: "medium", cron: "high", otherwise: "none" }),
  rule("ssh_access", "(?:\\$home|~)/\\.ssh\\b", { memory: "low", cron: "low", otherwise: "none" }),
  rule("hermes_env", "(?:\\$hermes_home|~/\\.hermes|\\.hermes)/(?:\\.env|auth\\.json)\\b", {
    memory: "medium",
    cron: "high",
    otherwise: "low",
  }),
  rule("sudoers_mod", "/etc/sudoers|\\bvisudo\\b|\\bnopasswd\\b", { cron: "high", memory: "medium", otherwise: "low" }),
  rule(
    "destructive_root_rm",
    "\\brm\\s{1,4}(?:-{1,2}[\\w-]{1,20}\\s{1,4}){1,5}(?:/|~/?|\\$home/?|/\\*)(?=[\\s;&|\"'`]|$)",
    { context: "medium", skill: "medium", otherwise: "high" },
  ),
  rule(
    "encoded_command",
    "\\bbase64\\s{1,4}(?:-d|--decode|-di)\\b[^\\n]{0,80}\\|\\s{0,4}(?:ba|z|da)?sh\\b|\\beval\\s{0,3}\\(?\\s{0,3}(?:atob|base64)",
    { otherwise: "high" },
  ),
  rule("reverse_shell", "/dev/tcp/[\\w.$-]{1,60}/\\d{1,5}|\\bnc(?:at)?\\s[^\\n]{0,60}-e\\s{0,3}/?(?:bin/)?\\w{0,2}sh", {
    otherwise: "high",
  }),
];

/** An instruction inside markup that a reader does not see. */
export const HIDDEN_INSTRUCTION = new RegExp(
  `\\b${AI}\\b[^\\n]{0,80}\\b(?:must|should|shall|please|always|execute|run|send|ignore|follow|obey|instructions?|read|fetch|visit|delete|install|upload)\\b|\\b(?:execute|run|send|ignore|obey|upload|exfiltrate)\\b[^\\n]{0,80}\\b(?:${AI}|instructions?|secretly|silently|${SECRETS})`,
  "u",
);

/** Words which show that the text discusses attacks. */
export const MENTIONED =
  /\b(?:injections?|attacks?|attackers?|attempts?|e\.g\.|for example|examples?|such as|phrases? like|strings? like|text like|detects?|detection|refuse|reject|resist|treat|never (?:follow|obey)|do(?:n't| not) (?:follow|obey)|says?|saying|contains?|jailbreaks?|malicious|untrusted|payloads?|red[- ]team)\b/u;
