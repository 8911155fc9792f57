// Asks both products without a pause while somebody upgrades them, and says what was answered and what was charged.
// on-debian.sh runs it with the Node of a package.
//   node load.mjs KEY MODEL FILE     until the file is there
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const [, , key, model, file] = process.argv;
const dataq = "http://127.0.0.1:11435";
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
const paid = { answers: 0, withError: 0, refused: 0, tokens: 0, longestMs: 0 };
const streams = { whole: 0, withError: 0, cut: 0, refused: 0, longestMs: 0 };
const failures = new Set();

const before = await balance();
await Promise.all([...[1, 2, 3].map((caller) => pay(caller)), stream()]);
const charged = before - (await balance());
console.log(
  JSON.stringify({ paid, charged, streams, ...(failures.size > 0 && { failures: [...failures] }) }),
);
const isWhole =
  [paid, streams].every(({ withError, refused }) => withError + refused === 0) && streams.cut === 0;
process.exit(charged === paid.tokens && isWhole ? 0 : 1);

async function balance() {
  for (let tries = 0; tries < 300; tries++) {
    const answer = await fetch(`${dataq}/v1/account`, { headers }).catch(() => null);
    if (answer?.ok) return (await answer.json()).balance.balance;
    await sleep(200);
  }
  throw new Error("dataq does not answer");
}

async function pay(caller) {
  for (let call = 0; !existsSync(file); call++) {
    const query = `档案保管条例 第二条 ${caller} ${call}`;
    const began = performance.now();
    try {
      const answer = await fetch(`${dataq}/v1/data/query`, {
        method: "POST",
        headers,
        body: JSON.stringify({ operation: "legal_laws", params: { query } }),
      });
      const body = await answer.json();
      paid.longestMs = Math.max(paid.longestMs, Math.round(performance.now() - began));
      if (answer.ok) {
        paid.answers += 1;
        paid.tokens += body.usage.tokens;
      } else {
        paid.withError += 1;
        failures.add(`${answer.status} ${JSON.stringify(body)}`);
      }
      // A key may ask sixty times a minute.
      await sleep(3_500);
    } catch (error) {
      paid.refused += 1;
      failures.add(`call: ${error.cause ?? error}`);
      await sleep(100);
    }
  }
}

/** A stream is whole if its last line says so, and has an error if that line says why. */
async function stream() {
  while (!existsSync(file)) {
    let text = "";
    const began = performance.now();
    try {
      const answer = await fetch("http://127.0.0.1:11434/api/generate", {
        method: "POST",
        body: JSON.stringify({ model, prompt: "Count:", options: { num_predict: 40 } }),
      });
      for await (const bytes of answer.body) text += Buffer.from(bytes).toString();
      const last = JSON.parse(text.trim().split("\n").at(-1));
      streams.longestMs = Math.max(streams.longestMs, Math.round(performance.now() - began));
      if (last.done) streams.whole += 1;
      else {
        streams.withError += 1;
        failures.add(`stream: ${JSON.stringify(last)}`);
        await sleep(100);
      }
    } catch (error) {
      failures.add(`stream: ${error.cause ?? error}`);
      if (text === "") streams.refused += 1;
      else streams.cut += 1;
      await sleep(100);
    }
  }
}
