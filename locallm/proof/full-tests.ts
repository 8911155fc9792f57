import { runFullSize } from "../../testing/full-tests.ts";

export const title = "Tests of locallm with all of their cases";

export async function run(print: (line: string) => void, folder: string): Promise<void> {
  runFullSize(
    [
      "locallm/test/growing-window.test.ts",
      "locallm/test/runner/batch-sizes.test.ts",
      "locallm/test/runner/conversations.test.ts",
      "locallm/test/scheduling.test.ts",
    ],
    print,
    folder,
  );
}
