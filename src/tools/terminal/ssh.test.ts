import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { tempFolder } from "../../../test/kit/tool-context.ts";
import { until } from "../../../test/kit/until.ts";
import { type LoopbackSshd, startSshd, whyNoSshd } from "../../../test/servers/loopback-sshd.ts";
import { backendShell } from "../files/backend-shell.ts";
import { remoteFiles } from "../files/remote-files.ts";
import type { ExecRequest } from "./backend.ts";
import { OutputCapture } from "./output-capture.ts";
import { ProcessRegistry } from "./process-registry.ts";
import type { RemoteFiles } from "./remote-file-sync.ts";
import { RemoteBackend } from "./remote-shell.ts";
import { SshChannel } from "./ssh.ts";

const missing = whyNoSshd();
if (missing) process.stderr.write(`skipped: ssh tests, because ${missing}\n`);

let server: LoopbackSshd;
let folder: ReturnType<typeof tempFolder>;
let backend: RemoteBackend;
const clientEnv = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: tmpdir() };

function open(
  overrides: { port?: number; variables?: { [name: string]: string }; skillFiles?: () => RemoteFiles } = {},
): RemoteBackend {
  return new RemoteBackend({
    channel: new SshChannel({
      host: "127.0.0.1",
      user: server.user,
      port: overrides.port ?? server.port,
      keyFile: server.keyFile,
      env: clientEnv,
      options: [`UserKnownHostsFile=${join(server.folder, "known_hosts")}`, "IdentitiesOnly=yes", "IdentityAgent=none"],
    }),
    cwd: folder.path,
    variables: overrides.variables ?? {},
    ...(overrides.skillFiles ? { skillFiles: overrides.skillFiles } : {}),
  });
}

async function run(command: string, more: Partial<ExecRequest> = {}) {
  const output = new OutputCapture({ limit: 50_000, spillPath: join(folder.path, "spill") });
  const signal = more.signal ?? new AbortController().signal;
  const result = await backend.run({ command, timeoutMs: 20_000, output, ...more, signal });
  return { ...result, output: (await output.finish()).text };
}

const processes = () => execFileSync("ps", ["-eo", "args"]).toString();

