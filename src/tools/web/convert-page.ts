// Converts a page where it does not disturb: small ones here, large ones in a thread of their own.
import { findWorkerFile } from "../../lib/worker-file.ts";
import { htmlToMarkdownInSlices, type MarkdownPage } from "./html-to-markdown.ts";

/** Up to here the longest pause stays well below 50 ms; a thread takes about as long to start. */
const LARGE = 200_000;

async function inThread(file: string, html: string, address: string | undefined): Promise<MarkdownPage> {
  const { Worker } = await import("node:worker_threads");
  const worker = new Worker(file, { workerData: { html, address }, stderr: false });
  try {
    return await new Promise((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", (code) => reject(new Error(`The page's thread ended without a word (exit code ${code}).`)));
    });
  } finally {
    await worker.terminate();
  }
}

/** `address` completes relative links. Run from source, without a build, large pages are converted here in slices. */
export async function convertPage(html: string, address?: string): Promise<MarkdownPage> {
  const file = html.length < LARGE ? undefined : findWorkerFile("page-worker");
  return file === undefined ? htmlToMarkdownInSlices(html, address) : inThread(file, html, address);
}
