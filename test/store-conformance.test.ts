// The conformance suite for each host of the store.

import { HOSTS } from "./kit/store-fixture.ts";
import { storeConformance } from "./suites/store-conformance.ts";

for (const host of HOSTS) storeConformance(host);
