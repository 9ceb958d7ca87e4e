import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pages } from "./docs-pages.ts";

const root = join(import.meta.dirname, "..");

describe("generated pages", () => {
  for (const page of pages) {
    it(`${page.path} is up to date (npm run docs)`, async () => {
      expect(readFileSync(join(root, page.path), "utf8") === (await page.make())).toBe(true);
    });
  }
});
