// Imports a file whose path is known only at run time. Separate module so that the build can replace it: scripts that run
// from the V8 code cache cannot call `import()`.

/** The module at this URL. */
export function importModule(url: string): Promise<unknown> {
  return import(/* @vite-ignore */ url);
}
