// Keeps V8's young generation at its size while a long stream passes: it would grow by tens of megabytes for text that
// nobody keeps.
import { setFlagsFromString } from "node:v8";

const USUAL_GROWTH = 2;
let holders = 0;

/** Holds the size until the returned function is called; several streams may hold at once. */
export function holdYoungSpace(): () => void {
  if (holders++ === 0) setFlagsFromString("--semi-space-growth-factor=1");
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    if (--holders === 0) setFlagsFromString(`--semi-space-growth-factor=${USUAL_GROWTH}`);
  };
}
