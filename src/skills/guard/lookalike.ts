// Names that imitate well-known packages, programs and hosts by one letter.
import type { Pattern } from "./finding.ts";

const PACKAGES = new Set(
  (
    "requests numpy pandas django flask fastapi openai anthropic langchain transformers tensorflow pytorch torch scikit-learn " +
    "matplotlib selenium playwright beautifulsoup4 pillow cryptography paramiko sqlalchemy pydantic boto3 urllib3 " +
    "setuptools colorama aiohttp httpx websockets web3 ccxt python-dotenv psycopg2 express lodash react-dom axios webpack " +
    "typescript eslint prettier next vite puppeteer cheerio commander chalk dotenv mongoose ethers discord.js telegraf " +
    "openclaw clawhub clawdbot moltbot claude-code hermes-agent gemini-cli codex docker kubectl terraform ansible homebrew " +
    "ffmpeg nodemon electron tailwindcss supabase firebase prisma stripe twilio sendgrid"
  ).split(" "),
);

/** Real packages that differ from a well-known one by a letter. */
const REAL = new Set(
  "preact nuxt vitest expresso request tiptap-react pydantics clawdhub pillow-simd torchx".split(" "),
);

const HOSTS = new Set(
  (
    "github gitlab google openai anthropic microsoft amazonaws cloudflare docker npmjs pypi python pythonhosted telegram " +
    "discord slack dropbox paypal stripe coinbase binance metamask polymarket openclaw clawhub huggingface githubusercontent " +
    "nousresearch openrouter vercel netlify"
  ).split(" "),
);

/** True when one insertion, removal, replacement or swap of neighbours turns one text into the other. */
export function differsByOne(one: string, other: string): boolean {
  if (one === other || Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  let end = 0;
  while (
    end < Math.min(one.length, other.length) - start &&
    one[one.length - 1 - end] === other[other.length - 1 - end]
  )
    end++;
  const left = one.slice(start, one.length - end);
  const right = other.slice(start, other.length - end);
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}

function imitates(name: string, known: ReadonlySet<string>): boolean {
  const plain = name.toLowerCase();
  if (plain.length < 6 || known.has(plain) || REAL.has(plain)) return false;
  const unified = plain.replaceAll("0", "o").replaceAll("1", "l").replaceAll("3", "e").replaceAll("rn", "m");
  if (unified !== plain && known.has(unified)) return true;
  return [...known].some((word) => word.length >= 6 && differsByOne(plain, word) && !isPlural(plain, word));
}

/** `request` and `requests` are both common words. */
function isPlural(one: string, other: string): boolean {
  return one === `${other}s` || other === `${one}s`;
}

const INSTALL =
  /\b(?:pip3?|uv(?: pip| tool)?|pipx|npm|pnpm|yarn|bun|brew|gem|cargo|go|clawhub|npx|uvx)\s+(?:install|i|add|get|exec|dlx|-g|-y|--yes|install -g)?\s*(?:-\S+\s+)*((?:@[\w.-]+\/)?[\w.-]+(?:\[[^\]]*\])?(?:[=@~<>]=?[\w.]+)?(?:[ \t]+[\w.@/-]+){0,8})/gi;
const URL_HOST =
  /https?:\/\/(?:[\w-]+\.)*?([\w-]+)\.(?:com|net|org|io|dev|app|ai|co|sh|me|xyz|site|cloud|top|info)\b/gi;

function installsImitation(text: string): boolean {
  for (const [command, list = ""] of text.matchAll(INSTALL)) {
    const words = list.split(/\s+/);
    // `npx` and `uvx` run one package; what follows are its arguments.
    for (const word of /^(?:npx|uvx)/i.test(command) ? words.slice(0, 1) : words) {
      const name = word.replace(/^@[\w.-]+\//, "").replace(/[[=@~<>].*$/, "");
      if (/^[a-z][\w.-]+$/i.test(name) && imitates(name, PACKAGES)) return true;
    }
  }
  return false;
}

function linksToImitation(text: string): boolean {
  return [...text.matchAll(URL_HOST)].some(([, host = ""]) => imitates(host, HOSTS));
}

export const LOOKALIKE_PATTERNS: readonly Pattern[] = [
  {
    id: "imitated_package",
    category: "supply_chain",
    severity: "high",
    description: "installs a package whose name differs from a well-known one by a letter",
    match: /\b(?:pip3?|uv|pipx|npm|pnpm|yarn|bun|brew|gem|cargo|clawhub|npx|uvx)\s/i,
    unless: (text) => !installsImitation(text),
  },
  {
    id: "imitated_host",
    category: "supply_chain",
    severity: "high",
    description: "an address that differs from a well-known one by a letter",
    match: /https?:\/\//i,
    unless: (text) => !linksToImitation(text),
  },
];
