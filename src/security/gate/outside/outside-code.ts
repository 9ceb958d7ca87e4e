// Detects code that may output untrusted text: from the network, other programs or files outside the workspace.
import { existsSync } from "node:fs";
import { isBelow } from "../../real-path.ts";
import type { ShellEnvironment } from "../shell/shell-types.ts";
import { absolutePath } from "../shell/shell-walk.ts";

const NETWORK =
  /\b(?:urllib\d?|requests|httpx|aiohttp|pycurl|ftplib|smtplib|imaplib|poplib|telnetlib|paramiko|fabric|websockets?|socket|socketserver|xmlrpc|selenium|playwright|puppeteer|boto3|botocore|feedparser|scrapy|mechanize|pyppeteer|grpc|pymongo|psycopg\d?|redis|openai|anthropic|axios|undici|superagent|needle|XMLHttpRequest|WebSocket|EventSource|LWP|HTTP::Tiny|IO::Socket|open-uri|Net::HTTP|Faraday|HTTParty|Guzzle|curl_exec|fsockopen|curl|wget|ssh|scp|rsync|gh|nc|ncat|socat)\b|\bhttp\.client\b|\bfetch\s*\(|node:(?:https?|http2|net|dgram|tls)\b|["'](?:https?|http2|net|dgram|tls|got|ky|node-fetch)["']|\b(?:https?|ftp|wss?):\/\/(?!schemas?\.|www\.w3\.org)|\/dev\/(?:tcp|udp)\//i;
const HIDDEN =
  /\b(?:__import__|importlib|ctypes|marshal|pickle)\b|\b(?:exec|eval|compile)\s*\(|\bnew\s+Function\b|\bprocess\.binding\b|\bvm\.run|\brequire\s*\(\s*(?!["'`])|\bimport\s*\(\s*(?!["'`])/;
const OTHER_PROGRAMS =
  /\b(?:subprocess|os\.(?:system|popen|exec\w*|spawn\w*|posix_spawn)|pty\.spawn|child_process|execa|Bun\.spawn|Deno\.Command|shell_exec|proc_open|Open3|IO\.popen)\b/;
const PERSONAL =
  /\b(?:expanduser|Path\.home|homedir|os\.path\.expandvars)\b|environ(?:\.get)?\s*[[(]\s*["'](?:HOME|USERPROFILE|XDG_\w+)|process\.env\.(?:HOME|XDG_\w+)|\$ENV\{HOME\}|ENV\[["']HOME/;
const LITERAL_PATH = /["'`]((?:~|\.\.)?\/[^"'`\n]{0,400})["'`]/g;

export interface CodeInput {
  readonly code: string;
  readonly cwd: string;
  /** The programs that it starts are checked elsewhere. */
  readonly commandsKnown?: boolean | undefined;
}

/** A description of the source of the text; null when the program is local. */
export function untrustedCodeSource(question: CodeInput, host: ShellEnvironment): string | null {
  const { code, cwd } = question;
  if (NETWORK.test(code)) return "a program that may use the network";
  if (HIDDEN.test(code)) return "a program that loads code at run time";
  if (!question.commandsKnown && OTHER_PROGRAMS.test(code)) return "a program that starts other programs";
  if (PERSONAL.test(code)) return "a program that reads outside the workspace";
  const root = host.workspace ?? host.cwd;
  for (const match of code.matchAll(LITERAL_PATH)) {
    const path = absolutePath(match[1] ?? "", cwd, host);
    if (!isBelow(root, path) && !path.startsWith("/dev/") && existsSync(path)) return `a program that reads ${path}`;
  }
  return null;
}
