// The conformance suite of session stores, run once for each host.
import { describe } from "vitest";
import { type StoreHost, useStore } from "../kit/store-fixture.ts";
import { listSuite } from "./store-suite-list.ts";
import { messageSuite } from "./store-suite-messages.ts";
import { searchSuite } from "./store-suite-search.ts";
import { sessionSuite } from "./store-suite-sessions.ts";
import { titleSuite } from "./store-suite-titles.ts";
import { topicSuite } from "./store-suite-topics.ts";

export function storeConformance(host: StoreHost): void {
  describe(`session store ${host.name}`, () => {
    const fixture = useStore(host);
    for (const suite of [sessionSuite, titleSuite, messageSuite, listSuite, searchSuite, topicSuite]) suite(fixture);
  });
}
