// Files that never leave this machine by a message: keys and passwords, judged by where a path really leads.
import { homedir } from "node:os";
import type { Role } from "../core/role.ts";
import type { Home } from "./home.ts";

/** For a guest nothing of the home leaves but the files that conversations are given. */
export async function isProtected(home: Home, path: string, role: Role = "owner"): Promise<boolean> {
  if (role === "guest") {
    const [{ isForbidden }, { realPathOf }] = await Promise.all([
      import("../security/gate/guest.ts"),
      import("../security/real-path.ts"),
    ]);
    const [real, realHome] = await Promise.all([realPathOf(path, home.path), realPathOf(home.path, "/")]);
    if (isForbidden(real, { hermesHome: home.path, realHome })) return true;
  }
  const { createPathGuard } = await import("../security/path-guard.ts");
  const guard = createPathGuard({ hermesHome: home.path, userHome: home.env.HOME ?? homedir() });
  return (await guard.read(path, home.path)).action !== "allow";
}
