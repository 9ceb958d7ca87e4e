// /api/jobs: scheduled jobs over HTTP. Errors are plain texts, as v0.14's clients expect.
import type { Context, Hono } from "hono";
import { UserError } from "../../core/failure.ts";
import type { Job } from "../../core/job.ts";
import type { JobInput, JobService } from "../../core/job-service.ts";
import { type Body, readBody } from "./api-context.ts";
import { ApiError } from "./api-error.ts";

const JOB_ID = /^[0-9a-f]{12}$/;
const MAX_NAME = 200;
const MAX_PROMPT = 5000;
const CREATE_FIELDS = ["name", "schedule", "prompt", "deliver", "skills", "repeat"];
const PATCH_FIELDS = [...CREATE_FIELDS, "skill", "enabled"];

function refuse(status: number, message: string): ApiError {
  return new ApiError(status, status === 404 ? "job_not_found" : "invalid_job", message);
}

function text(body: Body, field: string, longest = Number.POSITIVE_INFINITY): string | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw refuse(400, `${field} must be a text`);
  if (value.length > longest) throw refuse(400, `${field} has at most ${longest} characters`);
  return value;
}

function readSkills(body: Body): readonly string[] | undefined {
  const one = text(body, "skill");
  const several = body.skills;
  if (several === undefined || several === null) return one === undefined ? undefined : [one];
  if (!Array.isArray(several) || several.some((name) => typeof name !== "string"))
    throw refuse(400, "skills must be a list of names");
  return several as readonly string[];
}

function parseRepeat(body: Body): number | undefined {
  const { repeat } = body;
  if (repeat === undefined || repeat === null) return undefined;
  if (!Number.isInteger(repeat) || Number(repeat) < 1) throw refuse(400, "repeat must be a whole number of at least 1");
  return Number(repeat);
}

function toOptions(body: Body, allowed: readonly string[]): JobInput {
  const unknown = Object.keys(body).find((field) => !allowed.includes(field));
  if (unknown !== undefined) throw refuse(400, `${unknown} cannot be set here; the fields are ${allowed.join(", ")}`);
  const fields = {
    name: text(body, "name", MAX_NAME),
    schedule: text(body, "schedule"),
    prompt: text(body, "prompt", MAX_PROMPT),
    deliver: text(body, "deliver"),
    skills: readSkills(body),
    repeat: parseRepeat(body),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JobInput;
}

async function find(api: JobService, context: Context): Promise<Job> {
  const id = context.req.param("id") ?? "";
  if (!JOB_ID.test(id)) throw refuse(400, "a job id has 12 hexadecimal digits");
  const job = (await api.list()).find((entry) => entry.id === id);
  if (!job) throw refuse(404, `there is no job ${id}`);
  return job;
}

async function listJobs(api: JobService, context: Context): Promise<Response> {
  const all = ["true", "1", "yes"].includes(context.req.query("include_disabled")?.toLowerCase() ?? "");
  const jobs = await api.list();
  return Response.json({ jobs: all ? jobs : jobs.filter((job) => job.enabled) });
}

async function createJob(api: JobService, context: Context): Promise<Response> {
  const body = await readBody(context, "createJob");
  const options = toOptions(body, CREATE_FIELDS);
  if (!options.schedule) throw refuse(400, "schedule is required");
  return Response.json(await answered(api, await api.create({ deliver: "local", ...options })));
}

async function patchJob(api: JobService, context: Context): Promise<Response> {
  const { id } = await find(api, context);
  const body = await readBody(context, "changeJob");
  const options = toOptions(body, PATCH_FIELDS);
  const { enabled } = body;
  if (enabled !== undefined && typeof enabled !== "boolean") throw refuse(400, "enabled must be true or false");
  if (Object.keys(body).length === 0) throw refuse(400, `nothing to change; the fields are ${PATCH_FIELDS.join(", ")}`);
  let job = await api.update(id, options);
  if (enabled !== undefined && enabled !== job.enabled)
    job = enabled ? await api.resume(id) : await api.pause(id, "by the API");
  return Response.json({ job });
}

/** Adds a warning when no scheduler runs. */
async function answered(api: JobService, job: Job): Promise<{ job: Job; note?: string | undefined }> {
  const note = await api.tickerProblem();
  return { job, note };
}

type Handler = (api: JobService, context: Context) => Promise<Response>;

const ROUTES: readonly (readonly ["get" | "post" | "patch" | "delete", string, Handler])[] = [
  ["get", "/api/jobs", listJobs],
  ["post", "/api/jobs", createJob],
  ["get", "/api/jobs/:id", async (api, context) => Response.json({ job: await find(api, context) })],
  ["patch", "/api/jobs/:id", patchJob],
  [
    "delete",
    "/api/jobs/:id",
    async (api, context) => {
      await api.remove((await find(api, context)).id);
      return Response.json({ ok: true });
    },
  ],
  [
    "post",
    "/api/jobs/:id/pause",
    async (api, context) => Response.json({ job: await api.pause((await find(api, context)).id, "by the API") }),
  ],
  [
    "post",
    "/api/jobs/:id/resume",
    async (api, context) => Response.json(await answered(api, await api.resume((await find(api, context)).id))),
  ],
  [
    "post",
    "/api/jobs/:id/run",
    async (api, context) => Response.json(await answered(api, await api.trigger((await find(api, context)).id))),
  ],
];

function refusal(error: unknown): Response {
  if (error instanceof ApiError) return Response.json({ error: error.message }, { status: error.status });
  if (!(error instanceof UserError)) throw error;
  return Response.json({ error: [error.message, error.hint].filter(Boolean).join(" ") }, { status: 400 });
}

/** The names of the routes, for `/v1/capabilities`. */
export const JOB_ENDPOINTS: readonly string[] = ROUTES.map(
  ([method, path]) => `${method.toUpperCase()} ${path.replace(":id", "{id}")}`,
);

export function addJobRoutes(app: Hono, open: () => Promise<JobService>): void {
  for (const [method, path, handle] of ROUTES)
    app[method](path, async (context) => {
      try {
        return await handle(await open(), context);
      } catch (error) {
        return refusal(error);
      }
    });
}
