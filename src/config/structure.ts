// Checks that involve more than one key.
import type { Config } from "../core/config/config.ts";
import type { ConfigWarning } from "../core/settings.ts";

function isUrl(text: string): boolean {
  return URL.canParse(text) && new URL(text).host !== "";
}

/** Custom endpoints need an address with scheme and host. */
export function structureWarnings(config: Config): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  for (const [id, provider] of Object.entries(config.providers)) {
    const path = `providers.${id}`;
    const address = provider.api ?? provider.url ?? provider.base_url;
    if (address === undefined || address === "") {
      warnings.push({ kind: "structure", path, message: `${path} has no address: set ${path}.api` });
    } else if (!isUrl(address) && !address.includes("${")) {
      const message = `${path}.api is not an address with scheme and host, such as https://host/v1`;
      warnings.push({ kind: "structure", path, message });
    }
  }
  return warnings;
}
