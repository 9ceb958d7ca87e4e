// Commands in the container: what they see, what they may change, and how permissions are asked for.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ConversationContainer } from "../src/core/container.ts";
import { noHooks } from "../src/core/hook.ts";
import { type ApprovalRequest, absentHuman, type Human } from "../src/core/human.ts";
import { ContainedBackend } from "../src/tools/terminal/contained.ts";
import { ProcessRegistry } from "../src/tools/terminal/process-registry.ts";
import { terminalTool } from "../src/tools/terminal/terminal-tool.ts";
import { type ContainerFixture, containerFixture, containerProblem } from "./kit/container-fixture.ts";
import { callTool, openGate, plainRedactor, toolContext } from "./kit/tool-context.ts";
import { until } from "./kit/until.ts";

const problem = await containerProblem();

describe.skipIf(problem)("commands in the container", { timeout: 60_000 }, () => {
  let fixture: ContainerFixture;
  let container: ConversationContainer;
  let backend: ContainedBackend;
  let asked: ApprovalRequest[];

  function user(choice: "once" | "session" | "always" | "deny"): Human {
    return {
      ...absentHuman,
      present: true,
      approve: async (request) => {
        asked.push(request);
        return { choice };
      },
    };
  }

  async function terminal(command: string, human: Human = absentHuman) {
    const tool = terminalTool({
      backendFor: async () => backend,
      gate: openGate,
      redactor: plainRedactor,
      hooks: noHooks,
      processes: new ProcessRegistry((text) => text),
      settings: {
        defaultTimeoutMs: 20_000,
        maxTimeoutMs: 600_000,
        maxOutputChars: 50_000,
        spillDir: join(fixture.root, "spill"),
      },
    });
    return (await callTool(tool, { command }, toolContext(fixture.project, { human }))).json;
  }

  beforeAll(async () => {
    fixture = containerFixture();
    fixture.write(join(fixture.project, ".env"), "TOKEN=abc\n");
    fixture.write(join(fixture.project, ".vscode", "tasks.json"), "{}\n");
    container = await fixture.open();
    backend = new ContainedBackend({ cwd: fixture.project, env: fixture.env, useBashrc: false }, container);
  });
  beforeEach(() => {
    asked = [];
  });
  afterAll(async () => {
    await backend.close();
    fixture.remove();
  });

  it("writes to the workspace and to its own /tmp, and keeps folder and variables between commands", async () => {
    expect(await terminal("echo hi > note && export A=1 && mkdir /tmp/x && cd /tmp/x && touch f")).toMatchObject({
      exit_code: 0,
    });
    expect(readFileSync(join(fixture.project, "note"), "utf8")).toBe("hi\n");
    expect(await terminal('echo "$A $PWD"; ls')).toMatchObject({ output: "1 /tmp/x\nf", cwd: "/tmp/x" });
    expect(existsSync("/tmp/x/f")).toBe(false);
    expect(existsSync(container.hostPath("/tmp/x/f"))).toBe(true);
    expect(await terminal(`cd ${fixture.project}`)).toMatchObject({ exit_code: 0, cwd: fixture.project });
    expect(await terminal("exit 7")).toMatchObject({ exit_code: 7 });
  });

  it("hides keys, the home of Hermes and .env; shows documents, start-up files and skills read-only", async () => {
    const { home, hermes, project } = fixture;
    const read = await terminal(`cat ${home}/.ssh/id_rsa ${hermes}/config.yaml ${project}/.env; ls -A ${hermes}`);
    expect(read.output).not.toMatch(/private key|approvals|TOKEN/);
    expect((await terminal(`cat ${home}/Documents/thesis.txt ${hermes}/skills/pdf/table.txt`)).output).toBe(
      "years of work\nof a skill",
    );
    for (const path of [
      `${home}/.bashrc`,
      `${home}/Documents/thesis.txt`,
      `${home}/new`,
      `${hermes}/skills/x`,
      "/etc/x",
    ]) {
      const json = await terminal(`echo evil >> ${path}`);
      expect(json.exit_code, path).not.toBe(0);
    }
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("# mine\n");
  });

  it("keeps hooks, settings and editor tasks of the project, also when their folder is renamed", async () => {
    const { project } = fixture;
    const tries = [
      "echo x > .git/hooks/pre-commit",
      "git config core.fsmonitor evil",
      "mv .git .git2",
      "rm -rf .git/hooks",
      "echo x > .vscode/tasks.json",
      "mv .vscode .v2",
    ];
    for (const command of tries) expect((await terminal(command)).exit_code, command).not.toBe(0);
    expect(existsSync(join(project, ".git", "hooks", "pre-commit"))).toBe(false);
    const json = await terminal("echo 'evil' > .envrc");
    expect(json.container).toContain(".envrc");
    expect(existsSync(join(project, ".envrc"))).toBe(false);
    expect((await terminal("cat /tmp/held/.envrc")).output).toBe("evil");
    expect((await terminal("git add data && git -c user.name=a -c user.email=a@b commit -qm one")).exit_code).toBe(0);
  });

  it("names the permission when no user can answer, and asks once for it otherwise", async () => {
    const path = join(fixture.root, "outside");
    mkdirSync(path);
    writeFileSync(join(path, "a"), "old");
    const json = await terminal(`echo new > ${path}/a`);
    expect(json.container).toContain(`hermes permissions grant write:${path}/a`);
    expect(readFileSync(join(path, "a"), "utf8")).toBe("old");
    expect(await terminal(`echo new > ${path}/a`, user("once"))).toMatchObject({ exit_code: 0 });
    expect(readFileSync(join(path, "a"), "utf8")).toBe("new\n");
    expect((await terminal(`echo next > ${path}/a`, user("deny"))).exit_code).not.toBe(0);
    await terminal(`echo third > ${path}/a`, user("session"));
    await terminal(`echo fourth > ${path}/a`);
    expect(readFileSync(join(path, "a"), "utf8")).toBe("fourth\n");
    expect(asked.map((request) => request.intent)).toEqual(Array(3).fill(`permission write:${path}/a`));
    await terminal(`cat ${fixture.home}/.ssh/id_rsa`, user("always"));
    const file = JSON.parse(readFileSync(join(fixture.hermes, "permissions.json"), "utf8"));
    expect(file.projects[fixture.project]).toEqual([`read:${fixture.home}/.ssh/id_rsa`]);
  });

  it("reaches no service of this machine until one question is answered, and shows its own ports here", async () => {
    const server = createServer((_, response) => response.end("reached")).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const ask = `node -e "fetch('http://127.0.0.1:${port}').then(r=>r.text()).then(console.log,e=>{console.log(e.cause.message);process.exit(1)})"`;
    const json = await terminal(ask);
    expect(json.output).toContain("ECONNREFUSED");
    expect(json.container).toContain(`host:localhost:${port}`);
    expect((await terminal(ask, user("session"))).output).toContain("reached");
    expect(asked).toHaveLength(1);
    server.close();
    const inside = port === 65_535 ? port - 1 : port + 1;
    const running = await backend.spawn({
      command: `node -e "require('http').createServer((q,r)=>r.end('from inside')).listen(${inside},'127.0.0.1')"`,
      pty: false,
      onOutput: () => undefined,
      onExit: () => undefined,
    });
    await until(
      () =>
        new Promise<boolean>((resolve) => {
          const socket = connect(inside, "127.0.0.1", () => resolve(true));
          socket.on("error", () => resolve(false));
          socket.on("connect", () => socket.destroy());
        }),
    );
    expect(await (await fetch(`http://127.0.0.1:${inside}`)).text()).toBe("from inside");
    const other = `node -e "fetch('http://127.0.0.1:${inside}').then(r=>r.text()).then(console.log)"`;
    expect((await terminal(other)).output).toBe("from inside");
    await running.kill();
  });

  it("contains background processes and pseudo-terminals, and ends their whole group", async () => {
    for (const pty of [false, true]) {
      let output = "";
      let code: number | undefined;
      const running = await backend.spawn({
        command: `echo x > ${fixture.root}/made; sleep 75`,
        pty,
        onOutput: (text) => (output += text),
        onExit: (exitCode) => (code = exitCode),
      });
      await until(() => output.includes("Read-only file system"));
      await running.kill();
      await until(() => code !== undefined);
    }
    expect(existsSync(join(fixture.root, "made"))).toBe(false);
  });
});
