import { defineConfig } from "vitest/config";

const source = { resolve: { conditions: ["source"] }, ssr: { resolve: { conditions: ["source"] } } };

/**
 * Two kinds of test. Beside the code (`src/**`): quick, in parallel. In a `test/` folder: the real
 * products as processes, one file after the other, because a decode wants both cores for itself.
 */
export default defineConfig({
  test: {
    reporters: ["default", "./scripts/reporter.ts"],
    maxWorkers: 2,
    projects: [
      {
        ...source,
        test: {
          name: "unit",
          include: ["{locallm,dataq/*}/src/**/*.test.ts", "scripts/**/*.test.ts"],
          testTimeout: 20_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        ...source,
        test: {
          name: "live",
          include: ["{locallm,dataq/*}/test/**/*.test.ts", "examples/**/*.test.ts"],
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
