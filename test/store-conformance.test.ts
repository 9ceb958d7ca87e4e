// The conformance suite on the hosts that exist.

import { HOSTS } from "./store-bench.ts";
import { storeConformance } from "./store-conformance.ts";

for (const host of HOSTS) storeConformance(host);
