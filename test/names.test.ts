// Names of files and exports in src/ use the words of GLOSSARY.md; retired words are not used again.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";

const source = join(import.meta.dirname, "..", "src");

/** Each word with its replacement. A name is split into words at capitals, dashes and underscores. */
const RETIRED: { readonly [word: string]: string } = {
  alarm: "alert",
  book: "repository",
  brought: "plugin",
  contention: "retry",
  cure: "hint",
  desk: "service",
  door: "api",
  endings: "shutdown",
  insist: "retry",
  lend: "provide",
  letter: "email",
  office: "context",
  opening: "deps",
  pulse: "health",
  scribe: "context",
  silence: "idle",
  standing: "status",
  trouble: "error",
  wish: "options",
  world: "host",
};

/** Whole phrases in camel case. */
const RETIRED_PHRASES: { readonly [phrase: string]: string } = {
  goOn: "resume",
  inOneLine: "oneLine",
  sayBack: "announce",
  tellOthers: "notify",
};

const EXPORTED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;

function wordsIn(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/);
}

/** Singular and plural are treated as one word. */
function retiredWord(name: string): string | undefined {
  const phrase = Object.keys(RETIRED_PHRASES).find(
    (retired) => name.includes(retired) || name.includes(retired[0]?.toUpperCase() + retired.slice(1)),
  );
  if (phrase) return `${phrase} (use ${RETIRED_PHRASES[phrase]})`;
  const found = wordsIn(name).flatMap((word) => [word, word.replace(/e?s$/, "")]);
  const word = found.find((one) => Object.hasOwn(RETIRED, one));
  return word && `${word} (use ${RETIRED[word]} or another ordinary word)`;
}

function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
}

it("finds retired words in names of every form", () => {
  const names = ["ChatWish", "skillsDoor", "cron-doors", "goOnWith", "WORLD_SIZE", "PluginHTTPDoor", "wishes"];
  expect(names.filter((name) => retiredWord(name) === undefined)).toEqual([]);
  const ordinary = ["secure", "indoor", "calendar", "bookmark", "ChatOptions", "worldwide", "procure"];
  expect(ordinary.filter((name) => retiredWord(name) !== undefined)).toEqual([]);
});

it("no file and no export is named with a retired word", () => {
  const found: string[] = [];
  for (const file of files(source)) {
    const exported = [...readFileSync(join(source, file), "utf8").matchAll(EXPORTED)].map((match) => match[1] ?? "");
    for (const name of [basename(file, ".ts"), ...exported]) {
      const word = retiredWord(name);
      if (word) found.push(`src/${file}: ${name}: ${word}`);
    }
  }
  expect(found).toEqual([]);
});
