import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRecord } from "../lib/json/is-record.ts";
import { getAt, leaves, type Tree } from "../lib/json/tree-path.ts";
import { migrate, migrations } from "./migrate.ts";

const run = (config: Tree, env: Record<string, string> = {}, installedPlugins: string[] = []) =>
  migrate({ config, env, installedPlugins }).state;

describe("each step", () => {
  it("4: tool progress comes from the environment, else all", () => {
    expect(run({ _config_version: 3 }).config).toMatchObject({ display: { tool_progress: "all" } });
    const modes = { true: "all", false: "off", new: "new", nonsense: "all" };
    for (const [word, mode] of Object.entries(modes)) {
      const { config } = run({ _config_version: 3 }, { HERMES_TOOL_PROGRESS: word });
      expect(getAt(config, ["display", "tool_progress"])).toBe(mode);
    }
    expect(run({ _config_version: 3, display: { tool_progress: "off" } }).config).toMatchObject({
      display: { tool_progress: "off" },
    });
  });

  it("5: the time zone comes from the environment", () => {
    expect(run({ _config_version: 4 }, { HERMES_TIMEZONE: "Asia/Tokyo" }).config.timezone).toBe("Asia/Tokyo");
    expect(run({ _config_version: 4, timezone: "UTC" }, { HERMES_TIMEZONE: "Asia/Tokyo" }).config.timezone).toBe("UTC");
  });

  it("9 and 13: old variables are cleared with a reason", () => {
    const state = run({ _config_version: 8 }, { ANTHROPIC_TOKEN: "t", LLM_MODEL: "m", OPENAI_MODEL: "o", OTHER: "x" });
    expect(state.env).toEqual({ ANTHROPIC_TOKEN: "", LLM_MODEL: "", OPENAI_MODEL: "", OTHER: "x" });
    expect(state.dropped).toHaveLength(3);
    expect(run({ _config_version: 12 }, { ANTHROPIC_TOKEN: "t" }).env.ANTHROPIC_TOKEN).toBe("t");
  });

  it("12: custom_providers becomes a map; invalid entries stay", () => {
    const broken = { base_url: "http://x" };
    const { config } = run({
      _config_version: 11,
      custom_providers: [
        { name: "My Box", base_url: "http://y", api_key: "k", model: "m", api_mode: "chat_completions", extra: 1 },
        broken,
      ],
    });
    expect(config.providers).toEqual({
      "my-box": {
        name: "My Box",
        api: "http://y",
        api_key: "k",
        default_model: "m",
        transport: "chat_completions",
        extra: 1,
      },
    });
    expect(config.custom_providers).toEqual([broken]);
  });

  it("14: stt.model moves to its service", () => {
    expect(run({ _config_version: 13, stt: { model: "small" } }).config.stt).toEqual({ local: { model: "small" } });
    expect(run({ _config_version: 13, stt: { provider: "openai", model: "whisper-1" } }).config.stt).toEqual({
      provider: "openai",
      openai: { model: "whisper-1" },
    });
    expect(run({ _config_version: 13, stt: { model: "whisper-1" } }).dropped).toMatchObject([{ path: "stt.model" }]);
  });

  it("15, 16, 17: display and compression keys move", () => {
    const { config, moved } = run({
      _config_version: 14,
      display: { tool_progress_overrides: { slack: "off" } },
      compression: { summary_model: "m", summary_provider: "", enabled: true },
    });
    expect(config).toMatchObject({
      display: { interim_assistant_messages: true, platforms: { slack: { tool_progress: "off" } } },
      compression: { enabled: true },
      auxiliary: { compression: { model: "m" } },
    });
    expect(moved).toHaveLength(2);
  });

  it("21 and 23: installed plugins stay on, the curator gets its settings", () => {
    const { config } = run({ _config_version: 20, plugins: { disabled: ["b"] } }, {}, ["a", "b"]);
    expect(config).toMatchObject({
      plugins: { enabled: ["a"], disabled: ["b"] },
      curator: { enabled: true },
      auxiliary: { curator: { timeout: 600 } },
      _config_version: 23,
    });
  });
});

