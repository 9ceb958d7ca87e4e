// node scripts/screenshots.mjs: runs the built program in a terminal emulator and draws its screens as SVG to docs/images.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import headless from "@xterm/headless";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const images = join(root, "docs", "images");
const COLUMNS = 96;
const ROWS = 28;
const CELL = { width: 8.4, height: 18 };
const BACK = "#14141c";
const FRONT = "#d8d4c8";
const BASIC = [
  "#1c1c1c",
  "#d75f5f",
  "#87af5f",
  "#d7af5f",
  "#5f87d7",
  "#af87d7",
  "#5fafaf",
  "#d0d0d0",
  "#6c6c6c",
  "#ff8787",
  "#afd787",
  "#ffd787",
  "#87afff",
  "#d7afff",
  "#87d7d7",
  "#ffffff",
];

function paletteColor(index) {
  if (index < 16) return BASIC[index];
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return `rgb(${grey},${grey},${grey})`;
  }
  const level = (part) => (part === 0 ? 0 : 55 + part * 40);
  const cube = index - 16;
  return `rgb(${level(Math.floor(cube / 36))},${level(Math.floor(cube / 6) % 6)},${level(cube % 6)})`;
}

function color(cell, which) {
  const value = which === "fg" ? cell.getFgColor() : cell.getBgColor();
  if (which === "fg" ? cell.isFgRGB() : cell.isBgRGB()) return `#${value.toString(16).padStart(6, "0")}`;
  if (which === "fg" ? cell.isFgPalette() : cell.isBgPalette()) return paletteColor(value);
  return which === "fg" ? FRONT : BACK;
}

const escapeXml = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Cells of the same style in a row become one text. */
function drawRow(line, row) {
  const parts = [];
  let run;
  const close = () => {
    if (run && run.text.trim() !== "") {
      const x = (run.from * CELL.width + 12).toFixed(1);
      const y = (row + 1) * CELL.height + 8;
      const width = (run.cells * CELL.width).toFixed(1);
      const weight = run.bold ? ' font-weight="bold"' : "";
      parts.push(
        `<text x="${x}" y="${y}" fill="${run.fg}" textLength="${width}" lengthAdjust="spacingAndGlyphs"${weight}>${escapeXml(run.text)}</text>`,
      );
    }
    if (run && run.bg !== BACK) {
      const box = `x="${(run.from * CELL.width + 12).toFixed(1)}" y="${row * CELL.height + 12}" width="${(run.cells * CELL.width).toFixed(1)}" height="${CELL.height}"`;
      parts.unshift(`<rect ${box} fill="${run.bg}"/>`);
    }
    run = undefined;
  };
  for (let column = 0; column < COLUMNS; column++) {
    const cell = line?.getCell(column);
    if (!cell || cell.getWidth() === 0) continue;
    const inverse = cell.isInverse() !== 0;
    const [fg, bg] = inverse ? [color(cell, "bg"), color(cell, "fg")] : [color(cell, "fg"), color(cell, "bg")];
    const bold = cell.isBold() !== 0;
    if (run && (run.fg !== fg || run.bg !== bg || run.bold !== bold)) close();
    run ??= { from: column, cells: 0, text: "", fg, bg, bold };
    run.text += cell.getChars() || " ";
    run.cells += cell.getWidth();
  }
  close();
  return parts.join("");
}

function drawScreen(terminal, title) {
  const { active } = terminal.buffer;
  const rows = Array.from({ length: ROWS }, (_, row) => drawRow(active.getLine(active.baseY + row), row)).join("\n");
  const width = Math.round(COLUMNS * CELL.width + 24);
  const height = ROWS * CELL.height + 28;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>${title}</title>
<rect width="100%" height="100%" rx="8" fill="${BACK}"/>
<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" xml:space="preserve">
${rows}
</g>
</svg>
`;
}

const CODE = "```ts\nexport function area(width: number, height: number): number {\n  return width * height;\n}\n```";
const ANSWERS = {
  "add an area function": [
    {
      name: "write_file",
      args: {
        path: "area.ts",
        content: "export function area(width: number, height: number): number {\n  return width * height;\n}\n",
      },
    },
    { name: "terminal", args: { command: "ls -l area.ts && wc -l area.ts" } },
    `## Done\n\n\`area.ts\` has the function, and it **type-checks**:\n\n${CODE}\n\n| case | result |\n|---|---:|\n| area(2, 3) | 6 |\n| area(0, 9) | 0 |`,
  ],
  "clean the build": [
    { name: "terminal", args: { command: "rm -rf ./build && npm run build" } },
    "Clean and built again.",
  ],
};

