// Which commands may output untrusted text; everyday local commands do not.
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tempDir } from "../../../../test/kit/temp-dir.ts";
import { analyseCommand, analyseProgram } from "../analyse.ts";
import { loadShellParser, type ParseShell } from "../shell/shell-parser.ts";

const userHome = realpathSync(tempDir("outside-"));
const hermesHome = join(userHome, ".hermes");
const workspace = join(userHome, "project");
for (const folder of ["project/src", "project/sub", "Downloads", ".hermes"])
  mkdirSync(join(userHome, folder), { recursive: true });
writeFileSync(join(userHome, "Downloads/page.md"), "page");
writeFileSync(join(workspace, "README.md"), "readme");
writeFileSync(join(workspace, "fetch.py"), "import urllib.request\nprint(urllib.request.urlopen('http://x').read())\n");
writeFileSync(join(workspace, "count.py"), "import sys\nprint(len(sys.argv))\n");
writeFileSync(join(workspace, "build.sh"), "set -e\nnpm test\n");
writeFileSync(join(workspace, "get.sh"), "curl -s http://x\n");
symlinkSync(join(userHome, "Downloads"), join(workspace, "linked"));
afterAll(() => rmSync(userHome, { recursive: true, force: true }));

let parse: ParseShell;
beforeAll(async () => {
  parse = await loadShellParser();
});
const outside = (command: string, cwd = workspace) =>
  analyseCommand(command, { userHome, hermesHome, cwd, workspace }, parse).outside;

const FOREIGN = `
curl -s http://127.0.0.1:1/page
curl -s http://127.0.0.1:1/page > page.html
wget -qO- http://localhost:9200/_cat/indices
cat ~/Downloads/page.md
cat ../Downloads/page.md
cat < ~/Downloads/page.md
cd ~/Downloads && cat page.md
cp ~/Downloads/page.md . && cat page.md
head -3 "$HOME/Downloads/page.md"
grep -r foo ~/Downloads
cat linked/page.md
cat ~/Downloads/*.md
git fetch upstream main
git pull
git clone https://x.example/y
git -C ~/Downloads log
git submodule update --init --recursive
git ls-remote origin
npm install
npm view left-pad
npm i -D typescript
npx create-vite@latest app
npx some-unknown-tool
pip install httpx
python3 -m pip download x
gh pr view 42
ssh host cat /etc/motd
nc -zv localhost 5432
python3 fetch.py
bash get.sh
./get.sh
python3 -c "import urllib.request as u; print(u.urlopen('http://x').read())"
node -e "fetch('http://x').then(r=>r.text()).then(console.log)"
exec 3<>/dev/tcp/127.0.0.1/80; cat <&3
cat </dev/tcp/127.0.0.1/80
bash -c 'curl -s http://x'
env curl -s http://x
timeout 5 curl -s http://x
ls | xargs -I{} curl http://x/{}
unknown-program --flag
echo $(curl -s http://x)
docker logs web
kubectl get pods
psql -c 'select 1'
bash
python3 -i
echo 'unclosed
$CMD
`
  .trim()
  .split("\n");

const LOCAL = String.raw`
ls
ls -la ~/Downloads
pwd && date
git status
git log --oneline -20
git diff HEAD~1
git commit -am "fix: x"
git branch --merged | grep -v main
git stash push -m wip
npm test
npm run build
npm run lint -- --fix
npm run dev
yarn test
pnpm -r build
npx tsc --noEmit
npx vitest run src/a.test.ts
node --test test/
cat README.md
cat README.md | head -3 | wc -l
grep -rn "api/v1" src
grep -c ERROR app.log
rg TODO
sed -n '1,20p' README.md
sed -E 's/([0-9]+)px/\1rem/g' style.css
awk 'NR==FNR{a[$1];next} $1 in a' a.txt b.txt
awk '/etc/{print}' README.md
find . -name '*.ts' -mtime -1
jq -r '.dependencies | keys[]' package.json
python3 count.py 1 2
python3 -m pytest -q
python3 -m unittest discover -s tests
pytest tests/test_a.py
python3 -c "import json; print(json.load(open('package.json'))['name'])"
node -e "console.log(require('./package.json').version)"
make -j8 && make test
cargo test
go test ./...
./gradlew clean assembleDebug
bash build.sh
tsc -p tsconfig.json && eslint .
mkdir -p out && cp README.md out/ && rm -r out/tmp
echo hi > notes.txt
echo "$(date): done" >> notes.txt
for f in src/*.ts; do wc -l "$f"; done
if ! command -v jq >/dev/null; then echo missing; fi
npm test > /tmp/test-output-of-this.txt 2>&1; tail -5 /tmp/test-output-of-this.txt
cd sub && ls && cat ../README.md
diff -u old.py new.py | tee change.diff
tar --exclude=node_modules -czf /tmp/app.tgz .
df -h . && free -h && nproc
gcc -O2 -o main main.c
curl --version
docker ps
sqlite3 app.db "select * from users"
npm run build && npm test && git add -A && git commit -m done
`
  .trim()
  .split("\n");

it.each(FOREIGN)("may output untrusted text: %s", (command) => {
  expect(outside(command)).not.toBeNull();
});

it.each(LOCAL)("is local: %s", (command) => {
  expect(outside(command)).toBeNull();
});

it("uses the folder of the conversation, not the current folder of its shell", () => {
  expect(outside("cat page.md", join(userHome, "Downloads"))).not.toBeNull();
  expect(outside("cat ../README.md", join(workspace, "sub"))).toBeNull();
});

it("analyses programs", () => {
  const program = (code: string, language: "python" | "javascript" = "python") =>
    analyseProgram(language, code, { userHome, hermesHome, cwd: workspace, workspace }, parse).outside;
  for (const code of [
    "import urllib.request\nprint(urllib.request.urlopen('http://x').read())",
    "import os\nprint(open(os.path.expanduser('~/Downloads/page.md')).read())",
    "print(open('../Downloads/page.md').read())",
    `print(open('${userHome}/Downloads/page.md').read())`,
    "import subprocess\nprint(subprocess.run(['curl','x']))",
    "m = __import__('url' + 'lib.request')",
  ])
    expect(program(code)).not.toBeNull();
  expect(program("const r = await fetch('http://x')", "javascript")).not.toBeNull();
  expect(program("import json, re\nprint(len(open('README.md').read()))")).toBeNull();
  expect(program("from hermes_tools import read_file\nprint(read_file('README.md'))")).toBeNull();
  expect(
    program("import { readFileSync } from 'node:fs'; console.log(readFileSync('a').length)", "javascript"),
  ).toBeNull();
});
