// A child process for the race test of the key file: adds a key, then counts uses of a shared key.
import { Credentials } from "../../src/providers/keys/credentials.ts";

const [path = "", name = "", sharedId = "", rounds = "0"] = process.argv.slice(2);
const credentials = new Credentials({ path, strategies: {} });
await credentials.add("race", { value: `secret-of-${name}`, label: name });
for (let round = 0; round < Number(rounds); round++) {
  await credentials.noteUse(
    { value: "shared-secret", source: "manual", entry: { pool: "shared", id: sharedId } },
    true,
  );
}
