// Reads one entry of jobs.json: older formats are converted, unknown fields are kept.
import type { CatchUp, Job, JobOrigin, JobState, Schedule } from "../core/job.ts";
import { isRecord } from "../lib/json/is-record.ts";
import { oneLine } from "../lib/text/one-line.ts";

type Raw = { readonly [key: string]: unknown };

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function texts(value: unknown): string[] {
  if (typeof value === "string") return value.trim() === "" ? [] : [value.trim()];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string" && item !== "") : [];
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

const STATES: readonly string[] = ["scheduled", "running", "paused", "completed", "error"];
const CATCH_UPS: readonly string[] = ["skip", "latest", "all"];

function readState(raw: Raw): JobState {
  if (STATES.includes(String(raw.state))) return raw.state as JobState;
  return raw.enabled === false ? "paused" : "scheduled";
}

function readRepeat(raw: Raw): Job["repeat"] {
  const repeat = isRecord(raw.repeat) ? raw.repeat : {};
  const times = count(repeat.times);
  return { ...repeat, times: times !== null && times > 0 ? times : null, completed: count(repeat.completed) ?? 0 };
}

function readOrigin(raw: Raw): JobOrigin | null {
  const { origin } = raw;
  if (!isRecord(origin) || typeof origin.platform !== "string" || origin.chat_id === undefined) return null;
  const { thread_id: thread, tenant } = origin;
  return {
    ...origin,
    platform: origin.platform,
    chat_id: String(origin.chat_id),
    ...(thread === undefined || thread === null ? {} : { thread_id: String(thread) }),
    ...(tenant === undefined || tenant === null ? {} : { tenant: String(tenant) }),
  };
}

/** The start of a prompt, as the name of a job. */
export function jobLabel(prompt: string): string {
  return [...oneLine(prompt)].slice(0, 50).join("").trim();
}

function defaultName(raw: Raw, skills: readonly string[]): string {
  const prompt = typeof raw.prompt === "string" ? raw.prompt : "";
  return jobLabel(prompt) || skills[0] || text(raw.script) || "job";
}

function readExtras(raw: Raw): Partial<Job> {
  const limit = count(raw.catch_up_limit);
  const counted = count(raw.counted_run);
  return {
    ...(CATCH_UPS.includes(String(raw.catch_up)) ? { catch_up: raw.catch_up as CatchUp } : {}),
    ...(raw.at_least_once === true ? { at_least_once: true } : {}),
    ...(limit === null ? {} : { catch_up_limit: limit }),
    ...(counted === null ? {} : { counted_run: counted }),
  };
}

/** The display text of a schedule that was stored without one. */
function displaySchedule(schedule: Schedule): string {
  if (schedule.kind === "cron") return text(schedule.expr) ?? "?";
  return schedule.kind === "interval" && count(schedule.minutes) !== null ? `every ${schedule.minutes}m` : "?";
}

/** Undefined for an entry without a valid id. */
export function readJob(raw: unknown): Job | undefined {
  if (!isRecord(raw) || typeof raw.id !== "string" || !/^[\w-]{1,64}$/.test(raw.id)) return undefined;
  const skills = texts(raw.skills).length > 0 ? texts(raw.skills) : texts(raw.skill);
  const schedule = (isRecord(raw.schedule) ? raw.schedule : { kind: "none" }) as unknown as Schedule;
  const contextFrom = texts(raw.context_from);
  const toolsets = texts(raw.enabled_toolsets);
  return {
    ...raw,
    id: raw.id,
    name: text(raw.name) ?? defaultName(raw, skills),
    prompt: typeof raw.prompt === "string" ? raw.prompt : "",
    skills,
    skill: skills[0] ?? null,
    model: text(raw.model),
    provider: text(raw.provider),
    base_url: text(raw.base_url),
    script: text(raw.script),
    no_agent: raw.no_agent === true,
    context_from: contextFrom.length > 0 ? contextFrom : null,
    schedule,
    schedule_display: text(raw.schedule_display) ?? text(schedule.display) ?? displaySchedule(schedule),
    repeat: readRepeat(raw),
    enabled: raw.enabled !== false,
    state: readState(raw),
    paused_at: text(raw.paused_at),
    paused_reason: text(raw.paused_reason),
    created_at: text(raw.created_at),
    next_run_at: text(raw.next_run_at),
    last_run_at: text(raw.last_run_at),
    last_status: raw.last_status === "ok" || raw.last_status === "error" ? raw.last_status : null,
    last_error: text(raw.last_error),
    last_delivery_error: text(raw.last_delivery_error),
    deliver: texts(raw.deliver).join(",") || "local",
    origin: readOrigin(raw),
    enabled_toolsets: toolsets.length > 0 ? toolsets : null,
    workdir: text(raw.workdir),
    ...readExtras(raw),
  };
}
