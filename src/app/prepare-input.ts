// Expands the `@` references of user input.
import { homedir } from "node:os";
import type { OpenedConversation } from "../core/conversation.ts";
import { absentHuman } from "../core/human.ts";
import type { PreparedInput } from "./app.ts";
import type { Services } from "./services.ts";

const PAGE_BYTES = 2_000_000;
const SKILL_MS = 10_000;

async function fetchPage(services: Services, url: string, signal: AbortSignal): Promise<string> {
  const [{ pageFetch }, { pageText }] = await Promise.all([
    import("./open-web.ts"),
    import("../tools/web/page-text.ts"),
  ]);
  const answer = await pageFetch(services)(url, { signal, maxBytes: PAGE_BYTES });
  if (!answer.ok) throw new Error(`${url} is not attached: ${answer.reason}`);
  if (answer.status >= 400) throw new Error(`${url} is not attached: the server answered ${answer.status}`);
  const page = await pageText({
    bytes: answer.body,
    contentType: answer.headers["content-type"] ?? "",
    url: answer.url,
  });
  if (!page.ok) throw new Error(`${url} is not attached: ${page.error}`);
  return page.title === "" ? page.content : `${page.title}\n\n${page.content}`;
}

/** Why the path must not be attached: the reason for which read_file would ask or refuse. */
async function refusal(services: Services, path: string): Promise<string | undefined> {
  const { createPathGuard } = await import("../security/path-guard.ts");
  const { home } = services;
  const guard = createPathGuard({ hermesHome: home.path, userHome: home.env.HOME ?? homedir() });
  const verdict = await guard.reference(path, home.cwd);
  return verdict.action === "allow" ? undefined : verdict.reason;
}

export async function prepareInput(
  services: Services,
  text: string,
  opened: OpenedConversation,
): Promise<PreparedInput> {
  if (!text.includes("@")) return { text, warnings: [], untrusted: false };
  const { expandReferences } = await import("../context/prompt/references.ts");
  const { home, workspaces } = services;
  return expandReferences(text, {
    cwd: workspaces.cwd(opened.conversation.conversationId, home.cwd),
    userHome: home.env.HOME ?? homedir(),
    hermesHome: home.path,
    contextLength: opened.contextLength,
    refusePath: (path) => refusal(services, path),
    mask: (found, { env }) => services.redactor.redact(found, { code: true, env }),
    fetchText: (url, signal) => fetchPage(services, url, signal),
    sessionText: async (id) => (await import("../context/prompt/session-text.ts")).sessionText(services.store, id),
    skillText: async (name) => {
      const { conversationId, sessionId } = opened.conversation;
      const request = { conversationId, sessionId, human: absentHuman, signal: AbortSignal.timeout(SKILL_MS) };
      return (await (await services.skills.open()).preload([name], { ...request, platform: "cli", local: true })).text;
    },
  });
}
