// Starting the API server on a port that is in use.
import { createServer } from "node:net";
import { afterEach, expect, it } from "vitest";
import { UserError } from "../../core/failure.ts";
import { type ApiServerParts, startApiServer } from "./server.ts";

const other = createServer();
afterEach(() => other.close());

it("fails with a retryable error only for a caller that retries", async () => {
  const port = await new Promise<number>((resolve) => {
    other.listen(0, "127.0.0.1", () => resolve((other.address() as { port: number }).port));
  });
  const settings = { host: "127.0.0.1", port, key: "k", corsOrigins: [], allowedHosts: [], modelName: "hermes" };
  const parts = { agent: {}, responses: { close: () => undefined }, settings } as unknown as ApiServerParts;
  const start = (callerRetries: boolean) =>
    startApiServer({ ...parts, callerRetries }).catch((error: unknown) => error);
  expect(await start(false)).toBeInstanceOf(UserError);
  const retryable = await start(true);
  expect(retryable).toBeInstanceOf(Error);
  expect(retryable).not.toBeInstanceOf(UserError);
});
