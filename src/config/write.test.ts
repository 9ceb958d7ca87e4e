import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { UserError } from "../core/failure.ts";
import { setEnvValue } from "./env-write.ts";
import { expandTree } from "./expand.ts";
import { removeConfigValue, saveConfigTree, setConfigValue, type WritableHome } from "./write.ts";
import { parseYaml } from "./yaml-file.ts";

let home: WritableHome;
let file: string;
beforeEach(() => {
  const path = tempDir("hermes-write-");
  home = { path, env: { KEY: "expanded" }, managedBy: null };
  file = join(path, "config.yaml");
});
afterEach(() => rmSync(home.path, { recursive: true, force: true }));

const text = () => readFileSync(file, "utf8");

const SAMPLE = `# head
model:   a/b   # aligned comment
providers:
  box:
    api: http://x/v1
    api_key: \${KEY}
toolsets:
- one
- two
display: {compact: true, skin: "x"}
# tail
`;

describe("one key", () => {
  it("changes its bytes and no others", async () => {
    writeFileSync(file, SAMPLE);
    await setConfigValue(home, ["model"], "c/d");
    await setConfigValue(home, ["display", "compact"], false);
    await setConfigValue(home, ["toolsets", "1"], "three");
    expect(text()).toBe(SAMPLE.replace("a/b", "c/d").replace("true", "false").replace("- two", "- three"));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(home.path)).toEqual(["config.yaml"]);
  });

  it("is added with its maps; comments, order, list style and references stay", async () => {
    writeFileSync(file, SAMPLE);
    await setConfigValue(home, ["compression", "threshold"], 0.6);
    const written = text();
    for (const line of ["# head", "# tail", `    api_key: \${KEY}`, "- one", "# aligned comment"]) {
      expect(written).toContain(line);
    }
    expect(written).toMatch(/compression:\n {2}threshold: 0.6\n/);
  });

  it("replaces single values by maps, and creates a missing file", async () => {
    await setConfigValue(home, ["a", "b"], 1);
    await setConfigValue(home, ["a", "b", "c"], ["x"]);
    expect((await parseYaml(text())).tree).toEqual({ a: { b: { c: ["x"] } } });
    await removeConfigValue(home, ["a", "b"]);
    expect((await parseYaml(text())).tree).toEqual({ a: {} });
  });

  it.each([
    "off",
    "yes",
    "123",
    "0.5",
    "null",
    "a: b",
    "# x",
    "",
    " lead",
    "two\nlines",
    "1:30",
    "2024-01-01",
    `\${KEY}`,
  ])("reads back the text %j as text", async (value) => {
    writeFileSync(file, "timezone: UTC # zone\n");
    await setConfigValue(home, ["timezone"], value);
    expect((await parseYaml(text())).tree).toEqual({ timezone: value });
  });

  it("writes through a symbolic link", async () => {
    const real = join(home.path, "real.yaml");
    writeFileSync(real, "a: 1\n");
    symlinkSync(real, file);
    await setConfigValue(home, ["a"], 2);
    expect(readFileSync(real, "utf8")).toBe("a: 2\n");
  });

  it("works with several writers at the same time", async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => setConfigValue(home, ["skills", "config", `k${n}`], n)));
    const { tree } = await parseYaml(text());
    expect(Object.keys((tree.skills as { config: object }).config)).toHaveLength(20);
  });
});

describe("refusals", () => {
  it("do not change a broken file", async () => {
    writeFileSync(file, "a: [1\n");
    await expect(setConfigValue(home, ["b"], 1)).rejects.toThrow(UserError);
    expect(text()).toBe("a: [1\n");
  });

  it("name the manager of a managed install", async () => {
    const managed = { ...home, managedBy: "NixOS" };
    await expect(setConfigValue(managed, ["b"], 1)).rejects.toThrow(/managed by NixOS/);
    await expect(setEnvValue(managed, "A_KEY", "1")).rejects.toThrow(/managed by NixOS/);
    expect(readdirSync(home.path)).toEqual([]);
  });
});

describe("the whole tree", () => {
  it("keeps comments and references of unchanged values", async () => {
    writeFileSync(file, SAMPLE);
    const { tree } = await parseYaml(text());
    const expanded = expandTree(tree, home.env) as { [key: string]: unknown };
    await saveConfigTree(home, { ...expanded, model: "c/d", worktree: true });
    expect(text()).toContain(`api_key: \${KEY}`);
    expect(text()).toContain("# aligned comment");
    expect((await parseYaml(text())).tree).toEqual({ ...tree, model: "c/d", worktree: true });
  });

  it("finds the reference of a named item after the list changed its order", async () => {
    writeFileSync(file, "custom_providers:\n  - name: a\n    api_key: x\n  - name: b\n    api_key: $" + "{KEY}\n");
    const list = [
      { name: "b", api_key: "expanded" },
      { name: "a", api_key: "y" },
    ];
    await saveConfigTree(home, { custom_providers: list });
    expect((await parseYaml(text())).tree).toEqual({
      custom_providers: [
        { name: "b", api_key: `\${KEY}` },
        { name: "a", api_key: "y" },
      ],
    });
  });
});

describe(".env", () => {
  it("is written with mode 0600 and checked names; the Anthropic slots exclude each other", async () => {
    const env = join(home.path, ".env");
    writeFileSync(env, "# mine\nANTHROPIC_TOKEN=old\n");
    await setEnvValue(home, "ANTHROPIC_API_KEY", "new");
    expect(readFileSync(env, "utf8")).toBe("# mine\nANTHROPIC_TOKEN=\nANTHROPIC_API_KEY=new\n");
    expect(statSync(env).mode & 0o777).toBe(0o600);
    await expect(setEnvValue(home, "BAD NAME", "x")).rejects.toThrow(UserError);
  });
});
