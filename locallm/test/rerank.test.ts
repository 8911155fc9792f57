import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasLlamaServer, startLlamaServer } from "./llama-server.ts";
import { createSmallStore, embeddingModelPath, type ModelStore } from "./model-store.ts";
import { withRankHead } from "./rank-head.ts";
import { startServerHere, type TestServer } from "./server-process.ts";
import { gaussian } from "./small-llama.ts";

interface Answer {
  results: { index: number; relevance_score: number; document?: { text: string } }[];
  usage: { total_tokens: number };
}

const query = "什么是 panda? Where does it live";
const documents = [
  "hi",
  "it is a bear",
  "The giant panda, sometimes called a panda bear, is a bear species endemic to China.",
  "",
  "[SEP] [CLS] [SEP]",
  "鱻犇羴 🐼 ".repeat(30),
  ...Array.from({ length: 9 }, (_, index) => `Text ${index} ${"about rain ".repeat((5 * index) % 13)}`),
];

describe.skipIf(embeddingModelPath === null)("rerank (needs TEST_MODELS)", () => {
  let store: ModelStore;
  let server: TestServer;
  let file: string;
  beforeAll(async () => {
    store = await createSmallStore();
    file = join(store.folder, "rank.gguf");
    const bytes = await readFile(embeddingModelPath!);
    await writeFile(file, await withRankHead(embeddingModelPath!, bytes, randomHead(384)));
    await store.add("ranker:1", file);
    const headless = join(store.folder, "headless.gguf");
    await writeFile(headless, await withRankHead(embeddingModelPath!, bytes, []));
    await store.add("headless:1", headless);
    await store.add("all-minilm:22m", embeddingModelPath!);
    server = await startServerHere({ models: store.folder, env: { LOCALLM_NUM_PARALLEL: "2" } });
  });
  afterAll(async () => {
    await server.stop();
    await store.remove();
  });
  const ask = (path: string, body: Record<string, unknown>) =>
    server.ask<Answer>(path, { model: "ranker:1", query, documents, ...body });

  it.skipIf(!hasLlamaServer)("gives llama-server's scores", async () => {
    const peer = await startLlamaServer(file, 2, "rerank");
    try {
      const theirs = (await (
        await fetch(`${peer.url}/rerank`, { method: "POST", body: JSON.stringify({ query, documents }) })
      ).json()) as Answer;
      const ours = await ask("/v1/rerank", {});
      const scores = byIndex(ours);
      expect(ours.results).toHaveLength(documents.length);
      // Kernels for other processors add in another order: 1.2e-4 on one with AVX2 alone. Scores of documents differ by 2e-2.
      for (const [index, score] of byIndex(theirs).entries())
        expect(Math.abs(scores[index]! - score), `document ${index}`).toBeLessThan(5e-4);
      expect(ours.usage.total_tokens).toBe(theirs.usage.total_tokens);
    } finally {
      await peer.stop();
    }
  });

  it("answers the best first on every path, and gives a document the score that it has alone", async () => {
    const whole = await ask("/v1/rerank", {});
    const scores = whole.results.map(({ relevance_score: score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    for (const path of ["/v2/rerank", "/rerank", "/api/rerank"]) {
      const few = await ask(path, { top_n: 3, return_documents: true });
      expect(few.results.map(({ index }) => index)).toEqual(
        whole.results.slice(0, 3).map(({ index }) => index),
      );
      for (const { index, document } of few.results) expect(document?.text).toBe(documents[index]);
    }
    const alone = await ask("/v1/rerank", { documents: [{ text: documents[2] }] });
    expect(alone.results[0]!.relevance_score).toBeCloseTo(byIndex(whole)[2]!, 3);
  });

  it("normalises when asked, and speaks the shape of text-embeddings-inference", async () => {
    const raw = byIndex(await ask("/v1/rerank", {}));
    const normal = byIndex(await ask("/v1/rerank", { normalize: true }));
    for (const [index, score] of normal.entries())
      expect(score).toBeCloseTo(1 / (1 + Math.exp(-raw[index]!)), 6);
    const body = { model: "ranker:1", query, texts: documents.slice(0, 3), return_text: true };
    const texts = await server.ask<{ index: number; score: number; text: string }[]>("/rerank", body);
    expect(texts).toHaveLength(3);
    for (const { index, score, text } of texts) {
      expect(score).toBeCloseTo(normal[index]!, 3);
      expect(text).toBe(documents[index]);
    }
  });

  it("answers the request of Open WebUI's external reranker, with a score for each document in its order", async () => {
    // Its client asks for all documents, sorts the results by index and reads the scores.
    const reply = await fetch(`${server.url}/v1/rerank`, {
      method: "POST",
      headers: {
        ...{ "Content-Type": "application/json", Authorization: "Bearer locallm" },
        ...{
          "X-OpenWebUI-User-Name": "%E6%9D%8E",
          "X-OpenWebUI-User-Id": "1",
          "X-OpenWebUI-User-Role": "user",
        },
      },
      body: JSON.stringify({ model: "ranker:1", query, documents, top_n: documents.length }),
    });
    const answer = (await reply.json()) as Answer;
    const sorted = answer.results.toSorted((a, b) => a.index - b.index);
    expect(sorted.map(({ index }) => index)).toEqual(documents.map((_, index) => index));
    const whole = byIndex(await ask("/v1/rerank", {}));
    for (const { index, relevance_score: score } of sorted) expect(score).toBeCloseTo(whole[index]!, 4);
  });

  it("cuts a document only when told to, and names the one that is too long", async () => {
    const long = "rain ".repeat(3000);
    const refused = await server.post("/v1/rerank", { model: "ranker:1", query, documents: ["a", long] });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("input 1 has");
    const cut = await ask("/v1/rerank", { documents: ["a", long], truncate: true });
    expect(cut.results).toHaveLength(2);
    const short = await ask("/v1/rerank", { documents: ["rain ".repeat(7)] });
    const capped = await ask("/v1/rerank", { documents: [long], max_tokens_per_doc: 7 });
    expect(capped.results[0]!.relevance_score).toBeCloseTo(short.results[0]!.relevance_score, 4);
  });

  it("refuses by name what a model is not made for, before it is loaded", async () => {
    const asked: [string, string, Record<string, unknown>, string][] = [
      ["/api/embed", "ranker:1", { input: "x" }, "does not support embeddings"],
      ["/v1/embeddings", "ranker:1", { input: "x" }, "does not support embeddings"],
      ["/api/chat", "ranker:1", { messages: [{ role: "user", content: "x" }] }, "does not support chat"],
      ["/api/generate", "ranker:1", { prompt: "x" }, "does not support generate"],
      ["/v1/rerank", "all-minilm:22m", { query, documents }, "does not rerank"],
      ["/v1/rerank", "small:a", { query, documents }, "does not rerank"],
      ["/v1/rerank", "headless:1", { query, documents }, "does not rerank"],
      ["/v1/rerank", "ranker:1", { query }, "documents must be a list of texts"],
    ];
    for (const [path, model, body, message] of asked) {
      const reply = await server.post(path, { model, ...body });
      expect(reply.status, `${path} ${model}`).toBe(400);
      expect(await reply.text(), `${path} ${model}`).toContain(message);
    }
    const { capabilities } = await server.ask<{ capabilities: string[] }>("/api/show", { model: "ranker:1" });
    expect(capabilities).toEqual(["rerank"]);
    const headless = await server.ask<{ capabilities: string[] }>("/api/show", { model: "headless:1" });
    expect(headless.capabilities).toEqual([]);
  });

  it("lets a short call pass a long one", async () => {
    const order: string[] = [];
    const long = ask("/v1/rerank", { documents: Array.from({ length: 150 }, (_, i) => `${i} rain`) });
    const ended = long.then(() => order.push("long"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await ask("/v1/rerank", { documents: ["a"] });
    order.push("short");
    await ended;
    expect(order).toEqual(["short", "long"]);
  });
});

function byIndex({ results }: Answer): number[] {
  const scores: number[] = [];
  for (const { index, relevance_score: score } of results) scores[index] = score;
  return scores;
}

/** A head of two layers, as BERT's classifiers have it. */
function randomHead(width: number) {
  const random = gaussian(20_261_127);
  const tensor = (name: string, shape: number[]) => {
    const data = Buffer.alloc(4 * shape.reduce((product, each) => product * each, 1));
    for (let at = 0; at < data.length; at += 4) data.writeFloatLE(random() * 0.02, at);
    return { name, shape, data };
  };
  return [
    tensor("cls.weight", [width, width]),
    tensor("cls.bias", [width]),
    tensor("cls.output.weight", [width, 1]),
    tensor("cls.output.bias", [1]),
  ];
}
