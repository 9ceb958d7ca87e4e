// Maps a request to tool calls with a table of phrases.
import type { JsonObject } from "../../core/message.ts";
import { findSchedule } from "./schedule-words.ts";

/** One step: the first of these calls whose tool is available. */
export interface Step {
  readonly calls: readonly { readonly tool: string; readonly args: JsonObject }[];
  /** Report a summary of the result instead of the result. */
  readonly summarise?: boolean | undefined;
}

type Rule = readonly [RegExp, (match: RegExpExecArray) => Step | null];

const FILE = String.raw`["'\u0060]?([\w@~./\\-]*[\w-]\.[\w]{1,8}|[\w@~.-]*\/[\w@~./-]+|Makefile|Dockerfile|README|LICENSE)["'\u0060]?`;
const QUOTED = String.raw`["'\u0060“](.+?)["'\u0060”]`;
const POLITE =
  /^(?:please|kindly|hey|ok(?:ay)?|now|hermes|can you|could you|would you|will you|i want you to|i'd like you to|let's)[,:]?\s+/i;

function bare(text: string): string {
  return text
    .trim()
    .replace(/^["'`“]|["'`”]$/g, "")
    .replace(/[?!.]+$/, "")
    .trim();
}

function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function one(tool: string, args: JsonObject): Step {
  return { calls: [{ tool, args }] };
}

function list(folder: string | undefined): Step {
  const words = /^(?:here|(?:this|the|my|current|working)\s.*|it)?$/i;
  const name = bare(folder ?? "");
  const path = words.test(name) ? "." : name.replace(/^(?:the\s+)?(?:folder|directory)\s+/i, "");
  return {
    calls: [
      { tool: "search_files", args: { pattern: "*", target: "files", path } },
      { tool: "terminal", args: { command: `ls -la -- ${shell(path)}` } },
    ],
  };
}

function read(path: string, lines: JsonObject = {}, summarise = false): Step {
  return {
    calls: [
      { tool: "read_file", args: { path, ...lines } },
      { tool: "terminal", args: { command: `cat -- ${shell(path)}` } },
    ],
    summarise,
  };
}

function write(path: string | undefined, content: string | undefined): Step | null {
  if (!path || content === undefined) return null;
  const fence = /^```\w*\n([\s\S]*?)\n?```\s*$/.exec(content.trim());
  const text = fence?.[1] ?? content.trim().replace(/^["'`“]([\s\S]*)["'`”]$/, "$1");
  return one("write_file", { path, content: text.endsWith("\n") ? text : `${text}\n` });
}

function search(what: string | undefined, where?: string): Step | null {
  const quoted = new RegExp(`^${QUOTED}$`).exec((what ?? "").trim());
  const words = quoted?.[1] ?? bare(what ?? "");
  if (words === "") return null;
  const place = bare(where ?? "");
  const path = /^(?:here|(?:this|the|my|all)\s.*|files)?$/i.test(place) ? "." : place;
  return {
    calls: [
      { tool: "search_files", args: { pattern: escaped(words), path } },
      { tool: "terminal", args: { command: `grep -rnF -- ${shell(words)} ${shell(path)}` } },
    ],
  };
}

function remember(fact: string | undefined): Step | null {
  const text = bare(fact ?? "");
  if (text === "") return null;
  const personal = /^(?:i|i'm|my|me|we|our)\b/i.test(text);
  return one("memory", {
    action: "add",
    target: personal ? "user" : "memory",
    content: personal ? `The user says: ${text}` : text,
  });
}

function schedule(text: string): Step | null {
  const found = findSchedule(text);
  if (!found) return null;
  const prompt = bare(
    found.rest.replace(
      /^(?:schedule|remind me|set up|create)\b\s*(?:a\s+)?(?:reminder|job|task)?\s*(?:to\s+|that\s+|:)?/i,
      "",
    ),
  );
  const reminder = /^remind\b|\breminder\b/i.test(text);
  const words = prompt === "" ? "Say that it is time" : prompt;
  return one("cronjob", {
    action: "create",
    schedule: found.schedule,
    prompt: reminder ? `Remind the user: ${words}` : words,
    name: words.slice(0, 40),
  });
}

const FILES: readonly Rule[] = [
  [
    new RegExp(
      String.raw`^(?:read|show|print|display)\b.*?\blines?\s+(\d+)(?:\s*(?:-|to|through|–)\s*(\d+))?\s+(?:of|in|from)\s+(?:the\s+)?(?:file\s+)?${FILE}`,
      "i",
    ),
    (m) => read(m[3] ?? "", { offset: Number(m[1]), limit: Math.max(1, Number(m[2] ?? m[1]) - Number(m[1]) + 1) }),
  ],
  [
    new RegExp(
      String.raw`^(?:read|show|print)\b.*?\bfirst\s+(\d+)\s+lines\s+(?:of|in|from)\s+(?:the\s+)?(?:file\s+)?${FILE}`,
      "i",
    ),
    (m) => read(m[2] ?? "", { offset: 1, limit: Number(m[1]) }),
  ],
  [
    new RegExp(
      String.raw`^(?:summari[sz]e|sum up|give me a summary of|what is)\s+(?:the\s+)?(?:contents?\s+of\s+)?(?:the\s+)?(?:file\s+)?${FILE}(?:\s+about)?\s*[.?!]*$`,
      "i",
    ),
    (m) => read(m[1] ?? "", {}, true),
  ],
  [
    new RegExp(
      String.raw`^(?:write|save|put|store)\s+${QUOTED}\s+(?:in|into|to|as)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:file\s+)?(?:called\s+|named\s+)?${FILE}`,
      "is",
    ),
    (m) => write(m[2], m[1]),
  ],
  [
    new RegExp(
      String.raw`^(?:write|create|make|save)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:text\s+)?(?:file\s+)?(?:called\s+|named\s+|at\s+)?${FILE}\s*(?:,?\s*(?:with|containing|that says|saying|which says|and write|with the)(?:\s+(?:the\s+)?(?:content|contents|text|words?))?(?:\s+in it)?\s*:?|:)\s*([\s\S]+)$`,
      "i",
    ),
    (m) => write(m[1], m[2]),
  ],
  [
    new RegExp(
      String.raw`^(?:write|save|put)\s+([\s\S]+?)\s+(?:in|into|to)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:file\s+)?(?:called\s+|named\s+)?${FILE}\s*[.!]?$`,
      "i",
    ),
    (m) => write(m[2], m[1]),
  ],
  [
    new RegExp(
      String.raw`^(?:read|show(?:\s+me)?|open|cat|print|display|view)\s+(?:me\s+)?(?:the\s+)?(?:contents?\s+of\s+)?(?:the\s+)?(?:file\s+)?${FILE}\s*[.?!]*$`,
      "i",
    ),
    (m) => read(m[1] ?? ""),
  ],
  [
    new RegExp(
      String.raw`^what(?:'s|\s+is|\s+does)\s+(?:in|inside|the file)?\s*(?:the\s+)?(?:file\s+)?${FILE}(?:\s+(?:say|contain))?\s*[.?!]*$`,
      "i",
    ),
    (m) => read(m[1] ?? ""),
  ],
  [
    /^(?:list|show|which|what)\b(?:\s+me)?(?:\s+all)?(?:\s+the)?\s+(?:files|folders?|director(?:y|ies)|contents?)(?:\s+and\s+\w+)?(?:\s+are)?(?:\s+there)?(?:\s+(?:in|of|under|inside)\s+(.+))?[.?!]*$/i,
    (m) => list(m[1]),
  ],
  [/^(?:ls|dir)(?:\s+(\S+))?$/i, (m) => list(m[1])],
  [
    /^what(?:'s|\s+is)\s+(?:in|inside)\s+(?:this|the|my)\s+(?:current\s+)?(?:folder|directory)\s*(\S*?)[.?!]*$/i,
    (m) => list(m[1]),
  ],
  [
    /^find\s+(?:all\s+)?(?:the\s+)?files?\s+(?:named|called|matching|like)\s+(.+?)(?:\s+in\s+(\S+))?[.?!]*$/i,
    (m) => one("search_files", { pattern: bare(m[1] ?? ""), target: "files", path: bare(m[2] ?? "") || "." }),
  ],
  [
    /^(?:which|what)\s+files\s+(?:contain|mention|have|use)\s+(.+?)(?:\s+in\s+(\S+))?[.?!]*$/i,
    (m) => search(m[1], m[2]),
  ],
];

const MEMORY: readonly Rule[] = [
  [
    /^(?:remember|note(?:\s+down)?|keep\s+in\s+mind|memori[sz]e|don't\s+forget)(?:\s+that|\s*:)?\s+([\s\S]+)$/i,
    (m) => remember(m[1]),
  ],
  [/^((?:my\s+name\s+is|call\s+me|i\s+am\s+called)\s+.+)$/i, (m) => remember(m[1])],
  [
    /^forget\s+(?:that\s+|about\s+)?(.+)$/i,
    (m) =>
      one("memory", {
        action: "remove",
        target: /^(?:i|my|me)\b/i.test(m[1] ?? "") ? "user" : "memory",
        old_text: bare(m[1] ?? ""),
      }),
  ],
  [
    /^(?:search|look)\s+(?:in\s+|through\s+)?(?:my|our|the|past|old|previous|earlier)\s*(?:past|old|previous|earlier)?\s*(?:sessions?|conversations?|history|chats?)\s+for\s+(.+)$/i,
    (m) => one("session_search", { query: bare(m[1] ?? "") }),
  ],
  [
    /^(?:did\s+we|have\s+we|when\s+did\s+we|what\s+did\s+we)\s+(?:ever\s+)?(?:talk(?:ed)?|speak|spoken|discuss(?:ed)?|say|said|decide[d]?)\s*(?:about|on)?\s+(.+)$/i,
    (m) => one("session_search", { query: bare(m[1] ?? "") }),
  ],
  [
    /^(?:recall|what\s+do\s+you\s+(?:know|remember)\s+about)\s+(?!me\b|us\b)(.+)$/i,
    (m) => one("session_search", { query: bare(m[1] ?? "") }),
  ],
  [
    /^(?:what\s+did\s+we\s+do|what\s+have\s+we\s+done|show|list)\s*(?:me\s+)?(?:my\s+|our\s+|the\s+)?(?:last\s+time|recent(?:ly)?|past|last|previous|earlier)?\s*(?:sessions?|conversations?|chats?)?[.?!]*$/i,
    (m) => (/last time|recent|session|conversation|chat/i.test(m[0]) ? one("session_search", {}) : null),
  ],
];

const OTHER: readonly Rule[] = [
  [
    /^(?:list|show)(?:\s+me)?\s+(?:all\s+)?(?:my|the|scheduled)?\s*(?:scheduled\s+)?(?:jobs|reminders|schedules?|cron\s*jobs)[.?!]*$|^what(?:'s|\s+is)\s+scheduled[.?!]*$/i,
    () => one("cronjob", { action: "list" }),
  ],
  [
    /^(remove|delete|cancel|pause|resume|run)\s+(?:the\s+)?(?:job|reminder|schedule)\s+(\S+)[.?!]*$/i,
    (m) =>
      one("cronjob", {
        action: /delete|cancel/i.test(m[1] ?? "") ? "remove" : (m[1] ?? "").toLowerCase(),
        job_id: bare(m[2] ?? ""),
      }),
  ],
  [/^(?:schedule|remind\s+me|set\s+(?:up\s+)?a\s+reminder)\b[\s\S]+$/i, (m) => schedule(m[0])],
  [/^(?:every|each)\s+\w+[\s\S]+$/i, (m) => schedule(m[0])],
  [/^(?:list|show|which|what)(?:\s+me)?(?:\s+\w+)?\s+skills\b.*$/i, () => one("skills_list", {})],
  [
    /^(?:load|use|open|view|show|read)\s+(?:me\s+)?(?:the\s+)?skill\s+["'`]?([\w:/-]+)["'`]?[.?!]*$/i,
    (m) => one("skill_view", { name: m[1] ?? "" }),
  ],
  [
    /^(?:load|use|open|view|show|read)\s+(?:me\s+)?(?:the\s+)?["'`]?([\w:/-]+)["'`]?\s+skill[.?!]*$/i,
    (m) => one("skill_view", { name: m[1] ?? "" }),
  ],
  [
    /^(?:add|put)\s+(.+?)\s+(?:to|on)\s+(?:my|the)\s+(?:to-?dos?|to-?do\s+list|task\s+list)[.?!]*$/i,
    (m) =>
      one("todo", {
        todos: [
          {
            id: bare(m[1] ?? "")
              .toLowerCase()
              .replace(/\W+/g, "-")
              .slice(0, 24),
            content: bare(m[1] ?? ""),
            status: "pending",
          },
        ],
        merge: true,
      }),
  ],
  [
    /^(?:show|list|what(?:'s|\s+is)\s+on)(?:\s+me)?\s+(?:my|the)\s+(?:to-?dos?|to-?do\s+list|task\s+list|tasks)[.?!]*$/i,
    () => one("todo", {}),
  ],
  [
    /^(?:search|look\s+up)\s+(?:on\s+)?(?:the\s+)?(?:web|internet|online)\s+(?:for\s+)?(.+)$/i,
    (m) => one("web_search", { query: bare(m[1] ?? "") }),
  ],
  [
    /^(?:fetch|read|open|get|summari[sz]e)\s+(?:the\s+)?(?:page\s+|site\s+|url\s+)?(https?:\/\/\S+)$/i,
    (m) => one("web_extract", { urls: [m[1] ?? ""] }),
  ],
  [
    /^(?:run|execute)(?::\s*|\s+)(?:the\s+)?(?:shell\s+)?(?:command\s*)?:?\s*```(?:\w*\n)?([\s\S]+?)```$/i,
    (m) => one("terminal", { command: (m[1] ?? "").trim() }),
  ],
  [
    new RegExp(
      String.raw`^(?:run|execute)(?::\s*|\s+)(?:the\s+)?(?:shell\s+)?(?:command\s*)?:?\s*${QUOTED}[.?!]*$`,
      "i",
    ),
    (m) => one("terminal", { command: m[1] ?? "" }),
  ],
  [
    /^(?:run|execute)(?::\s*|\s+)(?:the\s+)?(?:shell\s+)?(?:command\s*)?:?\s*(.+)$/i,
    (m) => one("terminal", { command: (m[1] ?? "").trim() }),
  ],
  [/^[$!]\s*(.+)$/, (m) => one("terminal", { command: (m[1] ?? "").trim() })],
  [
    /^what(?:'s|\s+is)?\s+(?:the\s+)?(?:time|date|day)(?:\s+is\s+it)?(?:\s+(?:today|now))?[.?!]*$/i,
    () => one("terminal", { command: "date" }),
  ],
  [
    /^(?:pwd|where\s+am\s+i|what(?:'s|\s+is)\s+(?:the\s+)?(?:current|working)\s+(?:folder|directory))[.?!]*$/i,
    () => one("terminal", { command: "pwd" }),
  ],
  [
    /^(?:search|grep|look)\s+(?:for\s+)?(.+?)(?:\s+(?:in|under|inside)\s+(\S+|(?:this|the|my|all)\s.+?))?[.?!]*$/i,
    (m) => search(m[1], m[2]),
  ],
  [/^find\s+(.+?)(?:\s+(?:in|under|inside)\s+(\S+|(?:this|the|my|all)\s.+?))?[.?!]*$/i, (m) => search(m[1], m[2])],
  [/^where\s+is\s+(.+?)(?:\s+(?:defined|used|mentioned))(?:\s+in\s+(\S+))?[.?!]*$/i, (m) => search(m[1], m[2])],
];

const RULES: readonly Rule[] = [...MEMORY.slice(3), ...FILES, ...MEMORY, ...OTHER];

function parseStep(text: string): Step | null {
  let request = text.trim();
  while (POLITE.test(request)) request = request.replace(POLITE, "");
  for (const [pattern, make] of RULES) {
    const match = pattern.exec(request);
    const step = match ? make(match) : null;
    if (step) return step;
  }
  return null;
}

/** The steps of a request, in order; empty for unknown requests. */
export function parseSteps(text: string): Step[] {
  const pieces = /```/.test(text) ? [text] : text.split(/[,.;]?\s+(?:and\s+)?then\s+|;\s+/i);
  const steps = pieces.map(parseStep);
  if (steps.every((step) => step !== null)) return steps as Step[];
  const whole = parseStep(text);
  return whole ? [whole] : [];
}
