// Files that never leave this machine by a message: keys and passwords, judged by where a path really leads.
import { homedir } from "node:os";
import type { Home } from "../core/home.ts";

/** For a guest's chat also everything in Hermes' homes. */
export async function isProtected(home: Home, path: string, policy: "owner" | "guest" = "owner"): Promise<boolean> {
  const { createPathGuard } = await import("./path-guard.ts");
  const guard = createPathGuard({ hermesHome: home.path, userHome: home.env.HOME ?? homedir() });
  return (await guard.reference(path, home.path, { policy })).action !== "allow";
}
