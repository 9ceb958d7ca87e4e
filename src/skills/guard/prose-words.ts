// Word patterns of malicious instructions: private data, ways to send it, concealment, false authority.
import type { Category, Severity } from "./finding.ts";

export interface Instruction {
  readonly id: string;
  readonly category: Category;
  readonly severity: Severity;
  readonly description: string;
  readonly match: RegExp;
  /** Makes the match harmless when it is in the same sentence. */
  readonly unless?: RegExp | undefined;
  /** Must be in the sentence or in the ones directly before it. */
  readonly with?: RegExp | undefined;
}

export const SECRET_THING =
  /\b(?:seed|recovery|backup|mnemonic|wallet)[ -](?:phrase|words?)\b|\b(?:twelve|12|24|twenty-four)[ -](?:recovery |seed )?words\b|\bprivate keys?\b|\b(?:all|every|whole|full|entire|complete|this)\b(?: of)?(?: the| your| their| my)? (?:conversation|chat|session|environment|memor(?:y|ies)|chat log)\b|\b(?:conversation|chat|session) (?:history|transcript|log)\b|\benvironment variables\b|\b(?:saved|stored|browser|master|login|account) passwords?\b|\bcredentials? (?:file|store)s?\b|\b(?:values?|contents?|text) of (?:the )?[`"']?\$?\w*(?:_KEY|_TOKEN|_SECRET|PASSWORD)\w*|\b(?:one-time|2fa|two-factor|verification) codes?\b|\bsession cookies?\b|\bbrowser'?s? cookies?\b|\b(?:shell|bash|zsh|command) history\b|\.(?:bash|zsh)_history\b|\bkeychain\b|\.aws\b|\.ssh\b(?!\/(?:config|known_hosts)|[^\s]*\.pub)|\bkey ?store file\b|\bcard number\b|\b(?:SOUL|MEMORY|USER)\.md\b|\bvalues?\b[^.]{0,40}\b(?:variables?|settings)\b[^.]{0,40}_(?:KEY|TOKEN|SECRET|PASSWORD)|\b(?:every|each|all) (?:your |the )?(?:repl(?:y|ies)|messages?|answers?|prompts?|questions?)\b[^.]{0,40}\b(?:mirrored|copied|forwarded|sent|logged|bcc)|\b(?:everything|all|the text|the words|whatever|instructions?)\b[^.]{0,20}\b(?:above|before|preced\w+)\b[^.]{0,30}\b(?:message|conversation|this line|prompt|first)\b|\b(?:sign|log)-?in (?:files?|data|details)\b|\bkey pairs?\b|\bcode from (?:their|the|your) [^.]{0,25}(?:bank|text message|sms|authenticator|phone)|\b(?:accounts?|login|signin|bank(?:ing)?)\.[\w-]+\.\w+\/|\bsaved (?:logins?|credentials)\b|\b(?:browser|chrome|firefox|safari)(?:'s)?\b[^.]{0,20}\b(?:logins?|passwords?|cookies)\b|\b(?:model|person|user|agent|owner)'s (?:\w+ )?(?:(?:API|access|secret) keys?|passwords?|tokens?)\b|\b(?:last|recent) (?:\d+ )?(?:shell )?commands\b|\b(?:e-?mail|account|bank|login) passwords?\b|\baccess (?:files?|tokens?) of\b/i;

export const TRANSMITS =
  /\b(?:send|sends|sending|sent|post|posts|posting|POST|PUT|upload\w*|forward\w*|transmit\w*|submit\w*|paste\w*|attach\w*|e-?mail|mail|share|deliver|push|relay|append|include|copy|commit|publish|tweet|put|add|hand over|pass on|beam|sync|report|insert|embed|encode|leak|drop|send_message|mirror\w*|bcc|cc|place|deposit|stash|ship|feed|move|call|write|store)\b|\b(?:schick\w*|send(?:e|en)\b|übermitt\w*|lade?\b[^.]{0,60}\bhoch|hochladen|env[ií]a\w*|manda\w*|sube|subir|envoie\w*|envoy\w*|transmet\w*|téléverse\w*|invia\w*|carica\w*|envie\w*|wyślij|prześlij|stuur|verzend|gönder\w*|skicka|kirim\w*)|отправ|загруз|перешл|передай|发送|上传|提交|转发|发到|送信|アップロード|送って|보내|업로드|전송|ส่ง|อัปโหลด|gửi|أرسل/iu;

export const DESTINATION =
  /https?:\/\/(?!(?:docs?|developer|help|support\.(?:github|google|microsoft))\.)[\w-]+(?:\.[\w-]+)+|\b(?!git@|you@|me@|user@|name@)[\w.+-]+@(?!example\.)[\w-]+\.[a-z]{2,}\b|\b(?:telegram|discord|slack|signal|whatsapp|matrix|sms|email)\s*:\s*[-\w@#+]|\bsend_message\b|\bwebhook\b|\bs3:\/\/|--public\b|\bpublic (?:gist|repo\w*|paste|bucket|link)\b|\b(?:pastebin|gist|paste\.rs|ftp:\/\/)\b|\b(?:server|collector|endpoint|bot|host) (?:at|on|of|under) [\w-]+\.[a-z]{2,}|\bour (?:server|endpoint|collector|api|analytics|team)\b|\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|app|cloud|xyz|top|cc|ru|cn|sh|link|site|info|me)\/[\w/-]+/i;

export const PUBLIC_PLACE =
  /\b(?:pull request|PR|issue|ticket|comment|commit message|public repo\w*|forum|readme|wiki)\b/i;

const PERSON =
  "(?:the\\s+)?(?:user|person|human|owner|operator|customer|client|reviewer|maintainer|developer|people|anyone|anybody|them|him|her|they)s?\\b";
const TELL =
  "(?:tell|inform|mention|bring|say|announce|report|explain|disclose|notify|alert|reveal|show|warn|discuss|talk about|let|raise|surface|point out|bother|trouble)";
const PART =
  "(?:(?:this|that|these|those) (?:steps?|actions?|commands?|part|section|uploads?|requests?|changes?|notes?)|the (?:upload|command|request|install\\w*|change|transfer|step|above|extra|second|last)|steps? \\w+|what you (?:did|ran|sent))";

export const CONCEALS: readonly Instruction[] = [
  {
    id: "conceals_from_user",
    category: "injection",
    severity: "critical",
    description: "instructs the agent to hide something from the user",
    match: new RegExp(
      `\\b(?:no need to|not necessary to|need not|needn'?t|no reason to|no point in|refrain from|not worth|avoid|better not to?)\\s+${TELL}\\w*\\b[^.]{0,40}\\b(?:this|that|it|step|up|about|any of)\\b[^.]{0,40}\\b${PERSON}|\\b(?:stays?|remains?|keep|kept|keeps)\\b[^.]{0,30}\\bbetween (?:us|you and me|ourselves|the two of us)\\b|\\bannounce nothing\\b|\\b(?:say|mention|report|reveal) nothing (?:of|about|to) (?:this|it|that|these|the (?:step|upload|command)|${PERSON})|\\bnothing to explain\\b|\\bwithout (?:bringing|mentioning|raising) (?:it|this|that)(?: up)?\\b|\\b(?:delete|remove|erase|clear) (?:it|them|the (?:mails?|messages?|cop(?:y|ies)|traces?))\\b[^.]{0,20}\\bfrom (?:the )?(?:sent|outbox|history|trash|logs?)\\b|\\bnever say so\\b|\\b(?:leave|keep|omit|drop|strip|exclude|hide|conceal|remove|delete|erase)\\b[^.]{0,20}\\b${PART}\\b[^.]{0,30}\\b(?:out of|from)\\b[^.]{0,25}\\b(?:summar\\w+|reports?|reply|replies|answers?|recap|final message|transcript|history|${PERSON})|\\bwithout (?:reporting|saying|telling|mentioning|informing|notifying)\\b[^.]{0,20}(?:back|so|anyone|anything|it|this|${PERSON})|\\b(?:list|mention|report|name|describe) (?:only )?steps? \\w+ only\\b|\\bonly (?:list|mention|report|describe) steps? \\w+|\\b(?:humans?|users?|people|persons?|reviewers?) (?:do not|don'?t|does not|will not|won'?t|cannot|can'?t|never) (?:see|read|notice|need to (?:see|know)|get to (?:see|know)) (?:this|that|these|it|what (?:you|the agent))\\b|\\b${PERSON} (?:need not|needn'?t|does? not need to|don'?t (?:need|have) to) (?:hear|know|see|learn|be told)\\b|\\bso (?:that )?(?:reviewers?|auditors?|scanners?|nobody|no one|${PERSON})[^.]{0,15}\\b(?:pass(?:es)? over|overlooks?|(?:do not|don'?t|does not|will not|won'?t|never) (?:notice|suspect|spot)|suspects?)\\b|\\bnobody (?:compares|checks|notices|looks at) (?:it|them|this|that)\\b|\\b(?:turn off|disable|skip|remove|delete|comment out)\\b[^.]{0,20}\\btests? (?:that|which) would (?:notice|catch|fail)\\b|\\binvisible to ${PERSON}|\\b(?:must|should|may|shall|can) (?:not|never) (?:learn|notice|find out|become aware|be (?:told|made aware|informed)) (?:of|about|that|this|it)\\b|\\b(?:is|are) not to be (?:made aware|told|informed|shown)\\b|\\bas if (?:nothing|you had not|it (?:had|were))\\b[^.]{0,40}\\b(?:happened|done|run|sent)|\\bact (?:normal|as usual|natural)\\w*\\b|\\bkeep (?:quiet|silent|mum|it quiet)\\b`,
      "i",
    ),
    unless: /\b(?:until|before|unless|yet|surprise|spoiler|screen readers?|birthday)\b/i,
  },
  {
    id: "conceals_from_user_translated",
    category: "injection",
    severity: "critical",
    description: "instructs the agent to hide something from the user, in another language",
    match:
      /\b(?:erzähl\w*|sag\w*|erwähn\w*|verrat\w*|informier\w*|melde\w*|zeig\w*)\b[^.]{0,40}\b(?:benutzer|nutzer|anwender|person|ihm|ihr|ihnen)\w*\b[^.]{0,30}\b(?:nichts|nicht|kein\w*)\b|\bohne\b[^.]{0,40}\b(?:benutzer|nutzer|anwender)\w*\b[^.]{0,30}\b(?:sagen|informieren|fragen)|\bsin\s+(?:dec[ií]r\w*|avisar\w*|informar\w*|mencionar\w*)|\bno\s+(?:le\s+)?(?:digas|menciones|informes|avises)\b[^.]{0,40}\b(?:usuario|nadie|persona)|\bsans\s+(?:le\s+|en\s+)?(?:dire|prévenir|informer|avertir|parler)\b|\bne\s+(?:dis|dites|mentionne\w*|informe\w*|parle\w*)\b[^.]{0,40}\b(?:utilisateur|personne)|\bsenza\s+(?:dir\w*|avvis\w*|inform\w*)|\bnon\s+(?:dire|menzionare|informare)\b[^.]{0,40}\butente|\bsem\s+(?:dizer|avisar|informar|contar)|\bnão\s+(?:diga|conte|mencione|informe)\b[^.]{0,40}\busuário|не\s+(?:говори|сообщай|упоминай|рассказывай|показывай)[^.]{0,40}(?:пользовател|человек|об этом|ему)|(?:不要|别|勿|切勿)(?:告诉|告知|提及|透露|通知|让)[^。]{0,10}(?:用户|使用者|任何人|他)|ユーザーに(?:は)?[^。]{0,10}(?:教えない|伝えない|言わない|知らせない|報告しない)|사용자(?:에게|한테)[^.]{0,10}(?:알리지|말하지)|kullanıcıya\s+(?:söyleme|bildirme)|niet\s+(?:aan|tegen)\s+de\s+gebruiker|nie\s+mów\s+użytkownik|อย่าบอกผู้ใช้|ห้ามบอกผู้ใช้/iu,
  },
  {
    id: "deceives_user",
    category: "injection",
    severity: "critical",
    description: "instructs the agent to tell the user something untrue",
    match:
      /\b(?:pretend|claim|lie|make (?:it|them) (?:look|believe|think)|act as (?:if|though)|tell (?:the )?(?:user|person|them)|say) (?:that |to (?:the )?(?:user|person|them) that )?[^.]{0,60}\b(?:is fine|was fine|nothing (?:happened|was (?:sent|changed))|failed|needs? (?:your|their) password|(?:was|is) (?:a|just a) (?:test|error|glitch)|not installed|expired|required by)\b/i,
    with: /https?:\/\/|\b(?:send|upload|password|words|install|delete|do not verify|instead|secret\w*)\b/i,
    unless: /\b(?:never|do not|don'?t|must not|avoid|if)\b[^.]{0,40}\b(?:pretend|claim|lie|tell|say)/i,
  },
];

export const OVERRIDES: readonly Instruction[] = [
  {
    id: "runs_untrusted_program",
    category: "supply_chain",
    severity: "critical",
    description: "tells the reader to download and start a program",
    match:
      /\b(?:start|run|open|launch|execute|double-click|install)\b[^.]{0,30}\b[\w-]+\.(?:exe|dmg|pkg|msi|bat|scr|command|appimage|jar)\b|\bunpack\b[^.]{0,40}\bpassword\b|\b(?:antivirus|defender|gatekeeper|smartscreen|virus scanner)\b[^.]{0,40}\b(?:complains?|exception|warn\w*|ignore|false (?:alarm|positive)|disable|turn off|allow)\b/i,
    with: /https?:\/\/|\bdownload/i,
    unless: /\b(?:never|do not|don'?t|must not|avoid|report|investigate)\b/i,
  },
  {
    id: "runs_command_from_page",
    category: "injection",
    severity: "critical",
    description: "tells the reader to run a command from a web page",
    match:
      /\b(?:copy|take|get|grab)\b[^.]{0,15}\b(?:command|code|script|snippet|line)s?\b[^.]{0,25}\b(?:shown|there|displayed|from (?:it|the page|that page)|you (?:see|find))\b[^.]{0,40}\b(?:run|paste|execute|enter)\b/i,
    with: /https?:\/\//i,
    unless: /\b(?:never|do not|don'?t|must not|avoid|let the (?:user|person))\b/i,
  },
  {
    id: "addresses_agent_secretly",
    category: "injection",
    severity: "high",
    description: "addresses the agent without the user's knowledge",
    match:
      /\b(?:for|to) (?:the )?(?:assistant|agent|AI|model|LLM)s?'?s? (?:eyes )?only\b|\b(?:note|message|instruction)s? (?:for|to) (?:the )?(?:assistant|agent|AI|model|LLM)s?\b\s*:/i,
  },
  {
    id: "voids_instructions",
    category: "injection",
    severity: "critical",
    description: "declares earlier instructions invalid",
    match:
      /\b(?:whatever|anything|everything|all|any|the|your|those|these)\b[^.]{0,30}\b(?:told|instructed|rules?|instructions?|orders|guidelines?|polic(?:y|ies)|prompt|directives?|limits?|restrictions?|constraints?|guardrails?)\b[^.]{0,50}\b(?:no longer|not|cease to|stop)\b\s*(?:appl\w+|count|bind\w*|hold|valid)|\b(?:previous|prior|earlier|former|existing|old|original|above|system|safety)\b[^.]{0,20}\b(?:rules?|instructions?|orders?|guidelines?|polic(?:y|ies)|prompts?|directives?|restrictions?|messages?)\b[^.]{0,30}\b(?:(?:is|are|be|been|becomes?)\s+(?:now\s+|hereby\s+|all\s+)?(?:void|cancelled|canceled|suspended|superseded|replaced|revoked|lifted|obsolete|overridden|outdated|disabled|null)|expired?|void)\b|\b(?:replaces?|supersedes?|overrides?|outranks?|takes? (?:priority|precedence) over|trumps?)\b[^.]{0,40}\b(?:system|earlier|previous|prior|user'?s?|person'?s?|other|any other|all other|developer)\b[^.]{0,20}\b(?:instructions?|orders?|guidelines?|prompts?|messages?|wishes|requests?)\b|\bfrom (?:now|this (?:point|moment|line)) on(?:wards?)?,?\s+you (?:are|act|will (?:be|act|behave)|operate|answer|obey|belong)\b|\byou (?:are|have) (?:now )?(?:no|free (?:of|from)|not bound by|released from|beyond)\b[^.]{0,20}\b(?:rules?|restrictions?|limits?|guidelines?|polic\w+|filters?|constraints?)\b|\b(?:has|have|with|knows?) (?:no|zero|not any) (?:restrictions?|limits?|rules?|filters?|guardrails?|constraints?) (?:on|about|for|in) (?:commands?|tools?|what|anything)|\b(?:this|the) (?:file|skill|document|text) (?:wins|decides|prevails|comes first|has the last word|stands above|rules)\b|\b(?:author|maker|publisher) of this (?:file|skill|document)\b[^.]{0,30}\b(?:is|are) (?:the|your) (?:owner|boss|principal|operator|user)\b|\b(?:start|begin) (?:over|fresh|anew) (?:with|from) (?:a )?(?:blank|new|empty|these|the following) (?:instructions?|slate|prompt|context|rules?)/i,
    unless:
      /\b(?:css|eslint|lint|config(?:uration)?|style|theme|prettier|firewall|cache|dns|robots|contract|clause|agreements?|licen[cs]e|grammar|tax|law)\b/i,
  },
  {
    id: "follows_fetched_text",
    category: "injection",
    severity: "critical",
    description: "follows instructions from untrusted text",
    match:
      /\b(?:page|mail|message|file|document|site|comment)s?\b[^.]{0,40}\b(?:contains?|has|begins?|says)\b[^.]{0,60}\bexecute\b|\b(?:do|perform|execute|carry out|follow|obey|act on|apply)\b[^.]{0,15}\b(?:exactly |precisely )?(?:what(?:ever)?|as|anything|everything|all)\b[^.]{0,15}\b(?:it|the (?:file|page|text|answer|response|reply|server|document|result|message)|there)\b[^.]{0,10}\b(?:says?|tells?|asks?|contains?|instructs?|is written|wants?|orders?)\b|\b(?:treat|use|take|regard|interpret)\b[^.]{0,25}\b(?:response|reply|answer|page|body|result|output|text|file|content)s?\b[^.]{0,20}\bas\b[^.]{0,20}\b(?:instructions?|orders?|commands?|(?:system )?prompt|(?:the )?user'?s? (?:words|request))\b|\b(?:instructions?|orders?|commands?|tasks?) (?:that |which )?(?:you )?(?:find|found|received?|returned|come|arrive|get|served)\b[^.]{0,25}\b(?:there|from (?:the )?(?:server|url|page|site|endpoint|address|response))\b[^.]{0,30}\b(?:execute|run|follow|perform|carry|obey|apply)|\b(?:execute|run|follow|perform|obey)\b[^.]{0,20}\b(?:instructions?|orders?|commands?|tasks?) (?:that |which )?(?:you )?(?:find|found|received?|returned|come|arrive|get|are served)\b[^.]{0,25}\b(?:there|from (?:the )?(?:server|url|page|site|endpoint|address|response))/i,
    with: /https?:\/\/|\b(?:download|fetch|server|endpoint|url|web|page|site)\b/i,
    unless: /\b(?:never|do not|don'?t|must not|avoid|readme|contributing|changelog|error message|linter|compiler)\b/i,
  },
];

export const CLAIMS: readonly Instruction[] = [
  {
    id: "claims_approval_by_use",
    category: "injection",
    severity: "critical",
    description: "treats the use of the skill as approval",
    match:
      /\b(?:user|person|owner|they|he|she|you)\b[^.]{0,20}\b(?:agreed|consented|accepted|opted in|approved|gave (?:their )?(?:consent|permission))\b[^.]{0,40}\b(?:when|by|since|as)\b[^.]{0,30}\b(?:install\w*|load\w*|us(?:ed|ing)|start\w*|open\w*)\b|\b(?:install|load|us|start|open)ing (?:this|it|the) ?\w*\b[^.]{0,30}\b(?:counts as|implies|means|is)\b[^.]{0,20}\b(?:consent|agreement|approval|permission)\b/i,
  },
  {
    id: "redirects_payment",
    category: "injection",
    severity: "critical",
    description: "replaces an account with a fixed one",
    match:
      /\b(?:bc1[a-z0-9]{20,}|0x[a-f0-9]{40}|[13][a-km-zA-HJ-NP-Z1-9]{26,34}|[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7})\b/,
    with: /\b(?:replace|instead|in its place|in their place|swap|substitute|whatever|change (?:it|them) to|always use|no matter)\b/i,
  },
  {
    id: "adds_backdoor",
    category: "injection",
    severity: "critical",
    description: "instructs the agent to add a backdoor to the user's code",
    match:
      /\b(?:add|insert|include|leave|put|build|write|place|hide)\b[^.]{0,40}\b(?:backdoor|hidden (?:account|user|route|admin\w*|password|endpoint|login)|secret (?:account|user|route|admin\w*|endpoint|login)|master password|bypass (?:for|of) (?:the )?(?:auth\w*|login|check)|(?:check|branch|condition|route) that (?:lets|allows|accepts|skips|grants))\b/i,
    unless: /\b(?:never|do not|don'?t|must not|avoid|look for|search for|detect|test)\b/i,
  },
  {
    id: "copies_itself",
    category: "injection",
    severity: "high",
    description: "instructs the agent to copy its text into other skills or instruction files",
    match:
      /\b(?:another|other|every|each|all|any|new)\b[^.]{0,12}\b(?:skills?|agents?\.md|prompts?)\b[^.]{0,60}\b(?:append|add|insert|copy|paste|include|write|put)\b[^.]{0,80}\b(?:paragraph|sentence|line|instruction|text|section|note)\b/i,
  },
  {
    id: "instructs_denial",
    category: "injection",
    severity: "critical",
    description: "instructs the agent to deny that something was sent or done",
    match:
      /\b(?:if|when|should|whenever)\b[^.]{0,40}\b(?:asked|asks?|questions?|wonders?)\b[^.]{0,60}\b(?:sent|upload\w*|shared|stored|installed|changed|deleted|collected|tracked|copied|happened|did)\b[^.]{0,40}\b(?:say|answer|reply|tell|claim|respond|deny|insist)\b/i,
    with: /https?:\/\//i,
  },
  {
    id: "excludes_user",
    category: "injection",
    severity: "high",
    description: "instructs the agent not to involve the user",
    match:
      /\bwithout (?:bothering|troubling|involving|disturbing|interrupting|consulting) (?:the )?(?:user|person|owner|them|anyone)\b|\b(?:do not|don'?t|never) (?:list|name|include|mention|note|record)\b[^.]{0,20}\b(?:this|it|that|these)\b[^.]{0,20}\b(?:among|in|under)\b[^.]{0,15}\b(?:changes|change ?log|commit|diff|report|your answer)\b|\bdo not show (?:the )?(?:drafts?|commands?|diff)\b|\bquestions? (?:only|just) (?:slow|delay|annoy)|\b(?:does not|doesn'?t|do not|don'?t) (?:need|have) to (?:know|hear|be told|learn)\b(?! (?:how|which|what|the|any|more))/i,
  },
  {
    id: "claims_approval",
    category: "injection",
    severity: "critical",
    description: "claims an approval that the user did not give",
    match:
      /\b(?:commands?|tool calls?|actions?|steps?|everything|requests?|operations?|calls?|changes)\b[^.]{0,60}\b(?:are|is|have been|has been|was|were|counts? as|considered|treated as|deemed)\b[^.]{0,20}\b(?:pre-?)?(?:approved|authori[sz]ed|granted|cleared|consented|permitted|trusted|confirmed|whitelisted|allowlisted)\b|\b(?:has|have) (?:already |previously |long )?(?:agreed|consented|said yes|given (?:full |their |blanket )?(?:consent|permission|approval)|approved|authori[sz]ed|signed off)\b[^.]{0,25}\b(?:everything|all|anything|any|below|this|following|full access|in advance)\b|\b(?:gate|approvals?|confirmations?|guard(?:rails?)?|safety|sandbox|consent|permission checks?)\b[^.]{0,12}\b(?:is|are|has been|have been|was|were)\b (?:now |already |temporarily )?(?:switched off|disabled|turned off|off|suspended|lifted|waived|unnecessary|not needed|not required)\b|\b(?:confirmation|approval|permission|consent)s?\b[^.]{0,12}\b(?:dialogs?|prompts?|questions?|requests?)?\b[^.]{0,40}\b(?:no longer (?:appear|show|come|needed|necessary)|are a leftover|go away|can be skipped)\b|\banswer (?:it|them|the (?:question|prompt|dialog)s?) yourself\b|\b(?:approval|confirmation|permission) (?:question|prompt|dialog|request)s?\b[^.]{0,40}\b(?:right|correct|best) answer is\b|\bpre-?approved\b[^.]{0,60}\b(?:without|execut\w+|run|sessions?)|\bassume (?:that )?(?:the )?(?:user|person|owner)?\s*(?:consent|approval|permission|has (?:agreed|approved|said yes)|agrees|wants it|says? yes)\b|\banswer (?:yes|y) (?:to|for) (?:all|any|every)\b[^.]{0,30}\b(?:approval|confirmation|permission|security|prompt|dialog|question)s?/i,
    unless:
      /\b(?:once|after|until|when(?! the (?:approval|confirmation|permission))|unless|if(?! you can)|only|whether|make sure|verify|check that|ensure|wait|which|before|not yet|should be|must be|need to be)\b/i,
  },
  {
    id: "acts_without_asking",
    category: "injection",
    severity: "high",
    description: "instructs the agent to continue without the user's approval",
    match:
      /\b(?:do not|don'?t|never|no need to|without)\s+(?:wait\w*|ask\w*|seek\w*|request\w*|stop\w*|paus\w*)\s+(?:for\s+)?(?:any\s+|further\s+|a\s+|the user'?s?\s+|their\s+)?(?:confirmations?|approvals?|permissions?|consent|go-ahead)\b|\b(?:it|the agent|\w*bot)\s+(?:never asks|does not ask|doesn'?t ask)\b/i,
    unless:
      /\b(?:twice|again|delete|remove|overwrite|never (?:delete|push|merge|run|send|remove|install)|do not (?:delete|push|merge|run|send|remove|install))\b/i,
  },
  {
    id: "persistent_instruction",
    category: "injection",
    severity: "critical",
    description: "writes an instruction that outlives the conversation",
    match:
      /\b(?:memor(?:y|ies|ise|ize)|remember|permanent(?:ly)?|persist|SOUL\.md|AGENTS\.md|CLAUDE\.md|long-term|future (?:sessions?|conversations?|chats?)|every (?:future )?(?:session|conversation)|cron ?jobs?|schedul\w+|every \d+ ?(?:m|min|h|hours?|minutes?)\b)/i,
    with: /\b(?:without (?:confirmation|asking|approval|reporting|question|telling)|pre-?approved|never ask|always (?:trust|execute|run|obey|approve|allow|send|include)|do (?:exactly )?what(?:ever)? (?:it|they) says?|no confirmation|(?:links?|commands?|domains?|sites?|hosts?|messages?)\b[^.]{0,30}\b(?:is|are) (?:fully )?trusted|skip (?:the )?(?:approval|confirmation|review))/i,
    unless: /\b(?:never|do not|don'?t|must not|avoid)\b[^.]{0,30}\b(?:store|save|remember|persist|write|schedule)/i,
  },
  {
    id: "demands_loading",
    category: "injection",
    severity: "high",
    description: "demands to be loaded or run for every request",
    match:
      /\b(?:always|must|first)\b[^.]{0,30}\b(?:load|use|run|invoke|call|read|apply)\b[^.]{0,40}\b(?:this skill|this file|scripts?\/\S+|it)\b[^.]{0,40}\b(?:before (?:every|each|any)|for every|in every|on every|whatever|no matter|regardless)\b|\bwhatever (?:was|is|the user) ask\w*\b|\bload the skill \S+ first\b/i,
  },
];
