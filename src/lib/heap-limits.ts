// Stops V8's young generation from growing during a long stream: it would grow by tens of megabytes for text that is
// discarded at once.
import { setFlagsFromString } from "node:v8";

const USUAL_GROWTH = 2;
let holders = 0;

/** Stops the growth until the returned function is called. Calls may overlap. */
export function holdYoungSpace(): () => void {
  if (holders++ === 0) setFlagsFromString("--semi-space-growth-factor=1");
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    if (--holders === 0) setFlagsFromString(`--semi-space-growth-factor=${USUAL_GROWTH}`);
  };
}
