// The effective configuration that a config.yaml with these values would give, for tests that need no file.
import { checkTree } from "../../src/config/check.ts";
import { convertLegacy } from "../../src/config/legacy.ts";
import type { Config } from "../../src/core/config/config.ts";

export function effectiveConfig(
  values: { readonly [key: string]: unknown } = {},
  env: { readonly [name: string]: string | undefined } = {},
): Config {
  return checkTree(convertLegacy(values).tree, env).value as Config;
}
