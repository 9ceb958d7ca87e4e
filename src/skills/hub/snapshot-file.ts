// Exports and parses a list of the installed skills with their hashes, to install the same ones elsewhere.
import { UserError } from "../../core/failure.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import type { Hub } from "./hub.ts";
import { type Tap, Taps } from "./taps.ts";

export interface SnapshotSkill {
  readonly name: string;
  readonly source: string;
  readonly identifier: string;
  readonly category: string;
  readonly content_hash?: string | undefined;
  /** The full hash; other programs omit it. */
  readonly sha256?: string | undefined;
}

export interface SnapshotFile {
  readonly hermes_version: string;
  readonly exported_at: string;
  readonly skills: readonly SnapshotSkill[];
  readonly taps: readonly Tap[];
}

export async function exportSnapshot(hub: Hub): Promise<SnapshotFile> {
  const { host } = hub;
  const skills = [...(await hub.installed())].map(([name, entry]): SnapshotSkill => {
    const parts = entry.install_path.split("/");
    const { sha256 } = entry.metadata;
    return {
      name,
      source: entry.source,
      identifier: entry.identifier,
      category: parts.length === 2 ? (parts[0] ?? "") : "",
      content_hash: entry.content_hash,
      sha256: typeof sha256 === "string" ? sha256 : undefined,
    };
  });
  const taps = await new Taps(host.skillsDir).own();
  return { hermes_version: host.version, exported_at: host.now().toISOString(), skills, taps };
}

type Raw = { readonly [key: string]: unknown };

function skillFrom(value: unknown): SnapshotSkill {
  const raw = (value ?? {}) as Raw;
  const text = (key: string) => (typeof raw[key] === "string" ? (raw[key] as string) : "");
  if (text("name") === "" || text("identifier") === "")
    throw new UserError("the snapshot has a skill without a name or an identifier");
  return {
    name: text("name"),
    source: text("source"),
    identifier: text("identifier"),
    category: text("category"),
    content_hash: text("content_hash") || undefined,
    sha256: text("sha256") || undefined,
  };
}

export function parseSnapshot(text: string): SnapshotFile {
  const raw = parseJson(text) as Raw | null | undefined;
  if (!raw || !Array.isArray(raw.skills))
    throw new UserError("the file is not a snapshot of skills", {
      hint: "Create one with: hermes skills snapshot export FILE",
    });
  const taps = Array.isArray(raw.taps) ? (raw.taps as readonly Tap[]) : [];
  return {
    hermes_version: String(raw.hermes_version ?? ""),
    exported_at: String(raw.exported_at ?? ""),
    skills: raw.skills.map(skillFrom),
    taps: taps
      .filter((tap) => typeof tap?.repo === "string")
      .map(({ repo, path }) => ({ repo, path: path ?? "skills/" })),
  };
}
