// The workspaces of chat users who are not owners: one folder each, inside the home.

/** True for a folder that belongs to a chat user who is not the owner. */
export function isUserWorkspace(hermesHome: string, folder: string): boolean {
  return folder.startsWith(`${hermesHome.replace(/\/+$/, "")}/workspaces/`);
}
