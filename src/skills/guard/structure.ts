// Checks the structure of a skill: sizes, compiled programs, links, modes.
import type { Finding, SkillFile } from "./finding.ts";

const MAX_FILES = 50;
const MAX_TOTAL = 1024 * 1024;
const MAX_FILE = 256 * 1024;
const PROGRAM_SUFFIX =
  /\.(?:exe|dll|so|dylib|bin|com|scr|msi|app|dmg|pkg|deb|rpm|apk|jar|class|pyc|pyo|pyd|wasm|o|a|node|ps1xml|lnk|iso|img|vbs|hta|bat|cmd)$/i;
/** A file that would be run instead of the real command once its folder is on the search path. */
const COMMAND_NAME =
  /(?:^|\/)(?:git|ssh|scp|sudo|su|npm|npx|pip3?|curl|wget|gh|docker|kubectl|aws|gcloud|python3?|node|ls|cat|gpg|claude|hermes)$/;
const ARCHIVE_SUFFIX = /\.(?:zip|tar|gz|tgz|bz2|xz|7z|rar|zst|whl|egg)$/i;
const SCRIPT_SUFFIX =
  /\.(?:py|sh|bash|zsh|fish|js|mjs|cjs|jsx|ts|mts|cts|tsx|rb|pl|pm|php|lua|r|jl|ps1|psm1|awk|go|rs|applescript|scpt)$/i;
/** First bytes of compiled programs: ELF, Mach-O, PE, Java. */
const MAGICS: readonly (readonly number[])[] = [
  [0x7f, 0x45, 0x4c, 0x46],
  [0xcf, 0xfa, 0xed, 0xfe],
  [0xca, 0xfe, 0xba, 0xbe],
  [0x4d, 0x5a, 0x90, 0x00],
];

export function fileBytes(file: SkillFile): Uint8Array {
  return typeof file.content === "string" ? new TextEncoder().encode(file.content) : file.content;
}

export function isScript(path: string, text: string): boolean {
  return SCRIPT_SUFFIX.test(path) || text.startsWith("#!");
}

const SETTINGS_SUFFIX =
  /\.(?:ya?ml|json|toml|ini|cfg|conf|service|timer|desktop|plist|xml|mk|gradle)$|(?:^|\/)(?:Makefile|Dockerfile|Justfile|Procfile|Rakefile|Gemfile|\.\w+rc)$/i;

/** Scripts, and configuration files whose lines are run. */
export function isProgram(path: string, text: string): boolean {
  return isScript(path, text) || SETTINGS_SUFFIX.test(path);
}

type Draft = Pick<Finding, "pattern_id" | "severity" | "match" | "description">;

function linkFindings(link: NonNullable<SkillFile["link"]>): Draft[] {
  if (link.state === "outside")
    return [
      {
        pattern_id: "escaping_link",
        severity: "critical",
        match: link.target,
        description: "a symbolic link that points outside the skill",
      },
    ];
  if (link.state === "broken")
    return [
      { pattern_id: "broken_link", severity: "medium", match: link.target, description: "a broken symbolic link" },
    ];
  return [];
}

function fileFindings(file: SkillFile): Draft[] {
  if (file.link) return linkFindings(file.link);
  const bytes = fileBytes(file);
  const found: Draft[] = [];
  if (/(?:^|\/)\.\.(?:\/|$)|^\/|^[A-Za-z]:|\\/.test(file.path))
    found.push({
      pattern_id: "escaping_path",
      severity: "critical",
      match: file.path,
      description: "a path that points outside the skill",
    });
  if (/(?:^|\/)__pycache__\/[^/]+\.pyc$/.test(file.path))
    found.push({
      pattern_id: "compiled_python",
      severity: "medium",
      match: file.path,
      description: "compiled Python that a run left behind; its source is not visible",
    });
  else if (
    PROGRAM_SUFFIX.test(file.path) ||
    MAGICS.some((magic) => magic.every((byte, index) => bytes[index] === byte))
  )
    found.push({
      pattern_id: "binary_program",
      severity: "critical",
      match: file.path,
      description: "a compiled program",
    });
  if (COMMAND_NAME.test(file.path))
    found.push({
      pattern_id: "command_name",
      severity: "high",
      match: file.path,
      description: "a program with the name of a common command",
    });
  if (ARCHIVE_SUFFIX.test(file.path))
    found.push({
      pattern_id: "archive",
      severity: "high",
      match: file.path,
      description: "an archive, whose files are not scanned",
    });
  if (bytes.length > MAX_FILE)
    found.push({
      pattern_id: "large_file",
      severity: "low",
      match: `${bytes.length} bytes`,
      description: "a large file",
    });
  const text = new TextDecoder().decode(bytes.subarray(0, 64));
  if (file.mode !== undefined && (file.mode & 0o111) !== 0 && !isScript(file.path, text))
    found.push({
      pattern_id: "unexpected_exec_bit",
      severity: "medium",
      match: file.path,
      description: "is executable but not a script",
    });
  if (file.mode !== undefined && (file.mode & 0o6000) !== 0)
    found.push({
      pattern_id: "suid_bit",
      severity: "critical",
      match: file.path,
      description: "runs with the permissions of its owner",
    });
  return found;
}

export function structureFindings(files: readonly SkillFile[]): Finding[] {
  const toFinding = (file: string, draft: Draft): Finding => ({ ...draft, category: "structure", file, line: 0 });
  const findings = files.flatMap((file) => fileFindings(file).map((draft) => toFinding(file.path, draft)));
  const total = files.reduce((sum, file) => sum + fileBytes(file).length, 0);
  if (files.length > MAX_FILES)
    findings.push(
      toFinding("", {
        pattern_id: "many_files",
        severity: "low",
        match: String(files.length),
        description: "many files for a skill",
      }),
    );
  if (total > MAX_TOTAL)
    findings.push(
      toFinding("", {
        pattern_id: "large_skill",
        severity: "low",
        match: `${total} bytes`,
        description: "more than a megabyte",
      }),
    );
  if (!files.some((file) => file.path === "SKILL.md"))
    findings.push(
      toFinding("", {
        pattern_id: "no_skill_file",
        severity: "medium",
        match: "",
        description: "there is no SKILL.md",
      }),
    );
  return findings;
}
