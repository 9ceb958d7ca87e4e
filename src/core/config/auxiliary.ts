// Settings of side tasks: each may use its own, cheaper model.
import { accepted, choice, freeMap, type NamedMap, secret, section, text, unset, whole } from "./fields.ts";
import { API_MODES } from "./models.ts";

function task(timeout: number, meaning: string) {
  return section(meaning, taskKeys(timeout));
}

function taskKeys(timeout: number) {
  const extraBody: NamedMap<undefined> = freeMap("Added unchanged to each request");
  return {
    provider: text("auto", "Provider id, main (that of the conversation) or auto"),
    model: text("", "Model id; empty lets the provider decide"),
    base_url: text("", "Base URL of a custom endpoint"),
    api_key: secret("Key of the custom endpoint"),
    timeout: whole(timeout, "Deadline in seconds", { min: 1 }),
    extra_body: extraBody,
    api_mode: unset(choice([...API_MODES, ""], "", "Wire dialect")),
  } as const;
}

export const auxiliaryKeys = {
  auxiliary: section("Models for side tasks", {
    vision: section("Looking at images", {
      ...taskKeys(120),
      download_timeout: accepted(whole(30, "Seconds for fetching an image", { min: 1 })),
    }),
    web_extract: task(360, "Summarising web pages"),
    compression: section("Summarising old parts of a conversation", {
      ...taskKeys(120),
      context_length: unset(whole(0, "Context window of the summariser in tokens", { min: 1 })),
    }),
    session_search: accepted(
      section("Summarising found sessions", {
        ...taskKeys(30),
        max_concurrency: whole(3, "Sessions summarised at the same time", { min: 1 }),
      }),
    ),
    skills_hub: accepted(task(30, "Searching and matching skills")),
    approval: task(30, "Judging the risk of a command (approvals.mode smart)"),
    mcp: accepted(task(30, "Requests of MCP servers for a model")),
    title_generation: task(30, "Naming sessions"),
    triage_specifier: accepted(task(120, "Turning a triage card into a specification")),
    kanban_decomposer: accepted(task(180, "Splitting a triage card into a graph of tasks")),
    profile_describer: task(60, "Describing profiles"),
    curator: accepted(task(600, "Reviewing the use of skills")),
    goal_judge: section("Judging whether a goal is reached", {
      ...taskKeys(30),
      max_tokens: whole(4096, "Maximum tokens of a verdict", { min: 1 }),
    }),
  }),
} as const;