describe.skipIf(missing !== undefined)("ssh", () => {
  beforeAll(async () => {
    server = await startSshd();
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    folder = tempFolder();
    backend = open();
  });
  afterEach(async () => {
    await backend.close();
    folder.remove();
  });

  it("runs commands with input, output and exit code, without our marks in the output", async () => {
    expect(await run("echo out; echo err >&2; exit 3")).toMatchObject({ output: "out\nerr\n", exitCode: 3 });
    expect(await run("printf no-newline")).toMatchObject({ output: "no-newline", exitCode: 0 });
    expect((await run('[ -n "$SSH_CONNECTION" ] && echo remote')).output).toBe("remote\n");
    const input = `first 'line'\n${"x".repeat(200_000)}\n`;
    expect((await run("wc -c; cat >/dev/null", { stdin: input })).output.trim()).toBe(String(input.length));
    expect((await run("seq 1 100000 | tail -1")).output).toBe("100000\n");
  });

  it("keeps variables and the working directory, also with special characters", async () => {
    mkdirSync(join(folder.path, "it's a folder"));
    await run(`export NOTE="it's \\"quoted\\" \\$HOME" LINES2=$'a\\nb' && cd "it's a folder"`);
    expect(backend.cwd).toBe(join(folder.path, "it's a folder"));
    expect((await run('printf "%s|%s|%s" "$NOTE" "$LINES2" "$PWD"')).output).toBe(
      `it's "quoted" $HOME|a\nb|${join(folder.path, "it's a folder")}`,
    );
    expect((await run("pwd", { stateless: true, cwd: "/" })).output).toBe("/\n");
    expect(backend.cwd).toBe(join(folder.path, "it's a folder"));
    expect((await run("true", { cwd: "/no/such/folder" })).exitCode).toBe(126);
  });

  it("passes the named variables and no others of our environment", async () => {
    await backend.close();
    backend = open({ variables: { GREETING: "it's here" } });
    expect((await run('echo "$GREETING"; echo "[$VITEST]"')).output).toBe("it's here\n[]\n");
  });

  it("copies variables and files of skills when they are new or changed, and removes the files at the end", async () => {
    await backend.close();
    const token = join(folder.path, "token.json");
    writeFileSync(token, '{"token":"one"}');
    const there = `hermes-test-${process.pid}-${Date.now()}`;
    const variables: { [name: string]: string } = {};
    const files: { from: string; to: string }[] = [];
    backend = open({ skillFiles: () => ({ variables, files }) });
    expect((await run('echo "[$GIF_KEY]"')).output).toBe("[]\n");
    variables.GIF_KEY = "it's $HOME `x`";
    files.push({ from: token, to: `${there}/sub dir/token.json` });
    const look = `echo "[$GIF_KEY]"; cat ~/${there}/sub\\ dir/token.json; stat -c ' %a' ~/${there}/sub\\ dir/token.json`;
    expect((await run(look)).output).toBe(`[it's $HOME \`x\`]\n{"token":"one"} 600\n`);
    expect(processes()).not.toContain("it's $HOME");
    variables.GIF_KEY = "two";
    writeFileSync(token, '{"token":"changed"}');
    expect((await run(look)).output).toBe('[two]\n{"token":"changed"} 600\n');
    // An existing file of another origin is kept, and the output says so.
    await run(`mkdir -p ~/${there} && echo theirs > ~/${there}/other.json`);
    files.push({ from: token, to: `${there}/other.json` });
    const refused = (await run(`cat ~/${there}/other.json`)).output;
    expect(refused).toContain("not copied to");
    expect(refused).toContain("theirs");
    await backend.close();
    backend = open();
    expect((await run(`ls -R ~/${there}; echo "[$GIF_KEY]"`)).output).toMatch(
      /other\.json(?![\s\S]*token\.json)[\s\S]*\[\]/,
    );
    await run(`rm -rf ~/${there}`);
  });

  it("uses one connection for many commands", async () => {
    await run("true");
    const connections = async () => (await run('echo "$SSH_CONNECTION"')).output;
    expect(await connections()).toBe(await connections());
  });

  it("stops the remote process group at the time limit and on interrupt", async () => {
    expect(await run("bash -c 'sleep 71; true'", { timeoutMs: 500 })).toMatchObject({ exitCode: 124, timedOut: true });
    await until(() => !processes().includes("sleep 71"));
    const controller = new AbortController();
    const running = run("bash -c 'sleep 72; true' | cat", { signal: controller.signal });
    await until(() => processes().includes("sleep 72"));
    controller.abort();
    expect(await running).toMatchObject({ exitCode: 130, interrupted: true });
    await until(() => !processes().includes("sleep 72"));
    expect((await run("echo still here")).output).toBe("still here\n");
  });

  it("runs background processes: pid, output, input, kill, also in a pseudo-terminal", async () => {
    const registry = new ProcessRegistry((text) => text);
    const start = { pty: false, conversationId: "c", notifyOnComplete: false, watchPatterns: [] };
    const cat = await registry.start(backend, { ...start, command: "echo ready; read line; echo got $line; exit 4" });
    expect(readFileSync(`/proc/${cat.running?.pid}/cmdline`, "utf8")).toContain("bash");
    await until(() => cat.output.includes("ready"));
    cat.running?.write("hello\n");
    expect(await cat.wait(5_000, new AbortController().signal)).toBe(true);
    expect(cat).toMatchObject({ exitCode: 4, output: "ready\ngot hello\n" });
    const tty = await registry.start(backend, { ...start, pty: true, command: "tty; read line; echo got $line" });
    await until(() => tty.output.includes("/dev/pts/"));
    tty.running?.write("there\n");
    await until(() => tty.output.includes("got there"));
    const sleeper = await registry.start(backend, { ...start, command: "bash -c 'sleep 73; true' | cat" });
    await until(() => processes().includes("sleep 73"));
    await registry.kill(sleeper);
    await until(() => !processes().includes("sleep 73"));
    await registry.close();
  });

  it("works with the file tools", async () => {
    await backend.start();
    const files = remoteFiles(backendShell(backend));
    const data = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 256));
    expect(await files.write(join(folder.path, "deep", "file"), data)).toEqual({ createdFolders: true });
    expect(readFileSync(join(folder.path, "deep", "file")).equals(data)).toBe(true);
    expect(Buffer.from(await files.read(join(folder.path, "deep", "file"))).equals(data)).toBe(true);
    expect(await files.info(join(folder.path, "nothing"))).toBeNull();
  });

  it("stops remote commands when the connection is lost", async () => {
    const running = backend.spawn({
      command: "sleep 74",
      pty: false,
      onOutput: () => undefined,
      onExit: () => undefined,
    });
    await running;
    await until(() => processes().includes("sleep 74"));
    const master = execFileSync("ps", ["-eo", "pid,args"])
      .toString()
      .split("\n")
      .find((line) => /hermes-ssh-.* -N /.test(line));
    expect(master).toBeDefined();
    process.kill(Number(master?.trim().split(" ")[0]), "SIGKILL");
    await until(() => !/sleep 74$/m.test(processes()));
  });

  it("keeps its socket private and leaves nothing behind", async () => {
    const stateFolders = () => readdirSync("/tmp").filter((name) => /^hermes-[0-9a-f]{24}$/.test(name));
    const there = stateFolders();
    await run("true");
    // Other tests may run on this machine too.
    const made = stateFolders().filter((name) => !there.includes(name));
    expect(made).not.toEqual([]);
    const ours = `hermes-ssh-${process.pid}-`;
    const before = processes()
      .split("\n")
      .find((line) => line.includes(ours) && line.includes(" -N "));
    const socket = new RegExp(`[^=\\s]*${ours}\\S+`).exec(before ?? "")?.[0] ?? "";
    expect(socket).toMatch(/\/[0-9a-f]{16}$/);
    expect(statSync(join(socket, "..")).mode & 0o777).toBe(0o700);
    await backend.close();
    await until(() => !processes().includes(socket));
    expect(existsSync(join(socket, ".."))).toBe(false);
    expect(stateFolders().filter((name) => made.includes(name)).length).toBeLessThan(made.length);
  });

  it("reports why it cannot connect, and tries again later", async () => {
    await backend.close();
    backend = open({ port: 1 });
    await expect(run("true")).rejects.toThrow(/cannot connect to .*127\.0\.0\.1:1: .*refused/);
    await expect(run("true")).rejects.toThrow(/cannot connect/);
  });
});

