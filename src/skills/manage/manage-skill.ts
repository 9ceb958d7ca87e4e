// skill_manage: plans a change, asks for approval, scans it, writes it and records it. Flagged changes are quarantined.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { GateContext } from "../../core/gate.ts";
import { withFileLock } from "../../lib/file-lock.ts";
import { isPathInside } from "../../lib/path-inside.ts";
import type { Finding, GuardReport, SkillFile } from "../guard/finding.ts";
import { computeVerdict } from "../guard/finding.ts";
import { decide } from "../guard/policy.ts";
import { readSkillFiles } from "../guard/read-files.ts";
import { scanSkill } from "../guard/scan-skill.ts";
import type { Provenance } from "../provenance.ts";
import type { SkillUsage } from "../usage.ts";
import type { Answer, Library } from "../view.ts";
import { applyPlan } from "./apply.ts";
import { type ManageArgs, type Plan, planChange } from "./plan.ts";
import type { Quarantine } from "./quarantine.ts";

export interface ManageDeps {
  readonly library: Library;
  readonly usage: SkillUsage;
  readonly provenance: Provenance;
  readonly quarantine: Quarantine;
}

export interface Author {
  readonly gate: GateContext;
  readonly by: "agent" | "subagent";
}

const failure = (error: string, extra: Answer["fields"] = {}): Answer => ({
  ok: false,
  fields: { success: false, error, ...extra },
});

function mergeFiles(before: readonly SkillFile[], plan: Plan): SkillFile[] {
  const kept = before.filter((file) => !plan.files.has(file.path));
  const written = [...plan.files].flatMap(([path, text]) => (text === null ? [] : [{ path, content: text }]));
  return [...kept, ...written];
}

const findingKey = (finding: Finding): string => `${finding.pattern_id} ${finding.file} ${finding.match}`;

/** Scans only the new findings of the change: the user may have accepted earlier ones. */
function newFindings(plan: Plan): GuardReport {
  const before = existsSync(plan.dir) ? readSkillFiles(plan.dir) : [];
  const known = new Set(scanSkill(before).findings.map(findingKey));
  const report = scanSkill(mergeFiles(before, plan));
  const findings = report.findings.filter((finding) => !known.has(findingKey(finding)));
  return { ...report, findings, verdict: computeVerdict(findings) };
}

function describePlan(plan: Plan): string {
  const files = [...plan.files.keys()].join(", ");
  return `${plan.action} ${plan.name}${files === "" ? "" : ` (${files})`}`;
}

async function quarantineChange(
  deps: ManageDeps,
  plan: Plan,
  report: GuardReport,
  origin: { sessionId: string },
): Promise<Answer> {
  const id = await deps.quarantine.keep(plan, report, origin);
  const findings = report.findings.filter((finding) => finding.severity !== "low").slice(0, 10);
  return failure(
    `The change was quarantined as "${id}" because the guard rated it as ${report.verdict}. It is not active; the user can review it with: hermes skills review ${id}, and approve it with: hermes skills approve ${id}. Do not try variants.`,
    {
      quarantined: id,
      findings: findings.map(({ pattern_id, severity, file, line, description }) => ({
        pattern_id,
        severity,
        file,
        line,
        description,
      })),
    },
  );
}

async function record(deps: ManageDeps, plan: Plan, author: Author, verdict: string): Promise<void> {
  const { usage, provenance } = deps;
  if (plan.action === "delete") await usage.forget(plan.name);
  else if (plan.action === "create") await usage.created(plan.name, "agent");
  else await usage.bump(plan.name, "patch");
  const file = [...plan.files.keys()][0];
  await provenance.note(plan.name, {
    action: plan.action,
    by: author.by,
    at: new Date().toISOString(),
    session_id: author.gate.sessionId,
    tainted: author.gate.tainted,
    verdict,
    file,
  });
}

function findRoot(deps: ManageDeps, dir: string): string {
  const roots = deps.library.catalog.roots();
  return roots.find((root) => isPathInside(dir, root.path))?.path ?? deps.library.catalog.homeRoot;
}

async function applyChange(deps: ManageDeps, plan: Plan, author: Author): Promise<Answer> {
  const root = findRoot(deps, plan.dir);
  const report: GuardReport =
    plan.action === "delete" ? { verdict: "safe", findings: [], files: 0, bytes: 0 } : newFindings(plan);
  const decision = decide(report, "agent-created");
  const strict = deps.library.host.settings().strictGuard && report.verdict === "caution";
  if (decision.action !== "allow" || strict)
    return quarantineChange(deps, plan, report, { sessionId: author.gate.sessionId });
  await applyPlan(plan, root);
  deps.library.catalog.forget();
  await record(deps, plan, author, report.verdict);
  return { ok: true, fields: { success: true, message: plan.message, ...plan.extra } };
}

export async function manageSkill(deps: ManageDeps, args: ManageArgs, author: Author): Promise<Answer> {
  const { library, usage } = deps;
  const planned = await planChange(library, args);
  if ("error" in planned) return failure(planned.error, planned.extra);
  const { plan } = planned;
  if (plan.action === "delete" && (await usage.isPinned(plan.name)))
    return failure(`"${plan.name}" is pinned by the user and cannot be deleted`);
  const verdict = await library.host.gate.check(
    { kind: "durable", what: "skill", summary: describePlan(plan) },
    author.gate,
  );
  if (!verdict.allowed) return failure(verdict.message, { status: verdict.status });
  return withFileLock(join(library.catalog.homeRoot, ".manage"), () => applyChange(deps, plan, author));
}
