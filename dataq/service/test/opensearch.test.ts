import { afterAll, beforeAll, describe } from "vitest";
import type { Database } from "../src/database/database.ts";
import { OpenSearchIndex } from "../src/search/opensearch/opensearch-index.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { type OpenSearchServer, openSearchFolder, startOpenSearch } from "./opensearch-server.ts";
import { conformance } from "./search-conformance.ts";

describe.skipIf(openSearchFolder === undefined)(
  "OpenSearch (needs TEST_OPENSEARCH, its unpacked distribution, and Java 21)",
  () => {
    let folder: string;
    let database: Database;
    let server: OpenSearchServer;
    let index: OpenSearchIndex;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startOpenSearch(), makeDataFolder("tables")]);
      database = await openFolder(folder);
      index = new OpenSearchIndex(
        database,
        { url: server.url, prefix: "dataq" },
        { now: () => Number.POSITIVE_INFINITY },
      );
    });

    afterAll(async () => {
      await index.close();
      await database.close();
      await removeDataFolder(folder);
      await server.remove();
    });

    conformance("OpenSearch", () => index);
  },
);
