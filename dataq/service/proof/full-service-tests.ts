import { runFullSize } from "../../../testing/full-tests.ts";

export const title = "Tests of dataq with all of their cases";

export async function run(print: (line: string) => void, folder: string): Promise<void> {
  runFullSize(
    [
      "dataq/client/test/sync.test.ts",
      "dataq/service/src/query/usage.test.ts",
      "dataq/service/test/access.test.ts",
      "dataq/service/test/filters.test.ts",
      "dataq/service/test/hostile.test.ts",
    ],
    print,
    folder,
  );
}
