// Detects by first bytes and URL whether a download is a zip or tar.gz archive, and unpacks it.
import { type BundleFile, checkFiles } from "../bundle.ts";
import { readTarGz } from "../tar.ts";
import { readZip } from "../zip.ts";

/** Undefined when the bytes are not an archive. */
export async function filesFromArchive(bytes: Uint8Array, url: string): Promise<BundleFile[] | undefined> {
  const path = new URL(url).pathname.toLowerCase();
  const zip = bytes[0] === 0x50 && bytes[1] === 0x4b;
  const gzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (zip || path.endsWith(".zip")) return checkFiles(await readZip(bytes));
  if (gzip || /\.(?:tar\.gz|tgz)$/.test(path)) return checkFiles(await readTarGz(bytes));
  return undefined;
}