it("does not change a current file, a newer file or one without a version", () => {
  for (const config of [{ _config_version: 23, a: 1 }, { _config_version: 99 }, { custom_providers: [] }]) {
    expect(migrate({ config, env: {}, installedPlugins: [] })).toMatchObject({ steps: [], state: { config } });
  }
});

it("runs the steps above the file's version only", () => {
  const { steps } = migrate({ config: { _config_version: 16 }, env: {}, installedPlugins: [] });
  expect(steps).toHaveLength(migrations.filter(({ version }) => version > 16).length);
});

describe("no key is lost", () => {
  const word = fc.constantFrom("", "small", "base", "whisper-1", "off", "all", "x/y");
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const provider = fc.record({ name: word, base_url: word, model: word, note: word }, { requiredKeys: [] });
  const configs = fc.record(
    {
      _config_version: fc.integer({ min: 0, max: 24 }),
      custom_providers: fc.array(provider, { maxLength: 3 }),
      providers: fc.dictionary(fc.constantFrom("small", "x-y"), fc.record({ api: word })),
      stt: fc.record(
        { model: word, provider: fc.constantFrom("local", "openai"), openai: fc.record({ model: word }) },
        { requiredKeys: [] },
      ),
      display: fc.record(
        {
          tool_progress: word,
          tool_progress_overrides: fc.dictionary(fc.constantFrom("slack", "telegram"), word),
          platforms: fc.dictionary(fc.constantFrom("slack", "email"), fc.record({ tool_progress: word })),
          own: word,
        },
        { requiredKeys: [] },
      ),
      compression: fc.record(
        { summary_model: word, summary_provider: word, threshold: fc.double() },
        { requiredKeys: [] },
      ),
      auxiliary: fc.record({ compression: fc.record({ model: word }, { requiredKeys: [] }) }, { requiredKeys: [] }),
      plugins: fc.record({ disabled: fc.array(word) }, { requiredKeys: [] }),
      anything: maybe(fc.jsonValue()),
    },
    { requiredKeys: [] },
  ) as unknown as fc.Arbitrary<Tree>;
  /** Any of the sections may be something else than a map. */
  const odd = fc
    .tuple(configs, fc.constantFrom("stt", "display", "auxiliary", "plugins", "curator", "providers", "none"), word)
    .map(([config, name, value]): Tree => (name === "none" ? config : { ...config, [name]: value || "text" }));

  it("every leaf is kept, moved to the named place, or dropped with a reason", () => {
    fc.assert(
      fc.property(odd, (config) => {
        const { config: after, moved, dropped } = run(config);
        const accounted = (path: string, value?: unknown) =>
          moved.some(({ from, to }) => from === path || (to === path && (value === "" || value === null))) ||
          dropped.some(({ path: gone, reason }) => gone === path && reason !== "");
        for (const { path, value } of leaves(config)) {
          const where = path.join(".");
          if (where === "_config_version" || where === "display.tool_progress_overrides") continue;
          if (where === "custom_providers" && Array.isArray(value)) {
            const left = (after.custom_providers ?? []) as unknown[];
            const gone = value.filter(
              (entry, index) => !left.includes(entry) && !accounted(`custom_providers.${index}`),
            );
            expect(gone).toEqual([]);
          } else if (isRecord(value)) expect(getAt(after, path)).toMatchObject({});
          else if (!accounted(where, value) && value !== null) expect(getAt(after, path)).toEqual(value);
        }
        for (const { from, to } of moved) {
          if (!from.startsWith("custom_providers."))
            expect(getAt(after, to.split("."))).toEqual(getAt(config, from.split(".")));
          else {
            const entry = getAt(config, from.split(".")) as Tree;
            expect(getAt(after, to.split("."))).toMatchObject({ name: entry.name, api: entry.base_url });
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
