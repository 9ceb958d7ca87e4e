import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callTool, openGate, plainRedactor, tempFolder, toolContext } from "../../../test/kit/tool-context.ts";
import { type ConversationContainer, formatPermission, type Permission } from "../../core/container.ts";
import type { RemoteChannel } from "../terminal/remote-command.ts";
import { RemoteBackend } from "../terminal/remote-shell.ts";
import { backendShell } from "./backend-shell.ts";
import { type FileAccess, localFiles } from "./file-access.ts";
import { FileMemory } from "./file-memory.ts";
import type { FileToolParts } from "./file-tools.ts";
import { guardedFiles, guardedSearch } from "./guarded-files.ts";
import { patchTool } from "./patch.ts";
import { readFileTool } from "./read-file.ts";
import { remoteFiles, remoteSearch } from "./remote-files.ts";
import { searchFilesTool } from "./search-files.ts";
import { writeFileTool } from "./write-file.ts";

let folder: ReturnType<typeof tempFolder>;
let backend: RemoteBackend;
let files: FileAccess;
let parts: FileToolParts;
const at = (...names: string[]) => join(folder.path, ...names);

/** A channel that runs the remote scripts in a local shell. */
function localShellChannel(home: string): RemoteChannel {
  return {
    name: "docker",
    label: "local shell",
    clientEnv: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home },
    available: async () => ({ ok: true }),
    open: async () => undefined,
    argv: (script) => ["bash", "-c", script],
    close: async () => undefined,
  };
}

beforeEach(async () => {
  folder = tempFolder();
  backend = new RemoteBackend({ channel: localShellChannel(folder.path), cwd: folder.path, variables: {} });
  await backend.start();
  const shell = backendShell(backend);
  files = remoteFiles(shell);
  parts = {
    // Only used if the location of the conversation's files were ignored.
    files: { ...localFiles, read: () => Promise.reject(new Error("local files were used")) },
    locate: async () => ({ files, search: remoteSearch(shell), cwd: backend.cwd, home: backend.home, remote: true }),
    gate: openGate,
    redactor: plainRedactor,
    memory: new FileMemory(),
    limits: { maxReadChars: 100_000, maxLines: 2_000, maxLineChars: 2_000 },
    beforeChange: () => Promise.reject(new Error("no checkpoints elsewhere")),
  };
});
afterEach(async () => {
  await backend.close();
  folder.remove();
});

