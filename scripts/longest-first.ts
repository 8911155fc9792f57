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
  "operator-data",
  "stalled-runner",
];

/** Sorts test files so that the longest run first and all workers finish at about the same time. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) =>
      long.some((name) => moduleId.endsWith(`/${name}.test.ts`));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
