// The conformance suite on the hosts that exist.

import { HOSTS } from "./kit/store-fixture.ts";
import { storeConformance } from "./suites/store-conformance.ts";

for (const host of HOSTS) storeConformance(host);
