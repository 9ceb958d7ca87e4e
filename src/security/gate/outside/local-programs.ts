// Programs whose output is local. The output of all others may contain untrusted text.

const list = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Their output contains no file content: only names, states and results of the shell. */
export const STATE_PROGRAMS = list(`
  ls dir vdir pwd cd pushd popd dirs echo printf test [ [[ true false : which type whereis command hash alias unalias
  date cal uname arch whoami id groups hostname locale tty stty nproc uptime free df du vmstat lscpu lsblk ps pgrep pkill kill
  killall jobs wait fg bg disown sleep seq yes export set unset shopt declare typeset local readonly let trap exit return
  shift break continue read mapfile readarray getopts umask ulimit mkdir rmdir rm unlink touch chmod chown chgrp truncate
  basename dirname realpath readlink stat file mktemp sync clear reset tput times enable builtin exec eval env printenv
  nice nohup time timeout stdbuf setsid ionice taskset lsof ss pstree history expr bc dc factor tmux screen pbcopy nvm ssh-keygen ssh-add
`);

/** Their output contains the content of their files: local when these are in the workspace. */
export const FILE_PROGRAMS = list(`
  cat head tail less more bat nl tac rev fold fmt pr wc sort uniq cut tr paste join comm column expand unexpand od xxd
  hexdump strings base64 base32 md5sum sha1sum sha256sum sha512sum shasum cksum b2sum grep egrep fgrep zgrep rg ag ack sed
  awk gawk mawk nawk find fd fdfind tree diff cmp sdiff diffstat jq yq xq csvcut csvlook mlr tee split csplit xargs parallel
  cp mv ln install dd tar zip unzip zipinfo gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat zstd 7z 7za iconv dos2unix
  unix2dos patch sqlite3 pandoc ffmpeg ffprobe convert magick identify exiftool pdftotext pdfinfo openssl cloc tokei scc wdiff
  colordiff delta ex ed sponge envsubst xmllint tidy numfmt shuf tsort ptx look nm objdump readelf ldd size otool
`);

/** Compilers, linters, formatters, test runners and build tools. */
export const BUILD_PROGRAMS = list(`
  tsc eslint prettier biome vitest jest mocha ava tap c8 nyc oxlint stylelint standard xo knip depcruise madge svelte-check
  vue-tsc esbuild rollup webpack vite parcel swc babel turbo nx lerna tsup rimraf concurrently cross-env husky lint-staged
  pytest py.test tox nox ruff black isort flake8 mypy pyright pylint coverage bandit pyflakes autopep8 yapf sphinx-build mkdocs
  gcc g++ cc c++ clang clang++ ld ar ranlib strip make gmake cmake ctest ninja meson bazel just task ant gradle gradlew mvn mvnw
  javac jar kotlinc scalac sbt rustc rustfmt clippy-driver gofmt golangci-lint staticcheck shellcheck shfmt hadolint yamllint
  markdownlint phpunit phpstan psalm rspec rubocop rake mix swiftc swiftlint xcodebuild flutter dart dotnet latexmk pdflatex
  xelatex lualatex bibtex biber jekyll hugo asciidoctor valgrind perf hyperfine strace ltrace gdb lldb terraform-docs tflint
  uvicorn gunicorn flask http-server serve nodemon jupyter
`);

/** Targets and scripts of build tools that fetch or send something. */
export const FETCHING_NAME =
  /fetch|download|deploy|install|publish|release|upload|sync|pull|push|update|upgrade|crawl|scrape|curl|wget/i;

/** Subcommands that work offline; the others of these programs may use the network. */
export const LOCAL_SUBCOMMANDS: { readonly [program: string]: ReadonlySet<string> } = {
  npm: list(
    "test t tst run run-script start stop restart ls list la ll pkg version config c get set root prefix bin why explain pack prune dedupe rebuild init cache fund help",
  ),
  pnpm: list(
    "test t run start stop list ls why build lint check typecheck format dev config store root bin rebuild prune -r recursive exec",
  ),
  yarn: list("test run start build lint check typecheck format dev list why config workspaces workspace bin node exec"),
  bun: list("test run build x pm"),
  pip: list("list show freeze check config cache help"),
  uv: list("tree version help"),
  poetry: list("show check version env config run build"),
  conda: list("list info env config"),
  cargo: list("build b test t check c run r clippy fmt bench doc clean tree metadata nextest fix expand version help"),
  go: list("build test vet run fmt doc list env version generate clean tool help"),
  bundle: list("exec check list show config"),
  gem: list("list contents env"),
  composer: list("validate show dump-autoload run-script test"),
  docker: list(
    "ps images inspect stop start restart rm rmi volume network version info stats top port kill container image context tag compose",
  ),
  podman: list("ps images inspect stop start restart rm rmi volume network version info"),
  brew: list("list --prefix config"),
  systemctl: list("status list-units list-timers is-active is-enabled cat show"),
  kubectl: list("config version"),
  helm: list("lint template version"),
  terraform: list("fmt validate version"),
  code: list("--list-extensions --version"),
  deno: list("test fmt lint check"),
  swift: list("build test"),
};

/** `git` subcommands that use the network. */
export const GIT_NETWORK = list(
  "clone fetch pull push ls-remote fetch-pack send-pack send-email request-pull submodule svn p4 lfs http-fetch remote-http remote-https daemon",
);

/** Programs that `npx` and similar tools run from the project. */
export function isProjectTool(name: string): boolean {
  return (
    BUILD_PROGRAMS.has(name) ||
    /^(?:tsx|ts-node|playwright|cypress|next|nuxt|astro|prisma|drizzle-kit|storybook|ng|expo)$/.test(name)
  );
}
