import { setTimeout as sleep } from "node:timers/promises";
import { startService } from "../test/service-process.ts";

export const title =
  "Limits in real time: waiting retry_after succeeds, nothing below the promised rate is refused";

const SECONDS = 60;

/** The only test of the limiter with a real clock. Everywhere else its clock is injected. */
export async function run(print: (line: string) => void): Promise<void> {
  await using service = await startService({ vendor: true });
  const open = async () =>
    (await service.call("/admin/v1/accounts", { body: { name: "real", tokens: 1e9, tier: "trial" } })).body
      .keys[0];
  const [steady, greedy] = [await open(), await open()];
  const ask = (key: string) =>
    service.call("/v1/data/estimate", { key, body: { operation: "legal_law_catalog" } });
  const end = Date.now() + SECONDS * 1000;

  // The limit is two per second: one call every 510 ms must never be refused.
  const within = { calls: 0, refused: 0 };
  const keepTo = async () => {
    for (let next = Date.now(); next < end; next += 510) {
      await sleep(Math.max(0, next - Date.now()));
      within.calls += 1;
      if ((await ask(steady)).status !== 200) within.refused += 1;
    }
  };
  // Sends calls as fast as possible. After each 429, waits exactly as long as the answer says.
  const beyond = { calls: 0, refused: 0, refusedAfterWait: 0 };
  const push = async () => {
    for (let waited = false; Date.now() < end; ) {
      const answer = await ask(greedy);
      beyond.calls += 1;
      if (answer.status === 429) {
        beyond.refused += 1;
        if (waited) beyond.refusedAfterWait += 1;
        await sleep(answer.body.retry_after * 1000);
      }
      waited = answer.status === 429;
    }
  };
  await Promise.all([keepTo(), push()]);
  print("| caller | calls | refused | refused after its wait |");
  print("|---|---:|---:|---:|");
  print(`| below the rate | ${within.calls} | ${within.refused} | – |`);
  print(`| as fast as it goes | ${beyond.calls} | ${beyond.refused} | ${beyond.refusedAfterWait} |`);
  if (within.refused > 0 || beyond.refusedAfterWait > 0)
    throw new Error("The limiter refused what it had promised.");
}

if (import.meta.main) await run(console.log);
