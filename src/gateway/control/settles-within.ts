// Waiting with a limit.

/** True when the work ended in time, well or badly. */
export async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), ms);
  });
  const result = await Promise.race([
    work.then(
      () => "done" as const,
      () => "done" as const,
    ),
    late,
  ]);
  clearTimeout(timer);
  return result === "done";
}
