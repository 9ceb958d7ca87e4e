import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bundle } from "../../../test/kit/bundle.ts";
import { tempFolder } from "../../../test/kit/tool-context.ts";
import { until } from "../../../test/kit/until.ts";
import { jsonResult } from "../../core/tool/tool.ts";
import { ToolServer } from "./tool-server.ts";

let folder: ReturnType<typeof tempFolder>;

function alive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

beforeEach(() => {
  folder = tempFolder();
});

afterEach(() => folder.remove());

describe("the server for tool calls", () => {
  it("has a private folder, a private socket, and a token that only the script knows", async () => {
    const socketPath = join(folder.path, "rpc.sock");
    let called = 0;
    const call = async () => {
      called++;
      return jsonResult({});
    };
    const server = await ToolServer.listen({ socketPath, token: "right", allowed: ["read_file"], maxCalls: 5, call });
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
    const send = (text: string) =>
      new Promise<string>((resolve) => {
        const socket = createConnection(socketPath, () => socket.write(text));
        let answer = "";
        socket.on("data", (chunk) => {
          answer += chunk;
          socket.end();
        });
        socket.on("close", () => resolve(answer));
        socket.on("error", () => resolve(answer));
      });
    for (const bad of [
      '{"token":"wrong","tool":"read_file","args":{}}\n',
      "not json\n",
      "null\n",
      '{"tool":"read_file"}\n',
    ])
      expect(await send(bad)).toBe("");
    expect(called).toBe(0);
    expect(await send('{"token":"right","tool":"read_file","args":[1]}\n')).toContain("must be named");
    expect(await send('{"token":"right","tool":"read_file","args":{"path":"x"}}\n')).toContain('"ok":true');
    expect(called).toBe(1);
    await server.close();
  });

  it("leaves no process behind when the program is killed", async () => {
    const note = join(folder.path, "pids");
    const child = spawn(process.execPath, [await bundle("test/children/code-child.ts"), folder.path, note], {
      stdio: "ignore",
      env: { TMPDIR: folder.path },
    });
    await until(() => existsSync(note) && readFileSync(note, "utf8").includes(" "));
    const pids = readFileSync(note, "utf8").split(" ").map(Number);
    expect(pids.every(alive)).toBe(true);
    child.kill("SIGKILL");
    await until(() => !pids.some(alive));
  }, 60_000);
});
