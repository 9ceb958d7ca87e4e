// Slash commands that change what was said: undo, retry, branch, save, copy, attach.
import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import { contentText } from "../core/message.ts";
import { oneLine } from "../lib/text/one-line.ts";
import { answerErrors, type BuiltinCommand, text } from "./builtin-command.ts";
import type { CommandDeps } from "./command-deps.ts";
import { confirmed } from "./confirm.ts";
import { plural } from "./format.ts";

const NOTHING = "There is nothing to take back.";

async function undo(deps: CommandDeps, context: CommandContext): Promise<CommandAnswer> {
  const effect = "takes back your last message and the answer to it; both stay searchable";
  if (!(await confirmed(deps.settings, context, { command: "undo", effect }))) return text("Nothing was taken back.");
  const undone = await context.conversation.undo();
  if (!undone) return text(NOTHING);
  const excerpt = oneLine(undone.text, 80) || "a picture";
  return text(
    `Taken back (${plural(undone.count, "message")}): ${excerpt}\nThey stay searchable. /retry instead sends it again.`,
  );
}

async function retry(context: CommandContext): Promise<CommandAnswer> {
  const undone = await context.conversation.undo();
  if (!undone) return text("There is no message to send again.");
  context.conversation.attachToNextInput(undone.parts);
  // The stored text has its references expanded already.
  const prepared = { untrusted: context.conversation.provenance.trust === "untrusted" };
  return { type: "send", text: undone.text, when: "now", prepared };
}

async function branch(args: string, { conversation }: CommandContext): Promise<CommandAnswer> {
  const branched = await conversation.branch(args || undefined);
  if (!branched) return text("There is nothing to branch from yet: send a message first.");
  return { type: "switch", sessionId: branched.sessionId, title: branched.title };
}

/** Every stored message of the session, also those that were taken back. */
async function save(deps: CommandDeps, { store, conversation }: CommandContext): Promise<CommandAnswer> {
  const exported = await store.exportSession(conversation.sessionId);
  if (!exported) return text("There is nothing to save yet: send a message first.");
  const stamp = new Date().toISOString().replace(/[-:]/g, "").replace("T", "_").slice(0, 15);
  const name = `sessions/saved/hermes_conversation_${stamp}_${conversation.sessionId.slice(-6)}.json`;
  const path = await deps.saveFile(name, `${deps.redact(JSON.stringify(exported, null, 2))}\n`);
  return text(`Saved ${plural(exported.messages.length, "message")} to ${path}`);
}

function copy(args: string, { conversation }: CommandContext): CommandAnswer {
  const number = args === "" ? 1 : Number(args);
  if (!Number.isInteger(number) || number < 1)
    return text("Which answer? /copy copies the last one, /copy 2 the one before.");
  const answers = conversation.messages.filter(
    (message) => message.role === "assistant" && contentText(message.content).trim() !== "",
  );
  const found = answers.at(-number);
  if (!found)
    return text(answers.length === 0 ? "There is no answer yet." : `There are only ${answers.length} answers.`);
  const what = number === 1 ? "the last answer" : `answer ${number} from the end`;
  return { type: "terminal", request: { kind: "copy", text: contentText(found.content), what } };
}

export function exchangeCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  return [
    {
      name: "undo",
      group: "Conversation",
      summary: "Take back your last message and its answer",
      ownerOnly: false,
      run: (_, context) => undo(deps, context),
    },
    {
      name: "retry",
      group: "Conversation",
      summary: "Send your last message again",
      ownerOnly: false,
      run: (_, context) => retry(context),
    },
    {
      name: "branch",
      aliases: ["fork"],
      group: "Sessions",
      args: "[title]",
      summary: "Continue in a copy of this session",
      ownerOnly: false,
      run: (args, context) => answerErrors(() => branch(args, context)),
    },
    {
      name: "save",
      group: "Sessions",
      surface: "terminal",
      summary: "Write this session to a JSON file",
      whileBusy: true,
      ownerOnly: true,
      run: (_, context) => save(deps, context),
    },
    {
      name: "copy",
      group: "Conversation",
      args: "[number]",
      surface: "terminal",
      summary: "Copy the last answer, or an earlier one",
      whileBusy: true,
      ownerOnly: false,
      run: async (args, context) => copy(args, context),
    },
    {
      name: "paste",
      group: "Conversation",
      surface: "terminal",
      summary: "Attach the picture in the clipboard",
      whileBusy: true,
      ownerOnly: false,
      run: async () => ({ type: "terminal", request: { kind: "attach" } }),
    },
    {
      name: "image",
      group: "Conversation",
      args: "path",
      surface: "terminal",
      summary: "Attach a picture to the next message",
      whileBusy: true,
      ownerOnly: false,
      run: async (path) =>
        path === "" ? text("Which picture? /image PATH") : { type: "terminal", request: { kind: "attach", path } },
    },
  ];
}
