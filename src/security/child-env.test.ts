// Child processes get what they need, and no secret that was not passed explicitly.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeEnv, configuredEnv, containerEnv, terminalEnv } from "./child-env.ts";

const env = {
  PATH: "/usr/bin",
  HOME: "/home/ada",
  LANG: "C.UTF-8",
  EDITOR: "vi",
  OPENAI_API_KEY: "k1",
  OPENAI_BASE_URL: "https://x",
  DB_PASSWORD: "k2",
  SUDO_PASSWORD: "k3",
  GITHUB_TOKEN: "k4",
  MY_SKILL_TOKEN: "k5",
  MY_SETTING: "on",
  SSH_AUTH_SOCK: "/run/agent",
  _HERMES_FORCE_TELEGRAM_BOT_TOKEN: "k6",
  UNSET: undefined,
};
const blocked = new Set(["OPENAI_API_KEY", "OPENAI_BASE_URL"]);
const passes = (name: string, value: string) =>
  terminalEnv({ [name]: value }, { blocked: new Set() })[name] !== undefined;

describe("commands", () => {
  it("get ordinary variables and nothing else", () => {
    expect(terminalEnv(env, { blocked })).toEqual({
      PATH: "/usr/bin",
      HOME: "/home/ada",
      LANG: "C.UTF-8",
      EDITOR: "vi",
      SSH_AUTH_SOCK: "/run/agent",
      TELEGRAM_BOT_TOKEN: "k6",
    });
  });

  it.each([
    ["LC_ALL", "C"],
    ["TZ", "Europe/Berlin"],
    ["TERM", "xterm-256color"],
    ["NODE_OPTIONS", "--max-old-space-size=4096"],
    ["NODE_EXTRA_CA_CERTS", "/etc/ca.pem"],
    ["npm_config_registry", "https://registry.acme.test/"],
    ["PIP_INDEX_URL", "https://pypi.acme.test/simple"],
    ["http_proxy", "http://proxy.acme.test:3128"],
    ["HTTPS_PROXY", "http://proxy.acme.test:3128"],
    ["no_proxy", "localhost,127.0.0.1"],
    ["VIRTUAL_ENV", "/home/ada/.venv"],
    ["CARGO_HOME", "/home/ada/.cargo"],
    ["GOPATH", "/home/ada/go"],
    ["JAVA_HOME", "/usr/lib/jvm"],
    ["GIT_AUTHOR_NAME", "Ada"],
    ["XDG_RUNTIME_DIR", "/run/user/1000"],
    ["CI", "true"],
    ["DOCKER_HOST", "unix:///run/user/1000/docker.sock"],
    ["KUBECONFIG", "/home/ada/.kube/config"],
    ["LD_LIBRARY_PATH", "/opt/lib"],
  ])("get %s", (name, value) => expect(passes(name, value)).toBe(true));

  it.each([
    ["DATABASE_URL", "postgres://u:pw@db/x"],
    ["DATABASE_URL", "postgres://db/x"],
    ["GOOGLE_APPLICATION_CREDENTIALS_JSON", '{"private_key":"x"}'],
    ["GOOGLE_CHAT_SERVICE_ACCOUNT_JSON", '{"type":"service_account"}'],
    ["WEIRD_CREDS", "ab12cd34ef56"],
    ["http_proxy", "http://ada:hunter2@proxy.acme.test:3128"],
    ["HTTPS_PROXY", "http://tokentokentokentoken@proxy.acme.test"],
    ["TELEGRAM_PROXY", "socks5://u:p@h:1"],
    ["GATEWAY_PROXY_URL", "http://u:p@h"],
    ["ANTHROPIC_BASE_URL", "http://x"],
    ["PIP_INDEX_URL", "https://ada:hunter2@pypi.acme.test/simple"],
    ["npm_config__authToken", "npm_0123456789abcdef0123"],
    ["NPM_CONFIG_//registry.npmjs.org/:_authToken", "x"],
    ["CARGO_REGISTRY_TOKEN", "x"],
    ["POETRY_HTTP_BASIC_ACME_PASSWORD", "x"],
    ["POETRY_PYPI_TOKEN_ACME", "x"],
    ["HOMEBREW_GITHUB_API_TOKEN", "x"],
    ["UV_PUBLISH_TOKEN", "x"],
    ["COMPOSER_AUTH", "{}"],
    ["GIT_CONFIG_PARAMETERS", "'http.extraheader=AUTHORIZATION: basic x'"],
    ["AZURE_CLIENT_SECRET", "x"],
    ["STRIPE_KEY", "x"],
    ["SENTRY_DSN", "https://abc@sentry.io/1"],
    ["MONGO_URI", "mongodb://localhost"],
    ["REDIS_URL", "redis://localhost"],
    ["VAULT_ADDR", "https://vault"],
    ["KUBE_TOKEN", "x"],
    ["EDITOR", "sk-0123456789abcdefghij vi"],
    ["MYAPP_ANYTHING", "x"],
  ])("do not get %s", (name, value) => expect(passes(name, value)).toBe(false));

  it("get none of the variables that v0.14 withholds", () => {
    const names = readFileSync(join(import.meta.dirname, "../../test/corpus/withheld-variables.txt"), "utf8").split(
      "\n",
    );
    const known = names.filter((name) => /^[A-Z]/.test(name));
    expect(known.length).toBeGreaterThan(190);
    expect(known.filter((name) => passes(name, "value"))).toEqual([]);
  });

  it("get what is declared, unless it is blocked; names chosen by the user always, also with a pattern", () => {
    const child = terminalEnv(env, {
      blocked,
      declared: ["MY_SKILL_TOKEN", "OPENAI_API_KEY", "SUDO_PASSWORD"],
      passthrough: ["GITHUB_TOKEN", "MY_SET*"],
      home: "/h",
    });
    expect(child).toMatchObject({ MY_SKILL_TOKEN: "k5", GITHUB_TOKEN: "k4", MY_SETTING: "on", HOME: "/h" });
    expect(child).not.toHaveProperty("OPENAI_API_KEY");
    expect(child).not.toHaveProperty("SUDO_PASSWORD");
  });
});

it("programs that the user configured get everything except secrets", () => {
  const child = configuredEnv({ ...env, DATABASE_URL: "postgres://u:pw@db/x", SITE: "https://x.test" }, { blocked });
  expect(child).toMatchObject({ MY_SETTING: "on", EDITOR: "vi", SITE: "https://x.test" });
  for (const name of ["OPENAI_BASE_URL", "DB_PASSWORD", "GITHUB_TOKEN", "DATABASE_URL"])
    expect(child).not.toHaveProperty(name);
});

it("code gets only the essentials", () => {
  expect(Object.keys(codeEnv(env, { blocked, declared: ["MY_SKILL_TOKEN"] })).sort()).toEqual([
    "HOME",
    "LANG",
    "MY_SKILL_TOKEN",
    "PATH",
    "TELEGRAM_BOT_TOKEN",
  ]);
});

it("containers get explicit values and forwarded names", () => {
  expect(containerEnv(env, { values: { A: "1" }, forward: ["GITHUB_TOKEN", "MISSING"] })).toEqual({
    GITHUB_TOKEN: "k4",
    A: "1",
  });
});
