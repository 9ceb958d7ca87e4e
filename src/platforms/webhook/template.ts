// Templates: `{a.b.c}` is a value of the payload, `{__raw__}` the payload itself.

const MAX_RAW = 4000;
const MAX_VALUE = 2000;

function at(payload: unknown, path: string): unknown {
  let value: unknown = payload;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as { readonly [key: string]: unknown })[key];
  }
  return value;
}

function shown(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null) return JSON.stringify(value).slice(0, MAX_VALUE);
  return String(value);
}

/** Unknown names stay unchanged. An empty template shows the payload. */
export function render(template: string, payload: unknown): string {
  if (template.trim() === "") return JSON.stringify(payload, null, 2).slice(0, MAX_RAW);
  return template.replaceAll(/\{([A-Za-z_][\w-]*(?:\.[\w-]+)*)\}/g, (whole, path: string) => {
    if (path === "__raw__") return JSON.stringify(payload).slice(0, MAX_RAW);
    const value = at(payload, path.startsWith("payload.") && at(payload, path) === undefined ? path.slice(8) : path);
    return value === undefined ? whole : shown(value);
  });
}

export function renderAll(
  templates: { readonly [key: string]: string },
  payload: unknown,
): { readonly [key: string]: string } {
  const rendered = Object.entries(templates).map(([key, value]) => [key, value === "" ? "" : render(value, payload)]);
  return Object.fromEntries(rendered) as { [key: string]: string };
}
