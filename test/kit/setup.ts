// Runs before every test file. `HERMES_SEED=1234 npm test -- <file>` repeats the property tests with a seed that a failure
// printed.

const seed = Number(process.env.HERMES_SEED);
if (Number.isInteger(seed) && seed !== 0) {
  const { configureGlobal } = await import("fast-check");
  configureGlobal({ seed });
}

export {};
