import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createPlainServer, request as plainRequest } from "node:http";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dueCorpora } from "../src/background/refresh/refresh.ts";
import type { Database } from "../src/database/database.ts";
import { EngineIndex } from "../src/search/engine-index.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { OpenSearchAddress } from "../src/search/opensearch/connection.ts";
import { OpenSearchEngine, type OpenSearchOptions } from "../src/search/opensearch/opensearch-engine.ts";
import { PostingEngine } from "../src/search/postings/posting-engine.ts";
import type { IndexDocument, SearchIndex } from "../src/search/search-index.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { startInProcess } from "./in-process.ts";
import { MortalDatabase } from "./mortal-database.ts";
import { type OpenSearchServer, openSearchFolder, startOpenSearch } from "./opensearch-server.ts";
import { conformance } from "./search-conformance.ts";

describe.skipIf(openSearchFolder === undefined)(
  "OpenSearch (needs TEST_OPENSEARCH, its unpacked distribution, and Java 21)",
  () => {
    let folder: string;
    let database: Database;
    let server: OpenSearchServer;
    let index: SearchIndex;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startOpenSearch({ isBrief: true }), makeDataFolder("tables")]);
      database = await openFolder(folder);
      index = open({ options: { sizes: { index: 1_000, batch: 100 } } });
    });

    /** Reads the current snapshot for each question. */
    const open = ({
      address,
      options,
      on = database,
    }: {
      readonly address?: Partial<OpenSearchAddress>;
      readonly options?: OpenSearchOptions;
      readonly on?: Database;
    } = {}): SearchIndex =>
      new EngineIndex(
        on,
        {
          embedded: new PostingEngine(on),
          chosen: new OpenSearchEngine(on, { url: server.url, prefix: "dataq", ...address }, options),
        },
        () => Number.POSITIVE_INFINITY,
      );

    afterAll(async () => {
      await index?.close();
      await database?.close();
      if (folder !== undefined) await removeDataFolder(folder);
      await server?.remove();
    });

    conformance("OpenSearch", () => index);

    const words = (id: string, text: string): IndexDocument => ({
      id,
      texts: [{ text, weight: 1 }],
      terms: ["k:x"],
      date: null,
      body: { id },
    });
    const page = { offset: 0, limit: 10 };
    /** Several requests for an index, and several indices for a refresh, of few documents. */
    const sizes = { index: 40, batch: 15 };
    const homes = async () =>
      (
        await database.pool.query<{ home: string }>("select home from search_segment where home is not null")
      ).rows
        .map(({ home }) => home)
        .sort();
    const indices = async () =>
      Object.keys((await (await fetch(`${server.url}/dataq-*`)).json()) as object).sort();

    const send = async (path: string, method: string, body?: object) => {
      const { ok } = await fetch(`${server.url}/${path}`, {
        method,
        ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
      });
      expect(ok, path).toBe(true);
    };

    test("keeps no index that no snapshot names", async () => {
      await index.refresh("test:homes", each([words("a", "一")]), { dataset: "d", mode: "replace" });
      const [{ id } = { id: "" }] = (
        await database.pool.query<{ id: string }>("select id from search_engine")
      ).rows;
      for (const name of [`dataq-${id}-999999`, "dataq-another-1"])
        await fetch(`${server.url}/${name}`, { method: "PUT" });
      await index.refresh("test:homes", each([words("b", "二")]), { dataset: "d", mode: "replace" });
      expect(await indices()).toEqual([...(await homes()), "dataq-another-1"].sort());
    });

    test("takes over a corpus of posting blocks when it is built again, and gives it back", async () => {
      const corpus = "legal_cases";
      const plain = embeddedIndex(database, { now: () => Number.POSITIVE_INFINITY });
      const make = ({ id }: { id: string }) => words(id, `文本 ${id}`);
      const ask = async (one: SearchIndex) => {
        const found = await one.search(corpus, { query: { term: "文本" } }, page);
        return found?.hits.map(({ body }) => body.parse());
      };
      const all = [{ id: "a" }, { id: "b" }, { id: "c" }];
      await plain.refresh(corpus, each(all.slice(0, 2).map(make)), { dataset: "d", mode: "replace" });
      await index.refresh(corpus, each([make(all[2]!)]), { dataset: "e", mode: "replace" });
      expect(await ask(index)).toEqual(all);
      expect(await index.rebuild(corpus, make)).toBe(3);
      expect(await ask(index)).toEqual(all);
      await expect(ask(plain)).rejects.toMatchObject({ code: "unavailable" });
      await expect(plain.count(corpus, ["k:x"])).rejects.toMatchObject({ code: "unavailable" });
      const engine = { url: server.url, prefix: "dataq" };
      const due = () =>
        Promise.all([undefined, engine].map((each) => dueCorpora(database, new Date(), each)));
      expect(await due()).toEqual([[corpus], []]);
      expect(await plain.rebuild(corpus, make)).toBe(3);
      expect([await ask(plain), await ask(index)]).toEqual([all, all]);
      expect(await due()).toEqual([[], [corpus]]);
    });

    test("searches are unavailable while no node has one of the indices, instead of answering from the others", async () => {
      const corpus = "test:red";
      const one = open({ options: { sizes } });
      const list = Array.from({ length: 50 }, (_, number) => words(`n${number}`, `新 ${number}`));
      await one.refresh(corpus, each(list), { dataset: "d", mode: "replace" });
      await one.close();
      const [{ home } = { home: "" }] = (
        await database.pool.query<{ home: string }>(
          "select home from search_segment where corpus = $1 order by id limit 1",
          [corpus],
        )
      ).rows;
      // An index whose disk was lost: its name is known, and no node can have it.
      await send(home, "DELETE");
      await send(`${home}?wait_for_active_shards=0`, "PUT", {
        settings: { number_of_replicas: 0, "index.routing.allocation.require._name": "none" },
      });
      const asked = () =>
        Promise.all([
          index.search(corpus, { query: { term: "新" } }, page).then(
            (found) => found?.total,
            ({ code }) => code,
          ),
          index.count(corpus, ["k:x"]).catch(({ code }) => code),
          index.mostFrequent(corpus, ["7", "48"], 5).catch(({ code }) => code),
        ]);
      expect(await asked()).toEqual(["unavailable", "unavailable", "unavailable"]);
      await index.refresh(corpus, each(list), { dataset: "d", mode: "replace" });
      expect(await asked()).toEqual([50, 50, ["48", "7"]]);
      // A server with an index that no node has would never be ready after its restart.
      await send(`${home}/_settings`, "PUT", { "index.routing.allocation.require._name": null });
    });

    test("a refresh fails if an index is deleted meanwhile, keeps the old documents, and builds it again the next time", async () => {
      const corpus = "test:deleted";
      await index.refresh(corpus, each([words("old", "旧")]), { dataset: "d", mode: "replace" });
      const one = open({ options: { sizes } });
      async function* documents(isDeleted: boolean): AsyncGenerator<IndexDocument> {
        for (let number = 0; number < 35; number++) {
          if (isDeleted && number === 32) {
            const found = await database.pool.query<{ home: string }>(
              "select home from search_segment where corpus = $1 order by id desc limit 1",
              [corpus],
            );
            await send(found.rows[0]!.home, "DELETE");
          }
          yield words(`n${number}`, `新 ${number}`);
        }
      }
      const options = { dataset: "d", mode: "replace", resumeKey: "the same" } as const;
      await expect(one.refresh(corpus, documents(true), options)).rejects.toThrow(/lost documents of dataq-/);
      index.forget(corpus);
      expect(await index.count(corpus, ["k:x"])).toBe(1);
      await one.refresh(corpus, documents(false), options);
      await one.close();
      index.forget(corpus);
      expect((await index.search(corpus, { query: { term: "新" } }, page))?.total).toBe(35);
    });

    test("a refresh through a proxy that loses, cuts, replaces and refuses answers serves every document once", async () => {
      const corpus = "test:proxy";
      const proxy = await startFaultyProxy(server.url);
      const one = open({ address: { url: proxy.url }, options: { sizes, pauseMs: () => 1 } });
      try {
        const list = Array.from({ length: 70 }, (_, number) => words(`n${number}`, `新 ${number}`));
        const { size } = await one.refresh(corpus, each(list), { dataset: "d", mode: "replace" });
        expect(size).toBe(70);
        expect(proxy.faults()).toBeGreaterThan(8);
        expect((await index.search(corpus, { query: { term: "新" } }, page))?.total).toBe(70);
        expect(await index.mostFrequent(corpus, ["0", "39", "40", "69"], 9)).toEqual(["0", "39", "40", "69"]);
      } finally {
        await one.close();
        await proxy.close();
      }
    });

    test("signs in with a password over TLS, with the operator's certificate; otherwise searches are unavailable", async () => {
      const corpus = "test:signs-in";
      await index.refresh(corpus, each([words("a", "一")]), { dataset: "d", mode: "replace" });
      const guard = await startGuard(server.url, "us:er", "p@ss wörd");
      const credentials = { user: "us:er", password: "p@ss wörd" };
      const of = async (address: Partial<OpenSearchAddress>) => {
        const one = open({ address: { url: guard.url, ...address } });
        try {
          const { trouble } = await one.health();
          const found = await one.search(corpus, { query: { term: "一" } }, page).catch((error) => error);
          return [trouble, found.total ?? found.code];
        } finally {
          await one.close();
        }
      };
      try {
        expect(await of({ certificates: guard.certificate, credentials })).toEqual([null, 1]);
        const rejected = "OpenSearch rejected the credentials or lacks a permission for them.";
        expect(await of({ certificates: guard.certificate })).toEqual([rejected, "unavailable"]);
        expect(await of({ credentials })).toEqual([expect.stringContaining("certificate"), "unavailable"]);
        expect(await of({ url: "http://127.0.0.1:1" })).toEqual([
          expect.stringContaining("ECONNREFUSED"),
          "unavailable",
        ]);
      } finally {
        await guard.close();
      }
    });

    test("a service that is killed during a refresh leaves the old documents or the new ones, and the next refresh continues", async () => {
      const corpus = "test:mortal";
      await index.refresh(corpus, each([words("old", "旧")]), { dataset: "d", mode: "replace" });
      const mortal = new MortalDatabase(database);
      const killed = open({ on: mortal.database, options: { sizes } });
      const list = Array.from({ length: 50 }, (_, number) => words(`n${number}`, `新 ${number}`));
      const options = { dataset: "d", mode: "replace", resumeKey: "the same" } as const;
      const refresh = (killAt?: number) =>
        mortal.live(() => killed.refresh(corpus, each(list), options), killAt);
      const served: (number | undefined)[] = [];
      for (let killAt = 1; (await refresh(killAt)).killed; killAt++) {
        index.forget(corpus);
        served.push(await index.count(corpus, ["k:x"]));
      }
      await killed.close();
      expect(served.length).toBeGreaterThan(8);
      expect(served.filter((count) => count !== 1 && count !== 50)).toEqual([]);
      index.forget(corpus);
      expect((await index.search(corpus, { query: { term: "新" } }, page))?.total).toBe(50);
      await index.refresh(corpus, each([words("b", "二")]), { dataset: "d", mode: "replace" });
      expect((await indices()).filter((name) => name !== "dataq-another-1")).toEqual(await homes());
    });

    test("a refresh waits while the disk of OpenSearch is full, names the reason if it stays full, and then continues", async () => {
      const corpus = "test:full";
      await index.refresh(corpus, each([words("old", "旧")]), { dataset: "d", mode: "replace" });
      // OpenSearch itself sets this block when its disk is nearly full.
      const block = async (isFull: boolean | null) => {
        const [newest] = (
          await database.pool.query<{ home: string }>(
            "select home from search_segment where home <> '' order by id desc limit 1",
          )
        ).rows;
        const { ok } = await fetch(`${server.url}/${newest?.home}/_settings`, {
          method: "PUT",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ "index.blocks.read_only_allow_delete": isFull }),
        });
        expect(ok).toBe(true);
      };
      let pauses = 0;
      let isFreed = false;
      const pausing = open({
        options: {
          sizes,
          pauseMs: () => {
            pauses++;
            if (isFreed) void block(null);
            return isFreed ? 100 : 1;
          },
        },
      });
      async function* documents(): AsyncGenerator<IndexDocument> {
        for (let number = 0; number < 60; number++) {
          if (number === 25) await block(true);
          yield words(`n${number}`, `新 ${number}`);
        }
      }
      const options = { dataset: "d", mode: "replace", resumeKey: "the same" } as const;
      await expect(pausing.refresh(corpus, documents(), options)).rejects.toThrow("read-only");
      expect(pauses).toBeGreaterThan(5);
      expect((await index.search(corpus, { query: { term: "旧" } }, page))?.total).toBe(1);
      isFreed = true;
      const { size } = await pausing.refresh(corpus, documents(), options);
      await pausing.close();
      expect(size).toBe(60);
      expect(await index.count(corpus, ["k:x"])).toBe(60);
    });

    test("killed during a refresh: searches are unavailable, and the refresh waits and then serves every document once", async () => {
      const corpus = "test:killed";
      await index.refresh(corpus, each([words("old", "旧")]), { dataset: "d", mode: "replace" });
      const troubles: unknown[] = [];
      const restarted = Promise.withResolvers<void>();
      async function* documents(): AsyncGenerator<IndexDocument> {
        for (let number = 0; number < 70; number++) {
          if (number === 50) {
            await server.kill();
            troubles.push((await index.health()).trouble);
            troubles.push(
              await index.search(corpus, { query: { term: "旧" } }, page).catch((error) => error.code),
            );
            void server.start().then(restarted.resolve, restarted.reject);
          }
          yield words(`n${number}`, `新 ${number}`);
        }
      }
      // A minute in all, and never far behind the start of the server.
      const pauseMs = (tries: number) => Math.min(8_000, 1_000 * tries);
      const waiting = open({ options: { sizes, pauseMs } });
      const { size } = await waiting.refresh(corpus, documents(), { dataset: "d", mode: "replace" });
      await waiting.close();
      await restarted.promise;
      expect(troubles).toEqual([expect.stringContaining("ECONNREFUSED"), "unavailable"]);
      expect(size).toBe(70);
      const found = await index.search(corpus, { query: { term: "新" } }, page);
      expect(found?.total).toBe(70);
      expect(await index.count(corpus, ["k:x"])).toBe(70);
    });
  },
);

