import { createRequire } from "node:module";
import type { Updatable } from "@locallm/updates";
import { readConfig } from "../config.ts";
import { openDownload } from "../importer/origin/download.ts";

/** This program, and where newer versions of it are. */
export function updatable(): Updatable {
  const { releases, releaseKey } = readConfig();
  const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };
  return {
    product: "dataq",
    version,
    modules: new URL("../../", import.meta.url),
    from: releases ?? null,
    key: releaseKey ?? null,
    variables: { from: "DATAQ_RELEASES", key: "DATAQ_RELEASE_KEY" },
    get: async (address) => {
      const response = await openDownload(address);
      const length = Number(response.headers["content-length"]);
      const bytes = Number.isSafeInteger(length) ? length : null;
      return { status: response.statusCode ?? 0, bytes, body: response };
    },
  };
}
