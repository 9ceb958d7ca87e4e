// A program that starts process trees until the soak test kills it.
import { openSoak } from "../kit/soak-cycles.ts";

const soak = openSoak(process.argv[2] ?? "");
process.stdout.write("started\n");
for (let index = 0; ; index += 8) {
  await Promise.all(Array.from({ length: 8 }, (_, at) => soak.cycle(index + at)));
  process.stdout.write("round\n");
}
