// A deterministic store of realistic messages: prose, code, logs, tool calls, and about six in a hundred with CJK.

/** A small fast generator (xorshift): the same seed gives the same corpus on every machine. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  /** 0 ≤ x < 1. */
  next(): number {
    let x = this.#state;
    x ^= x << 13;
    x >>>= 0;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x >>> 0;
    return this.#state / 0x1_0000_0000;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}

const COMMON =
  "the of and to in is that it for on with as this be are by from or an at we can have not will you if but when which one more all into use than other then out so there only what about up file code test run time error data server user value change build request response config".split(
    " ",
  );
const STEMS =
  "deploy docker compose kubernetes network proxy cache token session message index query schema migrate backup restore cluster container volume secret policy gateway webhook scheduler worker queue stream buffer socket thread process memory latency timeout retry failure rollback release version branch commit merge review pipeline artifact registry image layer module package import export render template router handler middleware database table column trigger transaction isolation replica shard partition snapshot checkpoint journal compact vacuum analyse optimise measure profile trace metric alert dashboard incident postmortem".split(
    " ",
  );
const ENDINGS = ["", "", "", "s", "ing", "ed", "er", "ment", "able"];
const HYPHENATED = ["docker-compose", "read-only", "open-source", "follow-up", "built-in", "end-to-end"];
const CJK =
  "今天我们讨论数据库备份的方案以及部署流程服务器需要重新启动网络连接超时请检查配置文件日志显示内存不足缓存失效用户反馈搜索结果不准确测试通过可以发布版本升级之后性能提升明显会议纪要项目进度安排日本語の文章を書くテスト한국어데이터베이스".split(
    "",
  );
const RARE = ["xylophone", "quixotic", "zeppelin", "kumquat", "obsidian"];

export interface CorpusMessage {
  readonly role: "user" | "assistant" | "tool";
  readonly content: string | null;
  readonly toolName: string | null;
  readonly toolCalls: string | null;
}

/** Words with a long-tail distribution: a few are frequent, most are rare. */
function word(dice: Dice): string {
  const roll = dice.next();
  if (roll < 0.55) return COMMON[Math.floor(dice.next() ** 2 * COMMON.length)] as string;
  if (roll < 0.93) return (STEMS[Math.floor(dice.next() ** 1.6 * STEMS.length)] as string) + dice.pick(ENDINGS);
  if (roll < 0.94) return dice.pick(HYPHENATED);
  return `${dice.pick(STEMS)}${dice.below(4000)}`;
}

function prose(dice: Dice, length: number): string {
  let out = "";
  while (out.length < length) {
    const words = Array.from({ length: 5 + dice.below(14) }, () => word(dice));
    out += `${words.join(" ")}. `;
  }
  return out;
}

function code(dice: Dice, length: number): string {
  let out = "```ts\n";
  while (out.length < length) {
    out += `const ${word(dice)}_${dice.below(99)} = await ${word(dice)}.${word(dice)}("${word(dice)}/${word(dice)}", { ${word(dice)}: ${dice.below(9999)} });\n`;
  }
  return `${out}\`\`\``;
}

function log(dice: Dice, length: number): string {
  let out = "";
  while (out.length < length) {
    const level = dice.pick(["INFO", "WARN", "ERROR"]);
    out += `2026-0${1 + dice.below(9)}-1${dice.below(10)}T0${dice.below(10)}:${10 + dice.below(50)}:00Z ${level} ${word(dice)}[${dice.below(65535)}]: ${word(dice)} ${word(dice)} 10.0.${dice.below(255)}.${dice.below(255)}\n`;
  }
  return out;
}

function cjk(dice: Dice, length: number): string {
  let out = "";
  while (out.length < length / 3) {
    const start = dice.below(CJK.length - 12);
    out += `${CJK.slice(start, start + 4 + dice.below(8)).join("")}${dice.pick(["，", "。", " ", " docker "])}`;
  }
  return out;
}

function calls(dice: Dice): string {
  const argument = JSON.stringify({
    command: `${word(dice)} --${word(dice)} ${word(dice)}/${word(dice)}`,
    path: word(dice),
  });
  const name = dice.pick(["terminal", "read_file", "web_search"]);
  return JSON.stringify([{ id: `call_${dice.below(1e9)}`, type: "function", function: { name, arguments: argument } }]);
}

/** Message number `index` of the corpus; 200 to 2,000 characters, short ones more often. */
export function messageAt(dice: Dice, index: number): CorpusMessage {
  const length = Math.exp(Math.log(200) + dice.next() * (Math.log(2000) - Math.log(200)));
  const plain = { toolName: null, toolCalls: null };
  const rare = index % 8000 === 17 ? ` ${RARE[((index / 8000) % RARE.length) | 0]}` : "";
  const roll = dice.next();
  if (roll < 0.06) return { role: index % 2 ? "assistant" : "user", content: cjk(dice, length), ...plain };
  if (roll < 0.18) return { role: "assistant", content: null, toolName: null, toolCalls: calls(dice) };
  if (roll < 0.33) return { role: "tool", content: log(dice, length), toolName: "terminal", toolCalls: null };
  if (roll < 0.48) return { role: "assistant", content: code(dice, length), ...plain };
  return { role: index % 2 ? "assistant" : "user", content: prose(dice, length) + rare, ...plain };
}
