// The direction rule: surface → app, core, lib and a part's api; app → part → core, with lib under all. Type-only imports
// count too. A part's api is `<part>/api.ts`, `<part>/<folder>/api.ts` or the files of `<part>/api/`.
const PARTS = [
  "agent",
  "backup",
  "commands",
  "config",
  "context",
  "cron",
  "delivery",
  "gateway-control",
  "home",
  "install",
  "logs",
  "memory",
  "platforms",
  "plugins",
  "providers",
  "security",
  "skills",
  "store",
  "tools",
].join("|");
const SURFACES = "care|cli|terminal|gateway|server|editor";
const API = `^src/(${PARTS})/(api\\.ts|api/|[^/]+/api\\.ts)`;

module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "lib-knows-nothing",
      severity: "error",
      from: { path: "^src/lib/" },
      to: { path: "^src/(?!lib/)" },
    },
    {
      name: "core-is-pure",
      comment: "core/ holds types, contracts and pure functions: only core and lib, and no Node modules",
      severity: "error",
      from: { path: "^src/core/", pathNot: "\\.test\\.ts$" },
      to: { path: "^src/(?!core/|lib/)" },
    },
    {
      name: "core-does-no-io",
      severity: "error",
      from: { path: "^src/core/", pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "parts-do-not-know-parts",
      severity: "error",
      from: { path: `^src/(${PARTS})/` },
      to: { path: `^src/(${PARTS})/`, pathNot: "^src/$1/" },
    },
    {
      name: "parts-point-down",
      severity: "error",
      from: { path: `^src/(${PARTS})/` },
      to: { path: `^src/(app|${SURFACES})/|^src/(main|index|plugin)\\.ts$` },
    },
    {
      name: "app-knows-no-surface",
      severity: "error",
      from: { path: "^src/app/" },
      to: { path: `^src/(${SURFACES})/|^src/main\\.ts$` },
    },
    {
      name: "surfaces-use-app-and-apis",
      comment: "of a part, surfaces see its api only; their tests may open the real parts",
      severity: "error",
      from: { path: `^src/(${SURFACES})/`, pathNot: "\\.test\\.ts$" },
      to: { path: `^src/(${PARTS})/|^src/main\\.ts$`, pathNot: API },
    },
    {
      name: "surfaces-do-not-know-surfaces",
      severity: "error",
      from: { path: `^src/(${SURFACES})/` },
      to: { path: `^src/(${SURFACES})/`, pathNot: "^src/$1/" },
    },
    {
      name: "only-store-opens-sqlite",
      severity: "error",
      from: { path: "^src/(?!store/)", pathNot: "\\.test\\.ts$" },
      to: { path: "@photostructure/sqlite|node:sqlite" },
    },
    {
      name: "model-sdks-are-types-only",
      comment: "transports speak the wire themselves; the SDKs give the types of the wire",
      severity: "error",
      from: { path: "^src/", pathNot: "\\.test\\.ts$" },
      to: { path: "node_modules/(openai|@anthropic-ai/sdk)/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "heavy-sdks-are-lazy",
      comment: "imported inside the function that needs them, so that start-up does not pay",
      severity: "error",
      from: { path: "^src/", pathNot: "\\.test\\.ts$" },
      to: {
        path: "node_modules/(openai|@anthropic-ai/sdk|web-tree-sitter|marked|htmlparser2|yauzl|diff|@lydell/node-pty|@vscode/ripgrep|yaml)/",
        dynamic: false,
        dependencyTypesNot: ["type-only"],
      },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: [".ts", ".js", ".mjs"] },
  },
};
