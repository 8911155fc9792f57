import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Short files that take long. Where no times are known yet, Vitest goes by size: these came last, beside an idle core. */
const long = [
  "clients/python",
  "structured",
  "judged",
  "runner/slots",
  "runner/repeat",
  "killing",
  "crash",
  "hostile-gguf",
  "ledger-model",
];

/** The order of test files: what takes long first, so that at the end no worker waits for the other. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) =>
      long.some((name) => moduleId.endsWith(`/${name}.test.ts`));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
