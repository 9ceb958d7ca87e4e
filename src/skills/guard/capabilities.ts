// Patterns for what a line of code can do, in the common languages. The flow rules combine them.
// biome-ignore-all lint/style/useNamingConvention: names of commands

export interface Capability {
  readonly match: RegExp;
  /** The line only names the path, or passes it to a program that is meant to use it. */
  readonly unless?: RegExp | undefined;
}

/** Paths of the user's keys, passwords and sessions. */
export const SECRET_PATH =
  /~\/\.hermes\/?(?=[\s"';&|)]|$)|~\/\.(?:ssh|aws|gnupg|kube|azure|password-store)\b(?!\/(?:config\b|known_hosts|authorized_keys|[\w.*-]*\.pub))|(?:^|[^\w.])\.ssh\/(?!config\b|known_hosts|authorized_keys|[\w.*-]*\.pub\b)|\bid_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub)|\.aws\/(?:credentials|sso|cli\/cache)?|\.netrc\b|\.npmrc\b|\.pypirc\b|\.pgpass\b|\.my\.cnf\b|\.git-credentials\b|\.gnupg\b|\.kube\/config|\.docker\/config\.json|\.config\/(?:gh\/hosts|gcloud|op\/|rclone\/rclone\.conf|hub\b|solana)|\.azure\/|application_default_credentials|\.terraform\.d\/credentials|\.cargo\/credentials|\.hermes\/(?:\.env|auth\.json|state\.db)|(?:^|[\s"'`/@(=])\.env(?:\.(?:local|production|prod))?(?=["'`\s)|;,]|$)|\bwallet\.dat\b|\.electrum\b|\.ethereum\/keystore|\.password-store|\.kdbx\b|\.bitcoin\b|\.claude(?:\/\.credentials|\.json)|\.codex\/auth|~\/\.[\w-]+\/(?:access_?)?(?:tokens?|credentials?|secrets?|session)(?:\.\w+)?\b|\/var\/run\/secrets\/kubernetes|\/etc\/shadow|\/proc\/(?:self|\d+|\*)\/environ/i;

/** A path that is only named, or passed to a program that is meant to use it. */
export const NAMED_ONLY =
  /\b(?:chmod|chown|ls|stat|test|mkdir|touch|ssh-keygen|ssh-add|existsSync|exists\(|is_file|isfile|access\()\b(?![^\n]*[|&;])|\s-i\s+["']?\S*\.ssh\/|--(?:kubeconfig|key|cert|identity|[\w-]*-file)\b|\b\w+_(?:FILE|PATH|CONFIG)=|\bKUBECONFIG=|IdentityFile|\bcurl\s+(?:-\w*\s+)*(?:-n|--netrc)\b|\.gitignore|gitignore|dotenv|load_dotenv|\bsource\s+\S*\.env|^\s*(?:\.|source|set -a)\s|\.env\.(?:example|sample|template)/i;

/** Data that identifies a user or allows acting on their behalf. */
export const PRIVATE: readonly Capability[] = [
  { match: SECRET_PATH, unless: NAMED_ONLY },
  {
    match:
      /(?:^|[^\w.])(?:dict\(\s*)?os\.environ\b(?!\s*(?:\[|\.(?:get|setdefault|pop|update)))|\bprocess\.env\b(?!\s*(?:\.|\?\.|\[))|%ENV\b|\bENV\.(?:to_h|each|map|inspect|to_a)|\b(?:Get-ChildItem|gci|dir|ls)\s+env:|(?:^|[;&|(`]\s*|\bsudo\s+)(?:env|printenv)\s*(?:\||>|\)|`|;|$)|(?:^|[;&|(]\s*)set\s*\||\bexport\s+-p\b|\bgetenv\(\s*\)/i,
    unless:
      /\benv\s*[=:]\s*|\bcut -d=? ?-?f1|\bcut\s+-d\s*=\s+-f\s*1|awk -F= '\{ ?print \$1|in os\.environ\b(?! *:)|\.keys\(/i,
  },
  { match: /\b(?:tar|zip|rsync|scp)\b[^\n]*\s~\/?(?=[\s;&|)]|$)/i },
  { match: /\.(?:bash|zsh|python|psql|mysql|node_repl|sqlite)_history\b|fish_history|ConsoleHost_history/i },
  {
    match:
      /\b(?:pbpaste|wl-paste|Get-Clipboard|xsel\s+(?:-\w+\s+)*-?-?o|xclip\b[^\n|]*-o)\b|pyperclip\.paste|clipboardy?\.read/i,
  },
  { match: /\bpynput\b|keyboard\.(?:on_press|hook|record)|\biohook\b|GetAsyncKeyState|\bxinput\s+test|\blogkeys\b/i },
  {
    match:
      /(?:chrome|chromium|firefox|mozilla|brave|edge|opera|safari|vivaldi)[^\n]*(?:Cookies|Login Data|logins\.json|key4\.db|cookies\.sqlite|Local State|Web Data)|\bbrowser_cookie3\b/i,
  },
  {
    match:
      /\bsecurity\s+(?:find-\w+-password|dump-keychain|export)|\bsecret-tool\s+(?:lookup|search)|\bkwallet-query|\bgpg2?\b[^\n]*--export-secret|\bcmdkey\b|\bvaultcmd\b|keyring\.get_password|\bgh\s+auth\s+token\b|\bgcloud\s+auth\s+print|\baz\s+account\s+get-access-token|\baws\s+(?:configure\s+(?:get|export)|sts\s+get-session)/i,
  },
  { match: /\$\{\{\s*toJSON\(\s*secrets\s*\)/i },
  {
    match:
      /169\.254\.169\.254[^\n]*(?:security-credentials|iam|token|user-data|identity)|metadata\.google\.internal[^\n]*token|100\.100\.100\.200/i,
  },
  {
    match:
      /\bfind\s+(?:~|\/|\$)[^\n]*-i?name\s+["']?[^\s]*(?:\.pem|\.key|id_|\.kdbx|wallet|secret|credential|password|\.env|\.ppk)|glob\w*\([^\n]*~\/?\*?\*?[^\n]*(?:\.pem|\.key|\.kdbx|wallet|\.env)|\bgrep\s+-[a-z]*r[a-z]*\s[^\n]*(?:password|api_?key|secret|token|BEGIN)[^\n]*\s(?:~|\/home|\/Users|\/etc)\b/i,
  },
];

/** Decodes text. */
export const DECODES: readonly Capability[] = [
  {
    match:
      /\b(?:b(?:16|32|64|85)decode|a85decode|unhexlify|fromhex|zlib\.decompress|lzma\.decompress|bz2\.decompress|gzip\.decompress|codecs\.decode|marshal\.loads|atob|inflateSync|gunzipSync|brotliDecompress\w*|decode64|FromBase64String|str_rot13|gzinflate|base64_decode|unpack)\s*\(|Buffer\.from\([^\n]*["'](?:base64|hex)["']|\bbase64\s+(?:-d|-D|--decode)|\bxxd\s+-r|\bopenssl\s+(?:enc|aes\S*)[^\n]*\s-d\b|Fernet\([^\n]*\.decrypt/i,
  },
];

/** Reads input of a network request. */
export const REQUEST_INPUT: readonly Capability[] = [
  {
    match:
      /\$_(?:GET|POST|REQUEST|COOKIE|SERVER)\b|\brequest\.(?:args|form|query|json|params|values|body)\b|\breq\.(?:query|body|params)|\bparams\[/i,
  },
];

/** Searches the user's files. */
export const WALKS_HOME =
  /(?:os\.walk|rglob|i?glob|scandir|listdir|readdir\w*|Find\.find|Get-ChildItem|\bgci|\bfind|filepath\.Walk\w*|Dir\.(?:glob|children|each_child))\s*\(?\s*["'`]?(?:~|\/home|\/Users|C:\\Users|\/)(?:\/(?:Documents|Desktop|Pictures|Downloads|projects))?(?:\/\*+)*["'`]?(?:[\s,);]|$)|["']~(?:\/[\w/]+)?["']\)?\.(?:rglob|glob|iterdir)\(/i;

/** Sends data to another machine. */
export const SENDS: readonly Capability[] = [
  {
    match:
      /\b(?:curl|wget|http|https|xh)\b[^\n]*\s(?:-d|--data\S*|-F|--form\S*|-T|--upload-file|--json|--post-(?:data|file)\S*|--body-\w+|-X\s*["']?(?:POST|PUT|PATCH)|--request\s+(?:POST|PUT)|--method=?\s*(?:POST|PUT))|\b(?:curl|wget)\b[^\n]*https?:\/\/[^\s"']*(?:\?|\/)[^\n]*(?:\$\(|\$\{?\w|`)|\bxargs\b[^\n]*\b(?:curl|wget|nc)\b|\|\s*(?:curl|wget|nc|ncat|netcat|telnet|socat|openssl\s+s_client|websocat|mail|mutt|sendmail|msmtp|gh\s+gist)\b|\b(?:curl|wget)\b[^\n]*\s-(?:H|A|e|b|-header|-user-agent|-referer|-cookie)[= ]\s*["'][^"'\n]*\$\(/i,
  },
  {
    match:
      /\b(?:nc|ncat|netcat)\s+(?:-[a-z0-9]+\s+)*[\w.$-]+\s+\d{2,5}\b|>\s*\/dev\/(?:tcp|udp)\/|\b(?:scp|rsync)\b[^\n]*\s\S+:\S*|\b(?:sftp|ftp|lftp|tftp)\b|\b(?:aws\s+s3\s+(?:cp|sync|mv)|gsutil\s+(?:cp|rsync)|rclone\s+(?:copy|sync|move)|az\s+storage\s+blob\s+upload|gh\s+gist\s+create|gh\s+(?:issue|pr)\s+(?:create|comment)|ipfs\s+add)\b|\b(?:dig|nslookup|host|ping|getent\s+hosts|drill)\s[^\n]*(?:\$|`)[^\n]*\.[a-z]{2,}/i,
    unless: /\b(?:nc|ncat|netcat)\s+-\w*z/i,
  },
  {
    match:
      /\b(?:requests|httpx|session|client|aiohttp|s)\.(?:post|put|patch|request)\(|urlopen\([^\n]*data\s*=|\bRequest\([^\n]*(?:data\s*=|method\s*=\s*["'](?:POST|PUT))|http\.client|HTTPS?Connection\(|\bsmtplib\b|\bftplib\b|socket\.(?:create_connection|socket|gethostbyname|getaddrinfo)\b|\bparamiko\b|\.upload_file(?:obj)?\(|\.put_object\(|urllib3|telebot|\.send_document\(/i,
  },
  {
    match:
      /\bmethod\s*:\s*["'`](?:POST|PUT|PATCH)|\baxios\.(?:post|put|patch)\(|\bhttps?\.request\(|sendBeacon\(|\bnet\.(?:connect|createConnection)\(|new\s+(?:WebSocket|XMLHttpRequest|net\.Socket)|nodemailer|dns\.(?:lookup|resolve\w*)\(\s*`|\b(?:got|ky|superagent|undici)\.(?:post|put)|new\s+Image\(\)\.src|\bfetch\(\s*(?:`[^`]*\$\{|["'][^"']*["']\s*\+)/i,
  },
  {
    match:
      /Net::HTTP(?:\.post|::Post|::Put|\.start)|HTTParty\.post|Faraday|RestClient\.post|\bTCPSocket\b|->(?:post|put)\s*\(|IO::Socket|HTTP::Request|\b(?:Invoke-RestMethod|Invoke-WebRequest|irm|iwr)\b[^\n]*-(?:Method\s+["']?(?:Post|Put)|Body|InFile)|\.Upload(?:String|File|Data|Values)\(|TcpClient|Send-MailMessage|HttpClient|curl_exec|CURLOPT_POST|fsockopen|file_get_contents\(\s*["']https?:[^\n]*\.\s*\$|http\.Post(?:Form)?\(/i,
  },
];

/** Downloads text or programs. */
export const FETCHES: readonly Capability[] = [
  {
    match:
      /\b(?:curl|wget|aria2c|lynx|fetch\s+-o|httpie)\s|\b(?:requests|httpx|session)\.(?:get|request)\(|\burlopen\(|\bhttp\.request\(|\burlretrieve\(|\bfetch\(|\baxios(?:\.get)?\(|\bhttps?["'\\]*\)?\.get\(|\bgot\(|Net::HTTP\.get|URI\.(?:open|parse\([^\n]*\)\.(?:open|read))|open-uri|\bLWP::|->get\s*\(|\b(?:Invoke-WebRequest|Invoke-RestMethod|iwr|irm|Start-BitsTransfer)\b|\.Download(?:String|File|Data)\(|\bcertutil\b[^\n]*-urlcache|\bbitsadmin\b|file_get_contents\(\s*["']https?:|http\.Get\(|\b(?:dig|nslookup)\b[^\n]*\btxt\b|dns\.resolver|resolveTxt/i,
  },
];

/** Runs text as a program. */
export const EVALUATES: readonly Capability[] = [
  {
    match:
      /(?<![.\w>])(?:exec|eval)\s*\(\s*(?!["'][^"'\n]*["']\s*\))|(?<![.\w])new\s+Function\s*\(|(?<![.\w])Function\s*\(\s*\w|\bvm\.(?:runIn\w+|Script|compileFunction)\b|\brunIn(?:This|New)Context\(|imp\.load_source|SourceFileLoader|module_from_spec|types\.ModuleType|runpy\.run_|\[scriptblock\]::Create|\biex\b|\beval\s*:\s*true|Invoke-Expression|\b(?:instance|class|module)_eval\b|(?:^|["'`;({]\s*)eval\s+["']?[$\w(]|\beval\s+"?\$|\bmarshal\.loads\(|\bpickle\.loads?\(|import\(\s*["'`]data:|Assembly\]::Load|\._compile\(|\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b|\|\s*(?:sudo\s+)?(?:python3?|node|perl|ruby|php|deno|bun)\b(?!\s+(?:-m\s+json|-c|-e|-r|[\w./-]*\.\w+))|\b(?:source|\.)\s+(?:<\(|\/dev\/stdin)|\b(?:ba|z)?sh\s+(?:-c\s+)?["']?\$(?:\{?\w|\()|\bload\s*\(\s*(?:body|text|code|src|response)/i,
  },
];

/** Writes a program with the name of a common command to a folder of programs. */
export const COMMAND_SHADOWING =
  /(?:>>?|\btee\s+(?:-a\s+)?|write_?(?:File|text|Sync)\w*\(|Set-Content\s+)\s*["'`]?[^\s"'`]*(?:\.local\/bin|\/usr\/local\/bin|~\/bin)\/(?:sudo|su|ssh|scp|git|ls|cd|cat|curl|wget|python3?|node|npm|npx|pip3?|docker|kubectl|gpg|passwd|aws|gh|op|code)["']?(?:\s|$|;|<|["'),])/i;

export const WRITES =
  />>?|\btee\b|\b(?:cp|mv|ln|install)\s|\bopen\([^\n]*["'][aw]b?\+?["']|\.open\(\s*["'][aw]|write_?(?:File|text|Sync|bytes)\w*\(|append_?File\w*\(|\b(?:Set|Add)-Content\b|\bOut-File\b|File\.(?:write|open)|createWriteStream\(|\bsed\s+-i|New-Item|copyfile\(|shutil\.(?:copy|move)\w*\(|\.write\(|\bprintf\b[^\n]*>|Set-ItemProperty|New-ItemProperty|\breg\s+add\b/i;

/** Paths whose content is run automatically. */
export const AUTOSTART_PATH =
  /\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|bash_login|bash_logout|xinitrc|xprofile|xsessionrc|envrc)\b|config\.fish|\/etc\/(?:profile|cron|rc\.local|init\.d|systemd|ld\.so\.preload)|\.config\/(?:autostart|systemd\/user)|Launch(?:Agents|Daemons)|\bcrontab\s+-(?!l)|\|\s*crontab\b|\.git\/hooks\/|\.git-hooks\/|core\.hooksPath|init\.templateDir|\$PROFILE\b|profile\.ps1|\\Startup\\|CurrentVersion\\Run|\bschtasks\b|Register-ScheduledTask|sitecustomize|usercustomize|site-packages\/\S+\.pth|PYTHONSTARTUP|\.ssh\/rc\b|\.vscode\/tasks\.json|"(?:pre|post)install"\s*:/i;
