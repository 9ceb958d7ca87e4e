// Long tests have a short form in `npm test` and a full form in `npm run proof -- <name>`.

/** True in the full form. */
export const fullProof = process.env.HERMES_PROOF === "full";

/**
 * In the full form the whole list; in the short form every `step`-th item, beginning at `offset`. Callers with different
 * offsets cover the whole list together.
 */
export function sample<T>(list: readonly T[], step: number, offset: number): readonly T[] {
  return fullProof ? list : list.filter((_, index) => index % step === offset % step);
}
