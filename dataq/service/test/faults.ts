import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

/**
 * Serious and critical findings of axe. axe is injected in a way that the page's content security policy does not
 * block.
 */
export async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(source);
  const violations = (await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  )) as Violation[];
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) =>
      `${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(" ")} (${failureSummary.split("\n")[1]?.trim()})`).join("; ")}`.slice(
        0,
        400,
      ),
    );
}
