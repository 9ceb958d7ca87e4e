// Runs foreign code so that it can neither throw nor hang.
import { withTimeout } from "../lib/async/with-timeout.ts";
import { errorMessage } from "../lib/error-message.ts";

/** The result of `work`, or `fallback` when it fails or takes longer than `ms`; `report` receives the reason. */
export async function isolate<T>(
  work: () => Promise<T> | T,
  fallback: T,
  limits: { readonly ms: number; readonly report: (problem: string) => void },
): Promise<T> {
  try {
    return await withTimeout((async () => work())(), limits.ms, () => {
      throw new Error(`did not answer within ${limits.ms} ms`);
    });
  } catch (error) {
    limits.report(errorMessage(error));
    return fallback;
  }
}
