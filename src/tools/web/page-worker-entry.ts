// Entry of the worker thread that converts one large page.
import { parentPort, workerData } from "node:worker_threads";
import { htmlToMarkdown } from "../../lib/html/to-markdown.ts";

const { html, address } = workerData as { readonly html: string; readonly address: string | undefined };
void htmlToMarkdown(html, address).then((page) => parentPort?.postMessage(page));
