import type { Page } from "playwright-core";

/** Stores a conversation in the chat page's own format. */
export async function keepConversation(
  page: Page,
  messages: readonly object[],
  more: object = {},
): Promise<void> {
  const kept = {
    id: "kept",
    model: "small:tools",
    changedMs: 1,
    system: "",
    options: { num_predict: 4 },
    tools: [],
    messages,
    ...more,
  };
  await page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open("locallm", 1);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const table = opening.result.transaction("conversations", "readwrite").objectStore("conversations");
      table.put(${JSON.stringify(kept)}).onsuccess = () => resolve(opening.result.close());
    };
  })`);
}
