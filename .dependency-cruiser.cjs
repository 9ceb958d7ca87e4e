// The direction rule: surface → app → part → core, with lib under all. Type-only imports count too.
const PARTS = "agent|providers|context|store|memory|skills|tools|mcp|cron|kanban|platforms|commands|config|security";
const SURFACES = "cli|tui|gateway|server|rpc";

module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "lib-knows-nobody",
      severity: "error",
      from: { path: "^src/lib/" },
      to: { path: "^src/(?!lib/)" },
    },
    {
      name: "core-is-pure",
      comment: "core/ holds words, contracts and pure functions: only core and lib, and no Node modules",
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
      name: "surfaces-know-app-core-lib",
      comment: "their tests may open the real parts",
      severity: "error",
      from: { path: `^src/(${SURFACES})/`, pathNot: "\\.test\\.ts$" },
      to: { path: `^src/(${PARTS})/|^src/main\\.ts$` },
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
      name: "heavy-sdks-are-lazy",
      comment: "imported inside the function that needs them, so that start-up does not pay",
      severity: "error",
      from: { path: "^src/", pathNot: "\\.test\\.ts$" },
      to: {
        path: "node_modules/(openai|@anthropic-ai/sdk|web-tree-sitter|marked|diff|@lydell/node-pty|@vscode/ripgrep|yaml)/",
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
