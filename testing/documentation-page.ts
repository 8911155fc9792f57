import type { Page } from "playwright-core";

/**
 * Opens a page of the documentation site and waits until its script hears clicks and keys: the page can be
 * read long before. Vue names its app in the element once everything in it is mounted.
 */
export async function openDocumentation(page: Page, address: string): Promise<void> {
  await page.goto(address, { waitUntil: "load" });
  await page.evaluate(`(async () => {
    const latest = performance.now() + 45_000;
    while (!document.querySelector("#app")?.__vue_app__) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (performance.now() > latest) throw new Error("The script of the documentation page does not start.");
    }
  })()`);
}
