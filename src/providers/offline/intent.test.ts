import { describe, expect, test } from "vitest";
import { parseSteps } from "./intent.ts";

const first = (text: string) => parseSteps(text)[0]?.calls[0];

describe("requests as tool calls", () => {
  test.each([
    ["list the files", "search_files", { pattern: "*", target: "files", path: "." }],
    ["Please list all files in src/core", "search_files", { path: "src/core", target: "files" }],
    ["ls", "search_files", { path: "." }],
    ["what is in this folder?", "search_files", { path: ".", target: "files" }],
    ["What files are in test?", "search_files", { path: "test" }],
    ["show me the files in the current directory", "search_files", { path: "." }],
    ["read README.md", "read_file", { path: "README.md" }],
    ["can you show me the contents of ./src/main.ts?", "read_file", { path: "./src/main.ts" }],
    ["What's in notes/todo.txt?", "read_file", { path: "notes/todo.txt" }],
    ["read lines 10-20 of src/main.ts", "read_file", { path: "src/main.ts", offset: 10, limit: 11 }],
    ["show the first 5 lines of package.json", "read_file", { path: "package.json", limit: 5 }],
    ['write "buy milk" to list.txt', "write_file", { path: "list.txt", content: "buy milk\n" }],
    [
      "create a file called hello.txt with the text Hello world",
      "write_file",
      { path: "hello.txt", content: "Hello world\n" },
    ],
    ["write hello.py:\n```python\nprint(1)\n```", "write_file", { path: "hello.py", content: "print(1)\n" }],
    ["save milk and eggs in shopping.md", "write_file", { path: "shopping.md", content: "milk and eggs\n" }],
    ["search for TODO in src", "search_files", { pattern: "TODO", path: "src" }],
    ["grep foo.bar", "search_files", { pattern: "foo\\.bar", path: "." }],
    ["which files contain hello?", "search_files", { pattern: "hello" }],
    ["find files named *.md", "search_files", { pattern: "*.md", target: "files" }],
    ["find 'a b' in docs", "search_files", { pattern: "a b", path: "docs" }],
    ["where is startFakeLlm defined?", "search_files", { pattern: "startFakeLlm" }],
    ["run git status", "terminal", { command: "git status" }],
    ["run the command `ls -la | wc -l`", "terminal", { command: "ls -la | wc -l" }],
    ["execute: echo hi", "terminal", { command: "echo hi" }],
    ["$ uname -a", "terminal", { command: "uname -a" }],
    ["what time is it?", "terminal", { command: "date" }],
    ["remember that I like tea", "memory", { action: "add", target: "user" }],
    ["remember: the server is called atlas", "memory", { target: "memory", content: "the server is called atlas" }],
    ["my name is Ada", "memory", { target: "user", content: "The user says: my name is Ada" }],
    ["forget that I like tea", "memory", { action: "remove", target: "user", old_text: "I like tea" }],
    ["search our past conversations for invoices", "session_search", { query: "invoices" }],
    ["did we talk about Berlin?", "session_search", { query: "Berlin" }],
    ["what do you remember about the atlas server?", "session_search", { query: "the atlas server" }],
    ["what did we do last time?", "session_search", {}],
    [
      "remind me in 10 minutes to call Bob",
      "cronjob",
      { action: "create", schedule: "10m", prompt: "Remind the user: call Bob" },
    ],
    ["remind me every weekday at 9 to stretch", "cronjob", { schedule: "0 9 * * 1-5" }],
    ["schedule check the news every day at 7:30 pm", "cronjob", { schedule: "30 19 * * *", prompt: "check the news" }],
    ["every 2 hours check the disk", "cronjob", { schedule: "every 2h", prompt: "check the disk" }],
    ["every Monday at 8am send a report", "cronjob", { schedule: "0 8 * * 1", prompt: "send a report" }],
    ["list my reminders", "cronjob", { action: "list" }],
    ["delete job ab12", "cronjob", { action: "remove", job_id: "ab12" }],
    ["list skills", "skills_list", {}],
    ["what skills do you have?", "skills_list", {}],
    ["load the skill git-commit", "skill_view", { name: "git-commit" }],
    ["use the pdf skill", "skill_view", { name: "pdf" }],
    ["add buy milk to my todo list", "todo", { merge: true }],
    ["search the web for node 20", "web_search", { query: "node 20" }],
    ["fetch https://example.org/a", "web_extract", { urls: ["https://example.org/a"] }],
  ])("%j", (request, tool, args) => {
    expect(first(request)).toMatchObject({ tool, args });
  });

  test.each(["hello", "why is the sky blue?", "tell me a story", "thanks", "what can you do?"])(
    "not a tool request: %j",
    (text) => {
      expect(parseSteps(text)).toEqual([]);
    },
  );

  test("several steps in one request", () => {
    const steps = parseSteps('write "hi" to a.txt, then read a.txt; run ls');
    expect(steps.map((step) => step.calls[0]?.tool)).toEqual(["write_file", "read_file", "terminal"]);
  });

  test("a folder or file name with a quote stays one argument", () => {
    const command = parseSteps("list the files in it's")[0]?.calls[1]?.args.command;
    expect(command).toBe("ls -la -- 'it'\\''s'");
  });
});
