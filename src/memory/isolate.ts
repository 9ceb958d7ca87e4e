// Runs somebody else's code so that it can neither throw nor hang: a value comes back in time.

/** The result of `work`, or `fallback` when it fails or takes longer than `ms`; `report` hears about it. */
export async function isolate<T>(
  work: () => Promise<T> | T,
  fallback: T,
  limits: { readonly ms: number; readonly report: (problem: string) => void },
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), limits.ms);
  });
  try {
    const outcome = await Promise.race([(async () => ({ value: await work() }))(), late]);
    if (outcome !== "late") return outcome.value;
    limits.report(`did not answer within ${limits.ms} ms`);
  } catch (error) {
    limits.report(error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
  }
  return fallback;
}
