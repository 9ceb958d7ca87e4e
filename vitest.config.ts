import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    setupFiles: ["test/kit/setup.ts"],
    pool: "forks",
    // Most tests wait for processes and servers: three workers keep two cores busy.
    maxWorkers: 3,
    // Tests start real processes and servers, which take long on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    retry: 0,
    env: { NODE_EXTRA_CA_CERTS: "" },
    projects: [
      // Modules have no global state, so these files share one process per worker: half the CPU time.
      { extends: true, test: { name: "unit", include: ["src/**/*.test.ts", "scripts/**/*.test.ts"], isolate: false } },
      { extends: true, test: { name: "program", include: ["test/**/*.test.ts"] } },
    ],
  },
});