describe("remote files", () => {
  it("return the same as local ones", async () => {
    mkdirSync(at("it's a folder"));
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256));
    writeFileSync(at("it's a folder", "bin 'x'"), bytes);
    writeFileSync(at("empty"), "");
    for (const path of [at("it's a folder", "bin 'x'"), at("empty"), at("it's a folder"), at("missing"), "/dev/null"]) {
      const [here, there] = [await localFiles.info(path), await files.info(path)];
      expect(there && { ...there, mtimeMs: 0 }).toEqual(here && { ...here, mtimeMs: 0 });
      if (here && there) expect(Math.abs(here.mtimeMs - there.mtimeMs)).toBeLessThan(2);
    }
    expect(Buffer.from(await files.read(at("it's a folder", "bin 'x'"))).equals(bytes)).toBe(true);
    expect(Buffer.from(await files.head(at("it's a folder", "bin 'x'"), 10))).toEqual(bytes.subarray(0, 10));
    expect((await files.read(at("empty"))).length).toBe(0);
    expect((await files.names(folder.path)).toSorted()).toEqual((await localFiles.names(folder.path)).toSorted());
    expect(await files.names(at("missing"))).toEqual([]);
    await expect(files.read(at("missing"))).rejects.toThrow(/no such file/);
  });

  it("are streamed in chunks", async () => {
    const bytes = Buffer.alloc(9 * 1024 * 1024, "0123456789\n");
    writeFileSync(at("large"), bytes);
    const pieces: Uint8Array[] = [];
    for await (const piece of files.stream(at("large"))) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(1);
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    writeFileSync(at("huge"), Buffer.alloc(21 * 1024 * 1024));
    await expect(files.read(at("huge"))).rejects.toThrow(/larger than 20 MB/);
  });

  it("are replaced atomically, keep their mode, follow links, and folders are created", async () => {
    const data = Buffer.from([0, 255, 10, 13, 39, 92]);
    expect(await files.write(at("new", "deep", "file"), data)).toEqual({ createdFolders: true });
    expect(readFileSync(at("new", "deep", "file"))).toEqual(data);
    expect(statSync(at("new", "deep", "file")).mode & 0o777).toBe(0o644);
    chmodSync(at("new", "deep", "file"), 0o755);
    symlinkSync(at("new", "deep", "file"), at("link"));
    expect(await files.write(at("link"), Buffer.from("again"))).toEqual({ createdFolders: false });
    expect(readFileSync(at("new", "deep", "file"), "utf8")).toBe("again");
    expect(statSync(at("new", "deep", "file")).mode & 0o777).toBe(0o755);
    expect((await files.names(at("new", "deep"))).length).toBe(1);
    await files.move(at("new", "deep", "file"), at("other", "file"));
    await files.remove(at("other"));
    expect(existsSync(at("other"))).toBe(false);
    await expect(files.remove(at("other"))).rejects.toThrow();
    await expect(files.write("/proc/no/file", data)).rejects.toThrow();
  });

  it("are used by the file tools, relative to the folder of the shell", async () => {
    const context = toolContext("/somewhere/else");
    mkdirSync(at("src"));
    await backend.run({
      command: "cd src",
      timeoutMs: 10_000,
      signal: context.signal,
      output: { push: () => undefined } as never,
    });
    const call = (tool: Parameters<typeof callTool>[0], args: object) => callTool(tool, args, context);
    const written = await call(writeFileTool(parts), { path: "app.ts", content: "const one = 1;\nconst two = 2;\n" });
    expect(written.json).toMatchObject({ path: at("src", "app.ts"), bytes_written: 30 });
    expect((await call(readFileTool(parts), { path: "~/src/app.ts" })).json.content).toContain("2|const two = 2;");
    const patched = await call(patchTool(parts), { path: "app.ts", old_string: "two = 2", new_string: "two = 22" });
    expect(patched.json.success).toBe(true);
    expect(readFileSync(at("src", "app.ts"), "utf8")).toBe("const one = 1;\nconst two = 22;\n");
    expect((await call(readFileTool(parts), { path: "ap.ts" })).json.similar_files).toEqual([at("src", "app.ts")]);
  });

  it("are searched remotely with the same results as locally", async () => {
    mkdirSync(at("a", ".git"), { recursive: true });
    writeFileSync(at("a", "one.ts"), "first\nneedle 1\nlast\n");
    writeFileSync(at("a", "two.md"), "needle 22: a-b:c\nneedle x\n");
    writeFileSync(at("a", ".git", "needle"), "needle 3\n");
    const both = async (args: object) => {
      const context = toolContext(at("a"));
      const { locate: _, ...rest } = parts;
      const there = await callTool(
        searchFilesTool({ ...parts, locate: async () => ({ ...(await place()) }) }),
        args,
        context,
      );
      const here = await callTool(searchFilesTool({ ...rest, files: localFiles }), args, context);
      return [sorted(there.json), sorted(here.json)];
    };
    const place = async () => ({ files, search: remoteSearch(backendShell(backend)), cwd: at("a"), remote: true });
    const sorted = (json: { [key: string]: unknown }) => {
      const list = (json.matches ?? json.files) as { path?: string }[] | undefined;
      list?.sort((x, y) => JSON.stringify(x).localeCompare(JSON.stringify(y)));
      return json;
    };
    for (const args of [
      { pattern: "needle \\d+" },
      { pattern: "needle", file_glob: "*.md" },
      { pattern: "needle", output_mode: "files_only" },
      { pattern: "needle", output_mode: "count" },
      { pattern: "needle 1", context: 1 },
      { pattern: "nothing here" },
      { pattern: "*.ts", target: "files" },
      { pattern: "TWO", target: "files" },
      { pattern: "needle", limit: 1 },
    ]) {
      const [there, here] = await both(args);
      if ("limit" in args) expect(there).toMatchObject({ total_count: 3, truncated: true });
      else expect(there, JSON.stringify(args)).toEqual(here);
    }
    const [there] = await both({ pattern: "(" });
    expect(String(there?.error)).toContain("search failed");
  });
});

describe("files in a container", () => {
  it("need the user's permission for paths that the container denies, also through links", async () => {
    const open = new Set([at("in")]);
    const limits = {
      temp: at("temp"),
      belongsToHermes: () => false,
      hostPath: (path: string) => path,
      canRead: (path: string) => !path.startsWith(at("secret")),
      canWrite: (path: string) => [...open].some((place) => path.startsWith(place)),
      allow: async (permission: Permission) => {
        if (permission.kind === "write") open.add(permission.path);
      },
    } as unknown as ConversationContainer;
    for (const name of ["in", "out", "secret"]) mkdirSync(at(name));
    writeFileSync(at("secret", "key"), "k");
    symlinkSync(at("out"), at("in", "link"));
    const asked: string[] = [];
    const guarded = (answer: "session" | "deny") =>
      guardedFiles(limits, async ({ permission }) => {
        asked.push(formatPermission(permission));
        return answer;
      });
    await guarded("deny").write(at("in", "a"), Buffer.from("x"));
    await expect(guarded("deny").write(at("in", "link", "b"), Buffer.from("x"))).rejects.toThrow(
      /permissions grant write/,
    );
    await expect(guarded("deny").read(at("secret", "key"))).rejects.toThrow(/hidden in the container/);
    expect(await guarded("deny").names(at("secret"))).toEqual([]);
    writeFileSync(at("out", "seen"), "k");
    const tool = searchFilesTool({
      ...parts,
      locate: async () => ({ files: localFiles, search: guardedSearch(limits) }),
    });
    const found = await callTool(tool, { pattern: "^k$" }, toolContext(folder.path));
    expect(found.json).toMatchObject({ total_count: 1, matches: [{ path: "out/seen" }] });
    await guarded("session").write(at("out", "c"), Buffer.from("x"));
    await guarded("deny").remove(at("out", "c"));
    expect(asked).toEqual([`write:${at("out", "b")}`, `read:${at("secret", "key")}`, `write:${at("out", "c")}`]);
  });
});
