// The worker thread that converts one large page: its tree would hold up everything else for half a second.
import { parentPort, workerData } from "node:worker_threads";
import { htmlToMarkdown } from "./html-to-markdown.ts";

const { html, address } = workerData as { readonly html: string; readonly address: string | undefined };
parentPort?.postMessage(htmlToMarkdown(html, address));
