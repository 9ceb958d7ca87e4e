// Converts pages without blocking the event loop: small ones in slices, large ones in a worker thread.
import { htmlToMarkdownInSlices, type MarkdownPage } from "../../lib/html/to-markdown.ts";
import { findWorkerFile } from "../../lib/worker-file.ts";

/** Below this size no slice takes 50 ms, which is about the time that a thread needs to start. */
const LARGE_CHARS = 200_000;

async function inThread(file: string, html: string, address: string | undefined): Promise<MarkdownPage> {
  const { Worker } = await import("node:worker_threads");
  const worker = new Worker(file, { workerData: { html, address }, stderr: false });
  try {
    return await new Promise((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", (code) => reject(new Error(`The worker thread ended without a result (exit code ${code}).`)));
    });
  } finally {
    await worker.terminate();
  }
}

/** Relative links are resolved against `address`. When run from source, without a worker file, large pages are sliced too. */
export async function convertPage(html: string, address?: string): Promise<MarkdownPage> {
  const file = html.length < LARGE_CHARS ? undefined : findWorkerFile("page-worker");
  return file === undefined ? htmlToMarkdownInSlices(html, address) : inThread(file, html, address);
}
