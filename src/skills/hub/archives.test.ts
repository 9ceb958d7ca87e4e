import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeTar, makeTarGz, makeZip } from "../../../test/kit/archive-makers.ts";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import { checkFiles } from "./bundle.ts";
import { HubRefusal, LIMITS } from "./refusal.ts";
import { readTar, readTarGz } from "./tar.ts";
import { readZip } from "./zip.ts";

const valid = [
  { path: "notes/SKILL.md", content: "---\nname: notes\n---\nWrite.\n" },
  { path: "notes/scripts/run.sh", content: "#!/bin/sh\necho hi\n", mode: 0o100755 },
];

const unpackZip = async (bytes: Uint8Array) => checkFiles(await readZip(bytes));
const unpackTar = async (bytes: Uint8Array) => checkFiles(await readTarGz(bytes));

describe("archives made by system programs", () => {
  test("tar.gz with folders, long names and scripts", async () => {
    const dir = tempDir("hub-tar-");
    try {
      const long = `references/${"long-".repeat(17)}name.md`;
      mkdirSync(join(dir, "pack", "references"), { recursive: true });
      writeFileSync(join(dir, "pack", "SKILL.md"), "hello");
      writeFileSync(join(dir, "pack", long), "deep");
      for (const format of ["gnu", "pax", "ustar"]) {
        const out = join(dir, `${format}.tgz`);
        execFileSync("tar", [`--format=${format}`, "-C", dir, "-czf", out, "pack"]);
        const files = await unpackTar(readFileSync(out));
        expect(files.map(({ path }) => path).sort()).toEqual(["pack/SKILL.md", `pack/${long}`]);
      }
      symlinkSync("/etc/passwd", join(dir, "pack", "link"));
      execFileSync("tar", ["-C", dir, "-czf", join(dir, "link.tgz"), "pack"]);
      await expect(unpackTar(readFileSync(join(dir, "link.tgz")))).rejects.toThrow(/is a link/);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test("archives of the test helpers are read back unchanged", async () => {
    for (const files of [await unpackZip(makeZip(valid)), await unpackTar(makeTarGz(valid))]) {
      expect(files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])).toEqual(
        valid.map(({ path, content }) => [path, content]),
      );
      expect((files[1]?.mode ?? 0) & 0o111).not.toBe(0);
    }
  });
});

describe("malicious zip archives are refused", () => {
  const bomb = Buffer.alloc(LIMITS.file - 1);
  const shared = makeZip([
    { path: "a", content: "one" },
    { path: "b", content: "two" },
  ]);
  // The second directory entry points to the data of the first.
  const second = shared.lastIndexOf(Buffer.from([0x50, 0x4b, 1, 2]));
  shared.writeUInt32LE(0, second + 42);

  // A zip64 locator could name another directory than the end record does.
  const plain = makeZip(valid);
  const endAt = plain.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  const locator = Buffer.concat([Buffer.from([0x50, 0x4b, 6, 7]), Buffer.alloc(16)]);
  const zip64 = Buffer.concat([plain.subarray(0, endAt), locator, plain.subarray(endAt)]);

  test.each([
    ["a path with parent folders", makeZip([{ path: "../../evil.md", content: "x" }])],
    ["an absolute path", makeZip([{ path: "/etc/cron.d/evil", content: "x" }])],
    ["a link", makeZip([{ path: "SKILL.md", content: "/etc/passwd", mode: 0o120777 }])],
    ["a device", makeZip([{ path: "SKILL.md", content: "", mode: 0o060644 }])],
    ["a bomb by ratio", makeZip([1, 2, 3].map((index) => ({ path: `f${index}`, content: bomb })))],
    [
      "a file larger than its stated size",
      makeZip([{ path: "SKILL.md", content: Buffer.alloc(100_000), claimedSize: 10 }]),
    ],
    ["a file smaller than its stated size", makeZip([{ path: "SKILL.md", content: "x", claimedSize: 10 }])],
    ["two names for one file", makeZip([{ path: "SKILL.md", content: "x", localName: "SKULL.md" }])],
    ["files that share their bytes", shared],
    ["a second directory", zip64],
    [
      "doubles",
      makeZip([
        { path: "a", content: "1" },
        { path: "A", content: "2" },
      ]),
    ],
    ["many entries", makeZip(Array.from({ length: LIMITS.files * 4 + 1 }, (_, index) => ({ path: `f${index}` })))],
    ["a truncated file", makeZip(valid).subarray(0, 60)],
    ["a file that is not an archive", Buffer.from("PK\u0003\u0004 hello")],
  ])("%s", async (_, bytes) => {
    await expect(unpackZip(bytes)).rejects.toThrow(HubRefusal);
  });
});

describe("malicious tar archives are refused", () => {
  test.each([
    ["a path with parent folders", makeTarGz([{ path: "../../evil.md", content: "x" }])],
    ["an absolute path", makeTarGz([{ path: "/etc/cron.d/evil", content: "x" }])],
    ["a symbolic link", makeTarGz([{ path: "SKILL.md", type: "2", link: "/etc/passwd" }])],
    ["a hard link", makeTarGz([{ path: "SKILL.md", type: "1", link: "/etc/passwd" }])],
    ["a device", makeTarGz([{ path: "SKILL.md", type: "3" }])],
    ["a bomb by ratio", makeTarGz([{ path: "zeros", content: Buffer.alloc(LIMITS.file - 1) }])],
    ["a bomb by size", gzipSync(Buffer.alloc(LIMITS.total * 4))],
    ["many entries", makeTarGz(Array.from({ length: LIMITS.files * 5 }, (_, index) => ({ path: `f${index}` })))],
    ["a truncated archive", gzipSync(makeTar(valid).subarray(0, 700))],
    ["a damaged header", gzipSync(Buffer.concat([Buffer.from("garbage"), makeTar(valid)]))],
    ["a file that is not an archive", Buffer.from("hello")],
  ])("%s", async (_, bytes) => {
    await expect(unpackTar(bytes)).rejects.toThrow(HubRefusal);
  });
});

test("damaged archives give a refusal or files, never another error", async () => {
  const zip = makeZip(valid);
  const tar = makeTar(valid);
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(damage, async (hits) => {
      for (const [source, read] of [
        [zip, readZip],
        [tar, async (bytes: Buffer) => readTar(bytes)],
      ] as const) {
        const bytes = Buffer.from(source);
        for (const [at, value] of hits) bytes[at % bytes.length] = value;
        const outcome = await read(bytes)
          .then(checkFiles)
          .catch((error: unknown) => error);
        expect(Array.isArray(outcome) || outcome instanceof HubRefusal).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});
