import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Small files whose tests take long. Before Vitest knows their durations it sorts by size and would run these
 * last, while another core is idle.
 */
const long = [
  "clients/python",
  "structured",
  "judged",
  "runner/slots",
  "runner/repeat",
  "killing",
  "crash",
  "openapi",
  "access",
  "operations",
  "dataset-kills",
  "client/test/service",
  "client-python/test/package",
  "hostile-gguf",
  "ledger-model",
  "many-machines",
  "scheduling",
  "runner/conversations",
  "hostile-prompts",
  "public-sources",
  "operator-data",
  "stalled-runner",
  "rerank",
  "documentation-examples",
  "documentation-page",
  "test/books",
  "first-data",
  "console-citations",
  "console-webhooks",
  "fuzz/replay",
  "backup/backup",
  "national-laws/read-list",
  "database/database",
  "sources/transfers",
];

/**
 * The first file makes the data folder that dataq's tests copy, which takes ten seconds. Meanwhile the other workers run
 * files that do not need it.
 */
const first = ["client/test/service", "structured", "runner/slots", "killing"];

/**
 * The files of a project follow each other, because a worker runs those of one project only. Those that wait for programs
 * come first, and the quick ones of `unit` last: with them all workers finish at about the same time.
 */
const projects = ["whole", "live", "console", "unit"];

/** Sorts test files so that the longest run first and all workers finish at about the same time. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const placeIn = (names: readonly string[]) =>
        names.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      const place = placeIn(first);
      if (place !== -1) return place;
      return placeIn(long) === -1 ? first.length + 1 : first.length;
    };
    const project = (one: TestSpecification) => projects.indexOf(one.project.name);
    return sorted.sort((one, other) => project(one) - project(other) || rank(one) - rank(other));
  }
}
