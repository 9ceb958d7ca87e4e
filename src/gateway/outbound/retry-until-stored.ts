// Retries writes that a chat depends on until they succeed.
import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage } from "../../lib/error-message.ts";
import type { GatewayContext } from "../control/gateway-context.ts";

const FIRST_MS = 200;
const MAX_MS = 10_000;

/** Later messages of the chat wait, so that their order stays. Rejects when the gateway stops. */
export async function retryUntilStored<T>(
  gateway: Pick<GatewayContext, "draining" | "log">,
  work: () => Promise<T>,
): Promise<T> {
  for (let pause = FIRST_MS; ; pause = Math.min(2 * pause, MAX_MS)) {
    try {
      return await work();
    } catch (error) {
      if (gateway.draining()) throw error;
      const why = errorMessage(error);
      gateway.log("error", `the end of a message could not be stored; retrying: ${why}`);
      await sleep(pause);
    }
  }
}
