// Files that must not be sent in a message: keys and passwords, based on the real path.
import { homedir } from "node:os";
import type { Home } from "../core/home.ts";

/** For a guest's chat, everything in Hermes' homes is protected too. */
export async function isProtected(home: Home, path: string, policy: "owner" | "guest" = "owner"): Promise<boolean> {
  const { createPathGuard } = await import("./path-guard.ts");
  const guard = createPathGuard({ hermesHome: home.path, userHome: home.env.HOME ?? homedir() });
  return (await guard.reference(path, home.path, { policy })).action !== "allow";
}
