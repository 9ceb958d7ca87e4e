// Secrets are masked in every form; ordinary text is left unchanged.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor } from "./redact.ts";
import { encodings } from "./redact-values.ts";
import { collectSecretValues, isSecretName } from "./secret-names.ts";

// Invented keys, concatenated here so that secret scanners do not report this file.
const make = (prefix: string, body = "Zq8Lw2Xv9Bn4Mc7Kd1Jf6Hs3") => `${prefix}${body}`;
const pem = (kind: string) => `-----BEGIN ${kind}PRIVATE KEY-----`;

const SECRETS_BY_SHAPE: readonly [string, string][] = [
  ["openai", make("sk-proj-")],
  ["stripe", make("sk_live_")],
  ["google", `AIza${"Sy9aB8cD7e".repeat(4).slice(0, 35)}`],
  ["perplexity", make("pplx-")],
  ["hugging face", make("hf_", "AbCdEfGhIjKlMnOpQrStUvWxYz12345678")],
  ["replicate", make("r8_")],
  ["groq", make("gsk_")],
  ["fal", make("fal_")],
  ["github", make("ghp_")],
  ["github fine-grained", make("github_pat_")],
  ["slack", make("xoxb-", "123456789012-abcdefGHIJKL")],
  ["matrix", make("syt_")],
  ["firecrawl", make("fc-")],
  ["tavily", make("tvly-")],
  ["exa", make("exa_")],
  ["aws", `AKIA${"ABCD1234EFGH5678"}`],
  ["sendgrid", `SG.${"abcDEF123456ghiJKL7890"}.${"zyxWVU987654tsrQPO3210"}`],
  ["npm", make("npm_")],
  ["pypi", make("pypi-")],
  ["digital ocean", make("dop_v1_")],
  ["fernet", `gAAAA${"BmZq8Lw2Xv9Bn4Mc7Kd1Jf6"}`],
  ["jwt", `eyJ${"hbGciOiJIUzI1NiJ9"}.${"eyJzdWIiOiIxMjM0NTY3ODkwIn0"}.${"dozjgNryP4J3jVmNHl0w5N"}`],
  ["telegram", `1234567890:${"AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawQ".slice(0, 35)}`],
];

const IN_CONTEXT: readonly [string, string][] = [
  ["MY_SERVICE_TOKEN=hunter2hunter2", "hunter2hunter2"],
  ["export DB_PASSWORD='correct horse battery'", "correct horse battery"],
  ["password=s3cr3tpw", "s3cr3tpw"],
  ['{"api_key": "abcd-efgh-1234"}', "abcd-efgh-1234"],
  ['{"clientSecret":"abcdefgh"}', "abcdefgh"],
  ['"{\\"token\\":\\"abcd1234efgh\\"}"', "abcd1234efgh"],
  ["Authorization: Bearer abcdef1234567890abcd", "abcdef1234567890abcd"],
  ["authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA=="],
  ["x-api-key: 0123456789abcdef", "0123456789abcdef"],
  ["postgres://app:p4ssw0rd@db.example.com:5432/app", "p4ssw0rd"],
  ["redis://:topsecret@localhost:6379", "topsecret"],
  ["https://user:hunter2pw@example.com/x", "hunter2pw"],
  ["https://example.com/cb?code=abc123def&state=1", "abc123def"],
  ["https://example.com/?access_token=abc123def456", "abc123def456"],
  ["curl --password hunter2pass https://x", "hunter2pass"],
  [`${pem("RSA ")}\nMIIEowIBAAKCAQEA7bq8\nabcdefgh\n-----END RSA PRIVATE KEY-----`, "MIIEowIBAAKCAQEA7bq8"],
  [`${pem("OPENSSH ")}\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n`, "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ"],
  ["https://hooks.slack.com/services/T00000000/B00000000/abcdefghijklmnop1234", "abcdefghijklmnop1234"],
];

