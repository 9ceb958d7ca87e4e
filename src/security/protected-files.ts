// Files that must not be sent in a message: keys and passwords, based on the real path.
import { homedir } from "node:os";
import type { Role } from "../core/chat/role.ts";
import type { Home } from "../core/home.ts";

/** For the chat of anybody but an owner, everything in Hermes' homes is protected too. */
export async function isProtected(home: Home, path: string, role: Role = "owner"): Promise<boolean> {
  const policy = role === "owner" ? "owner" : "guest";
  const { createPathGuard } = await import("./path-guard.ts");
  const guard = createPathGuard({ hermesHome: home.path, userHome: home.env.HOME ?? homedir() });
  return (await guard.reference(path, home.path, { policy })).action !== "allow";
}
