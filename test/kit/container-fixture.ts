// A home with canaries and a container for its project, for tests of contained commands and scripts.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ContainerOptions, openContainers } from "../../src/container/open-containers.ts";
import type { ConversationContainer } from "../../src/core/container.ts";

export interface ContainerFixture {
  /** Outside /tmp, which is private in a container. */
  readonly root: string;
  readonly home: string;
  readonly hermes: string;
  readonly project: string;
  readonly env: { readonly [name: string]: string };
  open(options?: Partial<ContainerOptions>, workspace?: string): Promise<ConversationContainer>;
  write(path: string, text: string): void;
  remove(): void;
}

export function containerFixture(): ContainerFixture {
  const root = mkdtempSync("/opt/hermes-container-test-");
  const home = join(root, "home");
  const hermes = join(home, ".hermes");
  const project = join(home, "project");
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home };
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  write(join(home, ".ssh", "id_rsa"), "private key");
  write(join(home, ".bashrc"), "# mine\n");
  write(join(home, "Documents", "thesis.txt"), "years of work\n");
  write(join(hermes, "config.yaml"), "approvals: {}\n");
  write(join(hermes, "skills", "pdf", "table.txt"), "of a skill");
  write(join(project, "data", "a.txt"), "in the project");
  execFileSync("git", ["init", "-q", project], { env: { PATH: env.PATH, HOME: home } });
  return {
    root,
    home,
    hermes,
    project,
    env,
    write,
    open: async (options = {}, workspace = project) => {
      const containers = openContainers({
        hermesHome: hermes,
        userHome: home,
        setting: "required",
        env,
        roots: [],
        readable: [join(hermes, "skills")],
        isSecret: (path) => /\/id_rsa$/.test(path),
        ...options,
      });
      return (await containers.open({ workspace, credentials: () => [] })) as ConversationContainer;
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Why commands cannot be contained here; undefined when they can. In continuous integration this is an error. */
export async function containerProblem(): Promise<string | undefined> {
  const containers = openContainers({
    hermesHome: "/nowhere",
    userHome: "/nowhere",
    setting: "auto",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    roots: [],
    readable: [],
    isSecret: () => false,
  });
  const state = await containers.state();
  const problem = state.kind === "none" ? state.reason : undefined;
  if (problem !== undefined && process.env.CI) throw new Error(`containers do not work here: ${problem}`);
  if (problem !== undefined) process.stderr.write(`skipped: container tests, because ${problem}\n`);
  return problem;
}
