import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    pool: "forks",
    // Most tests wait for processes and servers: three at a time keep two cores busy.
    maxWorkers: 3,
    // Real processes and servers on a busy machine: generous limits, and on the build server a second look at a failure.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    retry: process.env.CI ? 2 : 0,
    env: { NODE_EXTRA_CA_CERTS: "" },
  },
});
