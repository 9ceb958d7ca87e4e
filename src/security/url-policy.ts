// Builds the URL policy from the configuration of the home.
import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Config } from "../core/config/config.ts";
import type { Home } from "../core/home.ts";
import type { Redactor } from "../core/redactor.ts";
import type { BlocklistRule, UrlPolicy } from "./url-guard.ts";

const TRUE = /^(1|true|yes|on)$/i;

function sharedRules(home: Home, file: string): BlocklistRule[] {
  const path = isAbsolute(file) ? file : join(home.path, file);
  try {
    const lines = readFileSync(path, "utf8").split("\n");
    return lines
      .map((line) => line.replace(/#.*/, "").trim())
      .filter(Boolean)
      .map((domain) => ({ domain, source: path }));
  } catch {
    // A list that cannot be read blocks nothing.
    return [];
  }
}

function blocklist(home: Home, config: Config): BlocklistRule[] {
  const { enabled, domains, shared_files: files } = config.security.website_blocklist;
  if (!enabled) return [];
  const own = (domains as readonly string[]).map((domain) => ({ domain, source: "config.yaml" }));
  return [...own, ...(files as readonly string[]).flatMap((file) => sharedRules(home, file))];
}

/** The policy is built once per process. */
export function urlPolicy(home: Home, config: Config, redactor: Redactor): UrlPolicy {
  const allowPrivate = config.security.allow_private_urls || TRUE.test(home.env.HERMES_ALLOW_PRIVATE_URLS ?? "");
  return { allowPrivate, blocklist: blocklist(home, config), redactor };
}
