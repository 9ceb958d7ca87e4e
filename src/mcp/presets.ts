// Well-known MCP servers, for `hermes mcp add NAME` without further options.

export interface McpPreset {
  readonly name: string;
  readonly summary: string;
  readonly settings: { readonly [key: string]: unknown };
  /** What the user must supply, for the message after adding. */
  readonly needs?: string | undefined;
}

/** A reference that config.yaml replaces by the variable. */
const variable = (prefix: string, name: string): string => `${prefix}$\{${name}}`;

const npx = (name: string, ...args: string[]) => ({ command: "npx", args: ["-y", name, ...args] });

export const MCP_PRESETS: readonly McpPreset[] = [
  {
    name: "filesystem",
    summary: "Read and write files below a folder",
    settings: npx("@modelcontextprotocol/server-filesystem", "."),
  },
  { name: "memory", summary: "A knowledge graph in a file", settings: npx("@modelcontextprotocol/server-memory") },
  { name: "playwright", summary: "A browser", settings: npx("@playwright/mcp") },
  { name: "chrome-devtools", summary: "Inspect a page in Chrome", settings: npx("chrome-devtools-mcp") },
  {
    name: "github",
    summary: "Repositories, issues and pull requests",
    settings: {
      url: "https://api.githubcopilot.com/mcp/",
      headers: { Authorization: variable("Bearer ", "GITHUB_TOKEN") },
    },
    needs: "GITHUB_TOKEN in .env: hermes config set GITHUB_TOKEN …",
  },
  { name: "linear", summary: "Issues and projects", settings: { url: "https://mcp.linear.app/mcp", auth: "oauth" } },
  { name: "notion", summary: "Pages and databases", settings: { url: "https://mcp.notion.com/mcp", auth: "oauth" } },
  { name: "sentry", summary: "Errors of applications", settings: { url: "https://mcp.sentry.dev/mcp", auth: "oauth" } },
  { name: "context7", summary: "Documentation of libraries", settings: { url: "https://mcp.context7.com/mcp" } },
];
