// The module "hermes_tools" for JavaScript scripts, and the preload file that resolves it.
import type { ScriptTool } from "./script-tools.ts";

/** CommonJS, because both `import` and `require` can load it. */
const BASE = `"use strict";
const { connect } = require("node:net");
const { setTimeout: sleep } = require("node:timers/promises");

let opened;
function link() {
  opened ??= new Promise((resolve, reject) => {
    const socket = connect(process.env.HERMES_RPC_SOCKET);
    const waiting = [];
    let text = "";
    const fail = (error) => {
      opened = undefined;
      for (const call of waiting.splice(0)) call.reject(error);
    };
    socket.setEncoding("utf8");
    socket.on("data", (chunk) => {
      text += chunk;
      for (let end = text.indexOf("\\n"); end >= 0; end = text.indexOf("\\n")) {
        waiting.shift()?.resolve(JSON.parse(text.slice(0, end)));
        text = text.slice(end + 1);
      }
      if (waiting.length === 0) socket.unref();
    });
    socket.once("connect", () => resolve({ socket, waiting }));
    socket.once("error", (error) => (reject(error), fail(error)));
    socket.once("close", () => fail(new Error("the connection to the tools was closed")));
  });
  return opened;
}

async function call(tool, args) {
  const { socket, waiting } = await link();
  const response = await new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    socket.ref();
    socket.write(JSON.stringify({ token: process.env.HERMES_RPC_TOKEN, tool, args }) + "\\n");
  });
  if (!response.ok) return { error: response.error ?? "the call failed" };
  try {
    return JSON.parse(response.content);
  } catch {
    return response.content;
  }
}

function named(names, given) {
  const [first] = given;
  if (given.length === 1 && first !== null && typeof first === "object" && !Array.isArray(first)) return first;
  return Object.fromEntries(given.map((value, index) => [names[index] ?? String(index), value]));
}

/** Parses JSON that may contain raw control characters, as command output often does. */
exports.json_parse = (text) => {
  try {
    return JSON.parse(text);
  } catch (error) {
    const cleaned = text.replace(/"(?:[^"\\\\]|\\\\[^])*"/g, (part) =>
      part.replace(/[\\u0000-\\u001f]/g, (char) => "\\\\u" + char.charCodeAt(0).toString(16).padStart(4, "0")),
    );
    if (cleaned === text) throw error;
    return JSON.parse(cleaned);
  }
};

/** Quotes the text as one word of a shell command. */
exports.shell_quote = (text) => "'" + String(text).replaceAll("'", "'\\\\''") + "'";

/** Calls the function until it does not throw, with growing delays. Throws the last error. */
exports.retry = async (run, maxAttempts = 3, delay = 2) => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt + 1 >= maxAttempts) throw error;
      await sleep(delay * 1000 * 2 ** attempt);
    }
  }
};
`;

export function javascriptModule(tools: readonly ScriptTool[]): string {
  const functions = tools.map(
    ({ name, parameters }) =>
      `\nexports.${name} = (...given) => call("${name}", named(${JSON.stringify(parameters)}, given));\n`,
  );
  return BASE + functions.join("");
}

/** Loaded before the script: resolves its imports from the working directory, and hermes_tools from this folder. */
export const PRELOAD = `import { createRequire, register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
const tools = new URL("./hermes_tools.cjs", import.meta.url).href;
const script = new URL("./script.mjs", import.meta.url).href;
const from = pathToFileURL(join(process.cwd(), "script.mjs")).href;
register("./resolve.mjs", import.meta.url, { data: { tools, script, from } });
const own = createRequire(import.meta.url);
const project = createRequire(from);
globalThis.require = Object.assign((name) => (name === "hermes_tools" ? own("./hermes_tools.cjs") : project(name)), {
  resolve: project.resolve,
});
`;

export const RESOLVE = `let paths;
export async function initialize(data) {
  paths = data;
}
export async function resolve(specifier, context, next) {
  if (specifier === "hermes_tools") return next(paths.tools, context);
  return next(specifier, context.parentURL === paths.script ? { ...context, parentURL: paths.from } : context);
}
`;
