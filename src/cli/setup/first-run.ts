// The first conversation of a home without a model offers the setup, once.
import { existsSync } from "node:fs";
import { openModelsContext } from "../../app/open-models.ts";
import { openSettings } from "../../config/api.ts";
import { showModel } from "../../providers/api/models.ts";
import type { CliContext } from "../command.ts";
import { choose } from "./questions.ts";

const SEEN = "setup_offered";

/** Whether nothing was configured and nothing can be found, and the user was not asked before. */
async function shouldOffer(context: CliContext): Promise<boolean> {
  const { home } = context;
  const settings = openSettings(home);
  if (existsSync(settings.path)) {
    const { raw, config } = await settings.inspect();
    if (raw.model !== undefined || config.onboarding.seen[SEEN] === true) return false;
  }
  // A model that cannot be used is reported when the conversation opens.
  const view = await showModel(openModelsContext(home)).catch(() => null);
  return view?.identity.transport === "offline";
}

/** Offers the setup on a terminal; "later" is remembered. */
export async function offerSetup(context: CliContext): Promise<void> {
  const { terminal, home, again } = context;
  if (!(await shouldOffer(context))) return;
  const answer = await choose(terminal, "Hermes has no language model yet.", [
    { label: "Set one up now (about a minute)", value: "now" },
    { label: "Later: use the built-in offline model", value: "later" },
  ]);
  if (answer === "now") await again(["setup", "--quick"]);
  else {
    await openSettings(home).set(`onboarding.seen.${SEEN}`, "true");
    terminal.err("Later: hermes setup\n");
  }
}
