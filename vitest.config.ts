import { defineConfig } from "vitest/config";
import { compileCache } from "./testing/compile-cache.ts";
import LongestFirst from "./testing/longest-first.ts";

// For the workers and all that tests start.
process.env["NODE_COMPILE_CACHE"] = compileCache;
// A worker starts hundreds of processes, and the more memory it has, the longer each takes. Half of it would be unused
// memory of glibc's arenas.
process.env["MALLOC_ARENA_MAX"] = "1";

/** The default of one second is less than what a process needs on a busy machine. */
const patient = { poll: { timeout: 30_000 } };
const source = { resolve: { conditions: ["source"] }, ssr: { resolve: { conditions: ["source"] } } };

const live = (files: { name: string; include: string[]; exclude?: string[] }) => ({
  ...source,
  test: {
    ...files,
    setupFiles: ["testing/watched-test.ts"],
    expect: patient,
    testTimeout: 60_000,
    hookTimeout: 300_000,
    // What the files share, the server's modules among them, is loaded once per worker: no file changes it.
    isolate: false,
  },
});

/**
 * They import whole packs, load models of many kinds and sizes, kill an import again and again, try many orders of
 * statements, pack and install what is published, run programs of others, browsers too, or read the built documentation.
 */
const whole = [
  "scripts/{published,release/install-script,release/release,release/update}.test.ts",
  "testing/event-loop-watch.test.ts",
  "locallm/test/clients/*.test.ts",
  "locallm/test/{chat-page,completion,cuda-runtime,docker-registry,documentation-page,gpu,growing-window,guides,hostile-prompts,memory-needs,oldest-release,package,pip,quantize,rerank,schemathesis}.test.ts",
  "dataq/client/test/{browser,package,programs}.test.ts",
  "dataq/client-python/test/{package,types}.test.ts",
  "dataq/service/test/console*.test.ts",
  "dataq/service/test/{asked-laws,backup-store,dataset-kills,documentation-examples,documentation-links,guides,judged,law-packs,many-machines,meaning,money-pairs,national-laws,npm-start,oldest-release,open-data,outgoing,proxies,schemathesis,welcome-page}.test.ts",
];

/**
 * Three kinds of test. In a `test/` folder: the real products as processes, each file with servers, ports and folders of
 * its own. Beside the code (`src/**`), after them: quick. And what takes long (`whole`), which CI runs first and `npm test`
 * leaves out. Three files at once on two cores, because often one of them waits; with four the whole took longer.
 */
export default defineConfig({
  ...source,
  test: {
    globalSetup: ["dataq/service/test/test-run.ts"],
    reporters: ["default", "./testing/reporter.ts"],
    maxWorkers: 3,
    // Node loads the modules, as for users: this takes less time, and calls between modules are direct.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        ...source,
        test: {
          name: "unit",
          include: [
            "{autostart,site-files,package-index,updates,locallm,dataq/{client,client-python,contract,service}}/src/**/*.test.ts",
            "{fuzz,scripts,testing}/**/*.test.ts",
          ],
          exclude: whole,
          expect: patient,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          // Starting a worker for each file costs more than what most of them test; a file leaves nothing behind.
          isolate: false,
        },
      },
      live({
        name: "live",
        include: ["{locallm,dataq/*}/test/**/*.test.ts", "examples/**/*.test.ts"],
        exclude: whole,
      }),
      live({ name: "whole", include: whole }),
      {
        ...source,
        test: {
          name: "console",
          include: ["dataq/console/src/**/*.test.ts"],
          isolate: false,
          // Node does not know JSX.
          experimental: { viteModuleRunner: true },
        },
      },
    ],
  },
});
