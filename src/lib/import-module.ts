// Imports a file whose place is known only at run time. A door of its own, because the build gives it another floor:
// code that comes out of a code cache cannot call `import()` itself.

/** The module at this URL. */
export function importModule(url: string): Promise<unknown> {
  return import(/* @vite-ignore */ url);
}
