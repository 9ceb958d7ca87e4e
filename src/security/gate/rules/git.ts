// Rules for git commands that lose work or rewrite published history.

import { argTexts, type Invocation, operands } from "../shell/shell-types.ts";
import { paths, type ShellRule } from "./rule.ts";

const verb = (invocation: Invocation): readonly string[] => {
  const texts = argTexts(invocation);
  let at = 0;
  while ((texts[at] ?? "").startsWith("-"))
    at += /^-[cC]$|^--(?:git-dir|work-tree|namespace)$/.test(texts[at] ?? "") ? 2 : 1;
  return texts.slice(at);
};
const rule = (
  id: string,
  reason: string,
  legacy: readonly string[],
  test: (texts: readonly string[]) => boolean,
): ShellRule => ({
  id,
  category: id === "git_clean" ? "deletion" : "git",
  level: "dangerous",
  reason,
  legacy,
  programs: ["git"],
  match: (invocation, host) => {
    const texts = verb(invocation);
    if (!test(texts)) return null;
    const words = operands(invocation).filter((word) => texts.indexOf(word.text) > 0);
    return id === "git_clean" && words.length > 0 ? paths(words, invocation, host) : [invocation.cwd];
  },
});
const has = (texts: readonly string[], pattern: RegExp): boolean => texts.slice(1).some((text) => pattern.test(text));

export const GIT_RULES: readonly ShellRule[] = [
  rule(
    "git_reset",
    "discards uncommitted changes",
    ["git reset --hard (destroys uncommitted changes)"],
    (texts) => texts[0] === "reset" && has(texts, /^--(?:har?d?|merge?)$/),
  ),
  rule(
    "git_push_force",
    "rewrites the history of the remote",
    ["git force push (rewrites remote history)", "git force push short flag (rewrites remote history)"],
    (texts) => texts[0] === "push" && has(texts, /^(?:--force|--mirror|--delete|--prune|-[a-z]*[fd][a-z]*$|\+\S|:\S)/),
  ),
  rule(
    "git_clean",
    "deletes untracked files",
    ["git clean with force (deletes untracked files)"],
    (texts) =>
      texts[0] === "clean" && has(texts, /^-[a-zA-Z]*f|^--for?c?e?$/) && !has(texts, /^-[a-zA-Z]*n|^--dry-run/),
  ),
  rule(
    "git_discard",
    "discards uncommitted changes",
    [],
    (texts) =>
      (/^(?:checkout|switch)$/.test(texts[0] ?? "") && has(texts, /^-[a-zA-Z]*f|^--for?c?e?$|^--discard/)) ||
      (/^(?:checkout|restore)$/.test(texts[0] ?? "") &&
        has(texts, /^(?:\.|\.\/|:\/|\*|:)$/) &&
        !(texts.includes("--staged") && !texts.includes("--worktree"))) ||
      (texts[0] === "checkout-index" && has(texts, /^-[a-z]*f|^--force/)) ||
      (texts[0] === "rm" && has(texts, /^-[a-z]*f|^--force/) && has(texts, /^-[a-z]*r/) && !texts.includes("--cached")),
  ),
  rule("git_runs", "makes git run a program", [], (texts) => texts.some((text) => /^ext::/.test(text))),
  {
    id: "git_settings",
    category: "git",
    level: "dangerous",
    reason: "gives git settings or files that run programs",
    programs: ["git"],
    match: (invocation) => {
      const texts = argTexts(invocation);
      const given = texts.flatMap((text, at) =>
        text === "-c" ? [texts[at + 1] ?? ""] : /^-c\w/.test(text) ? [text.slice(2)] : [],
      );
      const runs = given.some(
        (text) =>
          /^(?:core\.(?:hookspath|fsmonitor|worktree|attributesfile)|init\.templatedir|protocol\.ext|include)/i.test(
            text,
          ) && !/=(?:\/dev\/null|false|true|)$/.test(text),
      );
      const other = texts.some((text) => /^--(?:config-env|exec-path=|template)/.test(text));
      return runs || other ? ["settings"] : null;
    },
  },
  rule(
    "git_branch_delete",
    "deletes a branch that may not be merged",
    ["git branch force delete"],
    (texts) =>
      texts[0] === "branch" &&
      (has(texts, /^-[a-zA-Z]*D/) || (has(texts, /^(?:-d|--delete)$/) && has(texts, /^(?:-f|--force)$/))),
  ),
  rule(
    "git_history",
    "rewrites or drops local history",
    [],
    (texts) =>
      /^(?:filter-branch|filter-repo)$/.test(texts[0] ?? "") ||
      (texts[0] === "reflog" && has(texts, /^(?:expire|delete)$/)) ||
      (texts[0] === "update-ref" && has(texts, /^-d$/)) ||
      (texts[0] === "stash" && has(texts, /^(?:clear|drop)$/)),
  ),
  rule(
    "git_config",
    "sets commands that git runs by itself",
    [],
    (texts) =>
      texts[0] === "config" &&
      ((has(texts, /^alias\./i) && has(texts, /^!/)) ||
        has(
          texts,
          /^(?:core\.(?:hookspath|sshcommand|fsmonitor|pager|editor|askpass)|credential\.|include\.|includeif\.|filter\.|diff\..*\.(?:command|textconv)|merge\..*\.driver|gpg\..*program|init\.templatedir)/i,
        )) &&
      texts.filter((text) => !text.startsWith("-")).length > 2,
  ),
];
