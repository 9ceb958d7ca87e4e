// Checks arguments against the tool's schema and describes what is wrong. Schemas are compiled once.
import type { TSchema } from "typebox";
import type { JsonObject } from "../../core/message.ts";

interface Checker {
  Check(value: unknown): boolean;
  Errors(value: unknown): Iterable<{ readonly instancePath?: string | undefined; readonly message?: string }>;
}

const checkers = new WeakMap<object, Checker>();

async function checkerFor(schema: TSchema): Promise<Checker> {
  const known = checkers.get(schema);
  if (known !== undefined) return known;
  const { Compile } = await import("typebox/compile");
  const checker = Compile(schema) as unknown as Checker;
  checkers.set(schema, checker);
  return checker;
}

/** Undefined when the arguments are valid; otherwise up to five problems, each with its path. */
export async function argumentProblems(schema: TSchema, args: JsonObject): Promise<string | undefined> {
  const checker = await checkerFor(schema);
  if (checker.Check(args)) return undefined;
  const problems: string[] = [];
  for (const error of checker.Errors(args)) {
    const path = (error.instancePath ?? "").replace(/^\//, "").replaceAll("/", ".");
    const text = path === "" ? (error.message ?? "does not fit") : `${path}: ${error.message ?? "does not fit"}`;
    if (!problems.includes(text)) problems.push(text);
    if (problems.length === 5) break;
  }
  return problems.join("; ") || "the arguments do not fit the schema";
}
