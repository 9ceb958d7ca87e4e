// Checks of the configuration, the keys, the file modes and the databases.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openSettings } from "../../config/api.ts";
import { nearestEnvName } from "../../core/config/env-names.ts";
import type { Home } from "../../core/home.ts";
import { closeHomeToOthers } from "../../home/api.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { formatBytes } from "../../lib/terminal/columns.ts";
import { type Check, type Finding, good, warning, wrong } from "./check.ts";

const WAL_BYTES = 50_000_000;

function configCheck(home: Home): Check {
  return {
    id: "config.file",
    area: "Settings",
    title: "config.yaml",
    run: async () => {
      const settings = openSettings(home);
      const [{ problems, version, newest }, { blocking }] = await Promise.all([settings.check(), settings.inspect()]);
      const stops = new Set(blocking.map(({ message }) => message));
      const findings = problems.map(({ message, line }): Finding => {
        const what = line === undefined || message.includes(`line ${line}`) ? message : `${message} (line ${line})`;
        const remedy = "hermes config edit";
        return stops.has(message) ? wrong(what, remedy) : warning(what, remedy);
      });
      if (existsSync(settings.path) && version < newest && findings.every(({ status }) => status !== "error"))
        findings.push(
          warning(`config.yaml has layout ${version} of ${newest}`, "hermes config migrate", async () => {
            const report = await settings.migrate();
            return `config.yaml was moved to layout ${report.to}; the old file is ${report.backup ?? "unchanged"}`;
          }),
        );
      return findings.length > 0 ? findings : [good("config.yaml is in order")];
    },
  };
}

function secretsCheck(home: Home): Check {
  return {
    id: "config.env",
    area: "Settings",
    title: ".env and auth.json",
    run: async () => {
      const findings: Finding[] = [];
      if (home.envError !== undefined) findings.push(wrong(home.envError, `Make it readable: ls -l ${home.path}/.env`));
      const secrets = home.envError === undefined ? await openSettings(home).secrets() : [];
      for (const { name } of secrets) {
        const meant = nearestEnvName(name);
        if (meant && meant.replaceAll("_", "") === name.replaceAll("_", ""))
          findings.push(
            warning(
              `${name} in .env is not read`,
              `Did you mean ${meant}? hermes config set ${meant} …, then hermes config unset ${name}`,
            ),
          );
      }
      const auth = join(home.path, "auth.json");
      if (existsSync(auth) && parseJson(readFileSync(auth, "utf8")) === undefined)
        findings.push(
          wrong(
            "auth.json is not JSON, so its keys are not used",
            "Restore it (hermes import), or move it away and add the keys again: hermes auth add PROVIDER",
          ),
        );
      return findings.length > 0 ? findings : [good("the key files can be read")];
    },
  };
}

function securityCheck(home: Home): Check {
  return {
    id: "security.audit",
    area: "Security",
    title: "security",
    run: async () => {
      const { securityAudit } = await import("../../security/api.ts");
      const { findings } = await securityAudit(home, await openSettings(home).inspect());
      const serious = findings.filter(
        ({ id, severity }) => id !== "broken_config" && (severity === "high" || severity === "medium"),
      );
      if (serious.length === 0) return [good("no unsafe setting, and private files are private")];
      return serious.map(({ id, what, hint, severity }): Finding => {
        const make = severity === "high" && id !== "file_mode" ? wrong : warning;
        const fix = id === "file_mode" ? async () => closeHomeToOthers(home) : undefined;
        return make(what, hint ?? "See: hermes security audit", fix);
      });
    },
  };
}

/** Before the program opens the databases: opening repairs what it can. */
function databaseCheck(home: Home, kind: "state" | "runtime"): Check {
  const path = join(home.path, `${kind}.db`);
  return {
    id: `store.${kind}`,
    area: "Store",
    title: `${kind}.db`,
    run: async () => {
      const { checkDatabase } = await import("../../store/api/check-database.ts");
      const report = checkDatabase(path, kind);
      if (!report.exists) return [good(`${kind}.db is made at the first use`)];
      const findings = report.problems.map((problem) =>
        wrong(
          `${kind}.db: ${problem}`,
          kind === "state"
            ? "hermes sessions repair, or restore a backup: hermes import FILE"
            : "Restore a backup (hermes import FILE), or move the file away: it is made again without history.",
        ),
      );
      if (report.indexProblem !== null)
        findings.push(
          warning(`the search index is incomplete: ${report.indexProblem}`, "hermes sessions repair", () =>
            repairIndex(home),
          ),
        );
      if (report.walBytes > WAL_BYTES)
        findings.push(
          warning(
            `the log of ${kind}.db has ${formatBytes(report.walBytes)}`,
            "Close other Hermes processes; the next start shortens it.",
          ),
        );
      if (report.futureSessions > 0)
        findings.push(
          warning(
            `${report.futureSessions} ${report.futureSessions === 1 ? "session begins" : "sessions begin"} in the future: the clock was wrong then, or is wrong now`,
            "Set the clock. Delete such sessions with hermes sessions delete ID if they are in the way.",
          ),
        );
      const size = `${kind}.db can be read (${formatBytes(report.bytes)}${report.complete ? "" : "; for a full check: hermes sessions repair"})`;
      return findings.length > 0 ? findings : [good(size)];
    },
  };
}

async function repairIndex(home: Home): Promise<string> {
  const { openHomeStore } = await import("../../app/open-store.ts");
  const store = await openHomeStore(home);
  try {
    const report = await store.repair();
    return `the search index was rebuilt: ${report.indexedRows} messages; integrity ${report.integrity}`;
  } finally {
    await store.close();
  }
}

export function settingsChecks(home: Home): Check[] {
  return [
    configCheck(home),
    secretsCheck(home),
    securityCheck(home),
    databaseCheck(home, "state"),
    databaseCheck(home, "runtime"),
  ];
}
