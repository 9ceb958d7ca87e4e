import { expect, it } from "vitest";
import { apiProblem } from "./plugin.ts";

it.each(["1", "1.0", "1.0.0", "^1.0", "~1.0.0", ">=1", "v1", "1.x"])("serves %s", (wanted) => {
  expect(apiProblem(wanted)).toBeUndefined();
});

it.each([
  ["2", "update Hermes"],
  ["9.1", "update Hermes"],
  ["1.7", "serves up to 1.0: update Hermes"],
  ["0", "update the plugin"],
  ["latest", "is not a version"],
])("refuses %s with the hint", (wanted, hint) => {
  expect(apiProblem(wanted)).toContain(hint);
});