test("a service whose OpenSearch does not answer starts, says why searches are unavailable, and tells monitoring", async () => {
  await using service = await startInProcess({ DATAQ_SEARCH: "opensearch+http://127.0.0.1:1" });
  await expect.poll(() => service.log()).toMatch(/Searches are unavailable: .*ECONNREFUSED/);
  expect((await service.call("/readyz")).body).toEqual({ status: "ready", search: "down" });
  expect((await service.call("/metrics")).text).toContain("dataq_search_up 0");
  expect((await service.call("/v1/balance")).status).toBe(200);
});

/** A proxy of which only every third answer arrives. */
async function startFaultyProxy(url: string) {
  let requests = 0;
  let faults = 0;
  const proxy = createPlainServer((request, answer) => {
    const kind = requests++ % 9;
    if (kind % 3 !== 2) faults++;
    if (kind === 0) {
      request.resume().on("end", () => answer.writeHead(503).end("<html>no server</html>"));
      return;
    }
    if (kind === 3) {
      request.resume().on("end", () => answer.writeHead(429).end("{}"));
      return;
    }
    const passed = plainRequest(
      new URL(request.url ?? "/", url),
      { method: request.method, headers: request.headers },
      async (from) => {
        const body = Buffer.concat(await from.toArray());
        if (kind === 1) answer.destroy();
        else if (kind === 4) answer.writeHead(200).end(body.subarray(0, body.length / 2));
        else if (kind === 6) answer.writeHead(200).end("<html>Welcome</html>");
        else if (kind === 7) {
          answer.writeHead(200, { "content-length": body.length + 1 }).write(body);
          setImmediate(() => answer.destroy());
        } else answer.writeHead(from.statusCode ?? 502, from.headers).end(body);
      },
    );
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    faults: () => faults,
    close: async () => {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

/** A proxy that asks for a password and speaks TLS, as OpenSearch's security plugin does. */
async function startGuard(url: string, user: string, password: string) {
  const folder = mkdtempSync(join(tmpdir(), "dataq-guard-"));
  const [key, certificate] = ["key.pem", "certificate.pem"].map((name) => join(folder, name)) as [
    string,
    string,
  ];
  execFileSync(
    "openssl",
    // biome-ignore format: one option a line says less
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
      "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
    { stdio: "ignore" },
  );
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const guard = createServer(
    { key: readFileSync(key), cert: readFileSync(certificate) },
    (request, answer) => {
      if (request.headers.authorization !== expected) {
        answer.writeHead(401).end("Unauthorized");
        return;
      }
      const passed = plainRequest(
        new URL(request.url ?? "/", url),
        { method: request.method, headers: request.headers },
        (from) => from.pipe(answer.writeHead(from.statusCode ?? 502, from.headers)),
      );
      request.pipe(passed);
    },
  );
  await new Promise<void>((resolve) => guard.listen(0, "127.0.0.1", resolve));
  const { port } = guard.address() as { port: number };
  return {
    url: `https://127.0.0.1:${port}`,
    certificate: readFileSync(certificate, "utf8"),
    close: async () => {
      guard.closeAllConnections();
      await new Promise((resolve) => guard.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function* each(list: readonly IndexDocument[]): AsyncGenerator<IndexDocument> {
  yield* list;
}
