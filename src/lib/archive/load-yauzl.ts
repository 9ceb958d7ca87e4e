// Loads yauzl. It is a CommonJS package: in the built program only its default export exists.
import type { fromBufferPromise, openPromise } from "yauzl";

interface Yauzl {
  readonly openPromise: typeof openPromise;
  readonly fromBufferPromise: typeof fromBufferPromise;
}

export async function loadYauzl(): Promise<Yauzl> {
  const loaded = await import("yauzl");
  return loaded.default ?? loaded;
}
