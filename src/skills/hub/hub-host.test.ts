import { expect, test } from "vitest";
import type { WebFetch } from "../../core/tool/web.ts";
import { Hub } from "./hub.ts";
import { type HubHost, matches, withDeadline } from "./hub-host.ts";

const never: WebFetch = (url, request) =>
  new Promise((resolve) => {
    request?.signal?.addEventListener("abort", () =>
      resolve({ ok: false, rule: "interrupted", reason: "it took too long", url }),
    );
  });

test("a source that never answers times out", async () => {
  const host: HubHost = {
    skillsDir: "/nonexistent",
    optional: null,
    fetch: never,
    service: never,
    github: { api: "https://api.example", raw: "https://raw.example" },
    skillsSh: "https://skills.example",
    version: "test",
    now: () => new Date(0),
  };
  const hub = new Hub(withDeadline(host, 50));
  const { githubSource } = await import("./sources/github.ts");
  await expect(githubSource(hub.host).fetch("owner/repo/skill")).rejects.toThrow(/cannot be reached: it took too long/);
});

test("a search needs every word, in the name, the description or the tags", () => {
  const listing = { name: "pdf", description: "Fill in forms", tags: ["office"] };
  expect(matches(listing, "FORMS office")).toBe(true);
  expect(matches(listing, "forms excel")).toBe(false);
});
