import { type Warning, warningText } from "@dataq/contract";

/** Warnings as an English caller reads them. */
export function told(warnings: readonly Warning[] = []): string[] {
  return warnings.map((each) => warningText(each, "en"));
}
