// Commands that publish: pushes, pull requests, releases, packages, deployments and messages to people.
import { argTexts, programName } from "../shell/shell-types.ts";
import type { ShellRule } from "./rule.ts";

interface Publisher {
  readonly names: string;
  /** Compared with the arguments, joined with blanks. */
  readonly when: RegExp;
  readonly what: string;
}

const PUBLISHERS: readonly Publisher[] = [
  {
    names: "git",
    when: /^(?:-\S+ |-[cC] \S+ )*(?:push|send-email|request-pull)\b(?!.*(?:--dry-run| -n\b))/,
    what: "pushes commits to another repository",
  },
  { names: "git", when: /^(?:-\S+ )*(?:svn dcommit|lfs push|p4 submit)\b/, what: "pushes to another repository" },
  { names: "hg", when: /^(?:push|email)\b/, what: "pushes commits to another repository" },
  { names: "svn", when: /^(?:commit|ci|import)\b/, what: "commits to a shared repository" },
  {
    names: "gh",
    when: /^(?:pr (?:create|merge|close|comment|review|edit|reopen)|issue (?:create|close|comment|edit|delete)|release (?:create|upload|delete|edit)|repo (?:create|delete|edit|fork|rename|archive)|gist create|workflow run|secret set|api\b.*(?:-X|--method|-f |-F |--field|--input))/,
    what: "changes something on GitHub that others see",
  },
  {
    names: "glab",
    when: /^(?:mr (?:create|merge|close|note|update)|issue (?:create|close|note)|release create|repo (?:create|delete)|api\b.*(?:-X|--method))/,
    what: "changes something on GitLab that others see",
  },
  {
    names: "npm pnpm yarn bun",
    when: /^(?:npm )?(?:publish|unpublish|deprecate|dist-tag add|owner add)\b(?!.*--dry-run)/,
    what: "publishes a package",
  },
  {
    names: "lerna changeset release-it semantic-release np",
    when: /^(?:publish|)(?!.*--dry-run)/,
    what: "publishes a package",
  },
  { names: "cargo", when: /^(?:publish|yank|owner)\b(?!.*--dry-run)/, what: "publishes a crate" },
  {
    names: "twine flit hatch poetry uv pdm",
    when: /^(?:upload|publish)\b(?!.*--dry-run)/,
    what: "publishes a package",
  },
  { names: "gem", when: /^(?:push|yank|owner)\b/, what: "publishes a gem" },
  {
    names: "mvn gradle gradlew sbt",
    when: /(?:^|\s):?(?:deploy|publish\w*|release:perform)\b/,
    what: "publishes an artifact",
  },
  {
    names: "docker podman buildah nerdctl",
    when: /^(?:push|image push|compose push|manifest push|buildx build\b.*--push|build\b.*--push)/,
    what: "publishes an image",
  },
  {
    names: "helm",
    when: /^(?:push|install|upgrade|uninstall|rollback)\b(?!.*--dry-run)/,
    what: "changes a cluster or publishes a chart",
  },
  {
    names: "kubectl oc",
    when: /^(?:-\S+ )*(?:apply|create|delete|replace|patch|scale|rollout (?:restart|undo)|set|edit|drain|cordon|annotate|label|run|expose)\b(?!.*--dry-run)/,
    what: "changes a cluster",
  },
  {
    names: "terraform tofu",
    when: /^(?:apply|destroy|import|state (?:rm|mv|push)|taint)\b/,
    what: "changes infrastructure",
  },
  { names: "pulumi", when: /^(?:up|destroy|refresh|import)\b/, what: "changes infrastructure" },
  {
    names: "ansible ansible-playbook",
    when: /^(?!.*--(?:check|syntax-check|list)).*\S/,
    what: "changes other machines",
  },
  {
    names: "aws",
    when: /^(?:\S+ )?(?:s3 (?:cp|mv|sync|rm|rb|mb)|s3api (?:put|delete|create)|\S+ (?:create|delete|update|put|terminate|start|stop|run|deploy|invoke|publish|send|attach|detach|modify|reboot)[\w-]*)\b(?!.*--(?:dryrun|dry-run))/,
    what: "changes something in AWS",
  },
  {
    names: "gcloud",
    when: /\b(?:deploy|create|delete|update|set-iam-policy|add-iam-policy-binding|publish)\b/,
    what: "changes something in Google Cloud",
  },
  { names: "az", when: /\b(?:create|delete|update|deploy|up)\b/, what: "changes something in Azure" },
  {
    names: "vercel now netlify firebase flyctl fly heroku railway render surge wrangler serverless sls eb cap dokku",
    when: /(?:^$|\b(?:deploy|publish|launch|releases?|promote|up|--prod|config:set|secret put|ps:scale|apps:destroy)\b)/,
    what: "deploys",
  },
  { names: "mail mailx mutt neomutt sendmail msmtp swaks s-nail", when: /\S/, what: "sends a message" },
  {
    names: "signal-cli telegram-send slack-cli notify ntfy",
    when: /^(?:send|message|chat|publish|pub)?\b/,
    what: "sends a message",
  },
  {
    names: "curl wget http https xh",
    when: /(?:hooks\.slack\.com|discord(?:app)?\.com\/api\/webhooks|api\.telegram\.org\/bot|api\.twilio\.com|api\.sendgrid\.com|api\.mailgun\.net|graph\.facebook\.com|api\.(?:x|twitter)\.com|smtps?:\/\/)/,
    what: "sends a message",
  },
];

const BY_NAME = new Map<string, Publisher[]>();
for (const row of PUBLISHERS)
  for (const name of row.names.split(" ")) BY_NAME.set(name, [...(BY_NAME.get(name) ?? []), row]);

/** What a program with these arguments publishes; undefined when it publishes nothing. */
export function publishes(program: string, args: string): string | undefined {
  return BY_NAME.get(program)?.find((row) => row.when.test(args))?.what;
}

/** One rule per sentence, because the reason of a rule is fixed. */
export const PUBLISHING_RULES: readonly ShellRule[] = [...new Set(PUBLISHERS.map(({ what }) => what))].map((what) => ({
  id: `publish_${what.replaceAll(/\W+/g, "_")}`,
  category: "publishing",
  level: "dangerous",
  reason: what,
  match: (invocation) => (publishes(programName(invocation), argTexts(invocation).join(" ")) === what ? [] : null),
}));