const ORDINARY: readonly string[] = [
  "commit 74417aa3c1f2d9e8b7a6f5e4d3c2b1a098765432 (HEAD -> main)",
  "id: 550e8400-e29b-41d4-a716-446655440000",
  "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  `<img src="data:image/png;base64,${"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ".repeat(20)}">`,
  "max_tokens=4096 and token_count: 17, prompt_tokens=12345",
  "the key: put it under the mat; the secret: patience",
  "const token = await getToken(); const key = map.keys();",
  "function login(password: string, token: Token): Promise<void>",
  "from huggingface_hub import hf_hub_download; fal_client_subscribe()",
  "npm_config_registry=1 npm_lifecycle_event npm_package_json_path",
  ".fc-header-toolbar .sk-fading-circle { display: none }",
  "SSH_AUTH_SOCK=/tmp/ssh-XXXX/agent.1 XAUTHORITY=/run/user/1000/xauth",
  "password: string; passwordHash?: string; tokenType: TokenType",
  "Bearer authentication is required. Basic understanding of Bearer tokens.",
  "keyboard=us monkey=1 author=Somebody PUBLIC_KEY=abcdef1234567890",
  "see https://example.com/a?page=2&sort=asc#token and http://localhost:8080/x",
  "git@github.com:owner/repo.git and user@example.com",
  "OPENAI_API_KEY=$OPENAI_API_KEY; TOKEN=%TOKEN%; API_KEY=<your key>",
  "12:34:56.789 INFO request took 1234567890 ms",
  "the sk- prefix, ghp_ tokens and AKIA ids are masked",
  "am_i_the_only_one_here and exa_mple_of_names",
  "if (secret === undefined) throw new Error('no secret');",
  "npm ERR! code ELIFECYCLE; tasks: token refresh; auth: none",
  "integrity sha512-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYg==",
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8Hn4bqUeZ0qA me@host",
  "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQsw\n-----END CERTIFICATE-----",
  "Tokens: 12,345 in / 678 out; cost $0.02; key=value pairs are fine",
  "uuid=123e4567-e89b-12d3-a456-426614174000 build=20261115.3",
];

describe("by shape", () => {
  const redactor = createRedactor();
  it.each(SECRETS_BY_SHAPE)("masks a %s key in a sentence and in code", (_name, secret) => {
    for (const code of [false, true]) {
      const text = redactor.redact(`use ${secret} here`, { code });
      expect(text).not.toContain(secret);
      expect(text).not.toContain(secret.slice(8, -6));
      expect(text).toMatch(/^use .* here$/);
    }
  });

  it.each(IN_CONTEXT)("masks the secret of %s", (text, secret) => {
    const redacted = redactor.redact(text);
    expect(redacted).not.toContain(secret);
    expect(redacted).toMatch(/\*\*\*|\.\.\.|REDACTED/);
  });

  it("shows nothing of a short secret and six plus four characters of a long one", () => {
    expect(redactor.redact("DB_PASSWORD=hunter2hunter2")).toBe("DB_PASSWORD=***");
    const key = make("sk-proj-");
    expect(redactor.redact(key)).toBe(`${key.slice(0, 6)}...${key.slice(-4)}`);
  });

  it("masks an unterminated private key, and the next one too", () => {
    const first = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n";
    const second = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq8\nabcdefgh\n-----END RSA PRIVATE KEY-----";
    const mask = "[REDACTED PRIVATE KEY]";
    expect(redactor.redact(`${first}-- and so on --\n${second} done`)).toBe(`${mask}-- and so on --\n${mask} done`);
    const stream = redactor.stream();
    const out = [...`${first}\n${second}`].map((char) => stream.push(char)).join("");
    expect(out + stream.end()).toBe(redactor.redact(`${first}\n${second}`));
  });

  it("masks text between two keys on one line when streaming", () => {
    const key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq8\nabcdefgh\n-----END RSA PRIVATE KEY-----";
    const text = `${key}${make("sk-proj-")}${key}`;
    const stream = redactor.stream();
    const out = [...text].map((char) => stream.push(char)).join("");
    expect(out + stream.end()).toBe(redactor.redact(text));
  });

  it("keeps assignments readable in source code", () => {
    const source = 'API_TOKEN = "example-token-1"\n{"password": "not-a-real-1"}';
    expect(redactor.redact(source, { code: true })).toBe(source);
  });

  it("leaves ordinary text unchanged", () => {
    const changed = ORDINARY.filter((text) => redactor.redact(text) !== text);
    expect(changed).toEqual([]);
  });

  it("masks phone numbers and mentions only where asked", () => {
    const text = "call +4915112345678 or <@123456789012345678>";
    expect(redactor.redact(text)).toBe(text);
    expect(createRedactor({ pii: true }).redact(text)).not.toMatch(/4915112345678|123456789012345678/);
  });
});