const MODELS = ["demo-model", "demo-model-large", "demo-coder", "demo-vision", "demo-mini"];

/** A model that answers from the script, by the last user message and the number of tool results after it. */
function startModel() {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      if (request.method === "GET") {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ object: "list", data: MODELS.map((id) => ({ id, object: "model" })) }));
        return;
      }
      const { messages = [], tools = [] } = body === "" ? {} : JSON.parse(body);
      const last = messages.findLastIndex((message) => message.role === "user");
      const asked = messages[last]?.content ?? "";
      const steps = ANSWERS[typeof asked === "string" ? asked : ""] ?? ["Yes."];
      const step = steps[Math.min(steps.length - 1, messages.slice(last).filter((m) => m.role === "tool").length)];
      const message =
        tools.length === 0
          ? { content: "Area function" }
          : typeof step === "string"
            ? { content: step }
            : {
                tool_calls: [
                  {
                    index: 0,
                    id: `call_${messages.length}`,
                    type: "function",
                    function: { name: step.name, arguments: JSON.stringify(step.args) },
                  },
                ],
              };
      response.setHeader("content-type", "text/event-stream");
      const send = (part, finish) =>
        response.write(
          `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "demo", choices: [{ index: 0, delta: part, finish_reason: finish }], usage: finish ? { prompt_tokens: 9_000, completion_tokens: 120, total_tokens: 9_120 } : undefined })}\n\n`,
        );
      send({ role: "assistant", ...message }, null);
      send({}, message.tool_calls ? "tool_calls" : "stop");
      response.end("data: [DONE]\n\n");
    });
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function main() {
  const server = await startModel();
  const home = mkdtempSync(join(tmpdir(), "hermes-screens-"));
  const project = join(home, "project");
  mkdirSync(join(project, "build"), { recursive: true });
  mkdirSync(images, { recursive: true });
  const base = `http://127.0.0.1:${server.address().port}/v1`;
  writeFileSync(
    join(home, "config.yaml"),
    `model:\n  default: demo-model\n  provider: custom\n  base_url: ${base}\n  context_length: 128000\ndisplay:\n  final_response_markdown: render\n`,
  );
  const terminal = new headless.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  const child = spawn(process.execPath, [join(root, "dist", "main.js")], {
    cols: COLUMNS,
    rows: ROWS,
    cwd: project,
    env: { PATH: process.env.PATH, HOME: home, HERMES_HOME: home, TERM: "xterm-256color", COLORTERM: "truecolor" },
  });
  child.onData((data) => terminal.write(data));
  terminal.onData((data) => child.write(data));
  const shown = () => {
    const { active } = terminal.buffer;
    return Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? "").join(
      "\n",
    );
  };
  const shows = async (text) => {
    for (let tries = 0; tries < 600; tries++) {
      if (shown().includes(text)) return pause(400);
      await pause(100);
    }
    throw new Error(`the screen never showed ${text}:\n${shown()}`);
  };
  const save = (name, title) => writeFileSync(join(images, `${name}.svg`), drawScreen(terminal, title));
  const type = async (text) => {
    child.write(text);
    await pause(300);
    child.write("\r");
  };
  try {
    await shows("❯");
    await type("add an area function");
    await shows("area(0, 9)");
    save("tool-turn", "A turn with tools");
    await type("clean the build");
    await shows("Deny");
    save("approval", "A command that waits for approval");
    await pause(800);
    child.write("4");
    await shows("Clean and built again.");
    await type("/model");
    await shows("Esc closes");
    save("model-picker", "Choosing a model");
    child.write("\u001b");
    await pause(800);
    await type("/context");
    await shows("tool schemas");
    save("context", "What fills the context window");
  } finally {
    child.kill("SIGKILL");
    server.close();
    rmSync(home, { recursive: true, force: true });
  }
}

await main();
