import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    setupFiles: ["test/kit/setup.ts"],
    pool: "forks",
    // Most tests wait for processes and servers: three workers keep two cores busy.
    maxWorkers: 3,
    // Tests start real processes and servers, which take long on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    retry: 0,
    env: { NODE_EXTRA_CA_CERTS: "" },
  },
});