describe("by value", () => {
  const value = 'pa"ss/wörd+ 42&x';
  const redactor = createRedactor({ values: [value, "plain-value-abcdef"] });

  it("masks every encoding", () => {
    for (const form of encodings(value)) expect(redactor.redact(`<${form}>`)).not.toContain(form);
    const wrapped = Buffer.from(`user:${value}:tail`).toString("base64");
    const inner = Buffer.from(value).toString("base64").slice(3, 12);
    expect(redactor.redact(wrapped)).not.toContain(inner);
    expect(redactor.redact(JSON.stringify({ v: JSON.stringify({ value }) }))).not.toContain("wörd");
  });

  it("shows at most the public prefix of a known key", () => {
    const key = make("ghp_");
    expect(createRedactor({ values: [key] }).redact(`a ${key} b`)).toBe("a ghp_*** b");
    expect(redactor.redact("plain-value-abcdef!")).toBe("***!");
  });

  it("learns values at run time, and is disabled only by its option", () => {
    const later = createRedactor();
    expect(later.redact("my zebra-cadabra")).toBe("my zebra-cadabra");
    later.learn("zebra-cadabra");
    expect(later.redact("my zebra-cadabra")).toBe("my ***");
    expect(createRedactor({ values: ["zebra-cadabra"], enabled: false }).redact("zebra-cadabra")).toBe("zebra-cadabra");
  });

  it("collects secrets of an environment by name", () => {
    const env = {
      OPENAI_API_KEY: "abc-def-ghi",
      PATH: "/usr/bin",
      MAX_TOKENS: "4096",
      DB_PASSWORD: "12",
      SSH_AUTH_SOCK: "/tmp/x",
    };
    expect(collectSecretValues(env)).toEqual(["abc-def-ghi"]);
    expect(["apiKey", "client_secret", "X-Auth-Token", "PASSWORD", "OPENROUTER_KEY"].every(isSecretName)).toBe(true);
    expect(["key", "tokens", "token_count", "KEY_FILE", "keyboard", "author"].some(isSecretName)).toBe(false);
  });
});

describe("any text", () => {
  const redactor = createRedactor({ values: ["canary-value-123456", "another secret value"] });
  const fragment = fc.oneof(
    fc.constantFrom(...SECRETS_BY_SHAPE.map(([, secret]) => secret), ...IN_CONTEXT.map(([text]) => text), ...ORDINARY),
    fc.constantFrom("canary-value-123456", "another secret value", " ", "\n", "=", ": ", '"', "token", "password="),
    fc.string({ maxLength: 12 }),
  );
  const texts = fc.array(fragment, { maxLength: 8 }).map((parts) => parts.join(""));

  it("is the same after a second pass", () => {
    fc.assert(
      fc.property(texts, fc.boolean(), (text, code) => {
        const once = redactor.redact(text, { code });
        expect(redactor.redact(once, { code })).toBe(once);
      }),
      { numRuns: 500 },
    );
  });

  it("leaks nothing when streaming, wherever the chunks are split", () => {
    const secrets = [...SECRETS_BY_SHAPE.map(([, secret]) => secret), "canary-value-123456", "another secret value"];
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 9 }), (text, size) => {
        const stream = redactor.stream();
        let out = "";
        for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
        out += stream.end();
        for (const secret of secrets) if (!redactor.redact(text).includes(secret)) expect(out).not.toContain(secret);
      }),
      { numRuns: 500 },
    );
  });

  it("streams the same text as a single redaction", () => {
    const words = fc.array(fragment, { maxLength: 8 }).map((parts) => parts.join("\n"));
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 9 }), (text, size) => {
        const stream = redactor.stream();
        let out = "";
        for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
        expect(out + stream.end()).toBe(redactor.redact(text));
      }),
      { numRuns: 300 },
    );
  });

  it("emits ordinary words immediately", () => {
    const stream = redactor.stream();
    expect(stream.push("Hello there, how ")).toBe("Hello there, how ");
    expect(stream.push("are you")).toBe("are ");
    expect(stream.end()).toBe("you");
  });

  it("takes linear time on hostile input", () => {
    const size = 400_000;
    const inputs = [
      "a",
      "A_",
      "sk-",
      "eyJa.",
      "://a:",
      "-----BEGIN PRIVATE KEY-----",
      '"a":"',
      "password=",
      "?key=",
      "KEY: ",
      "\\",
    ];
    const started = performance.now();
    for (const input of inputs) redactor.redact(input.repeat(Math.ceil(size / input.length)));
    expect(performance.now() - started).toBeLessThan(20_000);
    const stream = redactor.stream();
    for (let index = 0; index < 200; index++) stream.push("A1b2".repeat(500));
    expect(stream.end().length).toBeLessThan(500_000);
  });
});
