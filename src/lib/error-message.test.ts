import { expect, test } from "vitest";
import { errorMessage } from "./error-message.ts";

test("errors give their message, other values their text", () => {
  expect([new TypeError("broken"), "text", undefined].map(errorMessage)).toEqual(["broken", "text", "undefined"]);
});
