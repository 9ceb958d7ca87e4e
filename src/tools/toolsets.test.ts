import { expect, it } from "vitest";
import { CORE_TOOLS, isToolset, resolveToolsets, TOOLSETS } from "./toolsets.ts";

it("has every toolset with its number of tools", () => {
  expect(Object.keys(TOOLSETS)).toHaveLength(56);
  expect(CORE_TOOLS).toHaveLength(48);
  const sizes = Object.fromEntries(
    [
      "hermes-cli",
      "hermes-discord",
      "hermes-feishu",
      "hermes-yuanbao",
      "hermes-gateway",
      "hermes-acp",
      "hermes-api-server",
      "debugging",
      "safe",
      "browser",
    ].map((name) => [name, resolveToolsets([name]).length]),
  );
  expect(sizes).toEqual({
    "hermes-cli": 48,
    "hermes-discord": 50,
    "hermes-feishu": 53,
    "hermes-yuanbao": 53,
    "hermes-gateway": 60,
    "hermes-acp": 29,
    "hermes-api-server": 35,
    debugging: 8,
    safe: 5,
    browser: 13,
  });
});

it("resolves each tool once, accepts old names, ignores unknown ones, and lets plugins extend a toolset", () => {
  expect(resolveToolsets(["file", "file_tools", "debugging"])).toEqual([
    "read_file",
    "write_file",
    "patch",
    "search_files",
    "web_search",
    "web_extract",
    "terminal",
    "process",
  ]);
  expect(resolveToolsets(["nonsense"])).toEqual([]);
  expect(isToolset("nonsense")).toBe(false);
  const extra = new Map([
    ["web", ["my_search"]],
    ["mine", ["my_tool"]],
  ]);
  expect(resolveToolsets(["web", "mine"], extra)).toEqual(["web_search", "web_extract", "my_search", "my_tool"]);
  expect(resolveToolsets(["all"], extra)).toContain("my_tool");
});