describe("availability of ssh", () => {
  it("reports what is missing", async () => {
    const channel = (host: string, path = clientEnv.PATH) => new SshChannel({ host, env: { PATH: path } }).available();
    expect(await channel("")).toMatchObject({ ok: false, reason: expect.stringContaining("terminal.ssh_host") });
    expect(await channel("-oProxyCommand=evil")).toMatchObject({ ok: false });
    expect(await channel("example.org", "/nowhere")).toMatchObject({
      ok: false,
      reason: expect.stringContaining("ssh"),
    });
  });
});

it("ignores output that looks like a mark", async () => {
  const { FrameFilter } = await import("./remote-frames.ts");
  const frames: unknown[] = [];
  const filter = new FrameFilter("token", (frame) => frames.push(frame));
  const text =
    "Welcome!\u001etoken:begin\u001ea\u001etoken:pid:7\u001eb\u001eother:end:0:\u001e\u001e\u001etok c\u001etoken:end:3:/a:b\u001e";
  let plain = "";
  for (const byte of Buffer.from(text)) plain += filter.push(Buffer.from([byte])).toString();
  plain += filter.end().toString();
  expect(plain).toBe("ab\u001eother:end:0:\u001e\u001e\u001etok c");
  expect(frames).toEqual([{ kind: "begin" }, { kind: "pid", pid: 7 }, { kind: "end", exitCode: 3, cwd: "/a:b" }]);
});
