// Patterns of files that checkpoints leave out: generated files, large files and secrets.

const TEXT = `# Dependencies
node_modules/
bower_components/
Pods/
.bundle/
# Build output
dist/
build/
target/
out/
.next/
.nuxt/
.svelte-kit/
.output/
*.o
*.pyc
*.class
# Caches
.cache/
__pycache__/
.pytest_cache/
.mypy_cache/
.ruff_cache/
.tox/
.nox/
.gradle/
.terraform/
.parcel-cache/
.turbo/
coverage/
.DS_Store
# Virtual environments
.venv/
venv/
.conda/
# Repositories
.git
.hg/
.svn/
# Secrets
.env
.env.*
!.env.example
!.env.sample
!.env.template
*.pem
*.key
*.p12
*.pfx
id_rsa*
id_dsa*
id_ecdsa*
id_ed25519*
.netrc
.pgpass
.ssh/
.aws/
.gnupg/
# Media
*.mp4
*.mov
*.mkv
*.avi
*.webm
*.mp3
*.wav
*.flac
# Archives and disk images
*.zip
*.tar
*.tgz
*.gz
*.bz2
*.xz
*.zst
*.7z
*.rar
*.iso
*.dmg
`;

/** Options of git ls-files; a project's ignore files cannot override them to include a secret. */
export const EXCLUDES: readonly string[] = TEXT.split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((pattern) => `--exclude=${pattern}`);

/** Disables conversion of line ends, encodings and keywords, so that snapshots are exact copies. */
export const ATTRIBUTES = "* -text !eol -ident -filter !working-tree-encoding\n";
