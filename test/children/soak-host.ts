// A program that starts process trees and never ends by itself: the soak test kills it without warning.
import { openSoak } from "../kit/soak-cycles.ts";

const soak = openSoak(process.argv[2] ?? "");
process.stdout.write("started\n");
for (let index = 0; ; index += 8) {
  await Promise.all(Array.from({ length: 8 }, (_, at) => soak.cycle(index + at)));
  process.stdout.write("round\n");
}
