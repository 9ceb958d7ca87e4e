// Posts an answer as a comment on a pull request or an issue, with the `gh` command.
import { execFile } from "node:child_process";

const TIMEOUT_MS = 30_000;

/** Rejects with the error text of gh. */
export function githubComment(extra: { readonly [key: string]: string }, text: string): Promise<void> {
  const { repo, pr_number: number } = extra;
  if (!repo || !/^[\w.-]+\/[\w.-]+$/.test(repo) || !/^\d+$/.test(number ?? ""))
    return Promise.reject(new Error("github_comment needs repo (owner/name) and pr_number"));
  return new Promise((resolve, reject) => {
    const args = ["pr", "comment", String(number), "--repo", repo, "--body-file", "-"];
    const child = execFile("gh", args, { timeout: TIMEOUT_MS }, (error, _stdout, stderr) => {
      if (!error) resolve();
      else reject(new Error(`gh: ${stderr.trim() || error.message}`));
    });
    // gh may end without reading its input.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(text);
  });
}
