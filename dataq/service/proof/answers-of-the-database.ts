import { verifyLedger } from "../src/ledger/verify.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";
import { databaseLine } from "../test/faulty-line.ts";
import { startInProcess } from "../test/in-process.ts";

export const title =
  "Answers of the database lost under calls: who is charged is answered, who is not is not";

const SECONDS = 30;
const CALLERS = 8;
/**
 * The share of PostgreSQL's answers that are lost together with their connection, after the statement was
 * executed.
 */
const LOST = 0.01;

/**
 * Sends calls without an Idempotency-Key, so that only the service itself can know whether they were charged.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const folder = await makeDataFolder("tables");
  const database = await openFolder(folder);
  const { line, url } = await databaseLine(database);
  const service = await startInProcess({ DATABASE_URL: url });
  let lost = 0;
  try {
    const { keys } = await service.account(1_000_000_000);
    line.decide = (side) => {
      if (side === "question" || Math.random() >= LOST) return "arrives";
      lost += 1;
      return "lost";
    };
    const end = Date.now() + SECONDS * 1_000;
    const statusOf = new Map<string, number>();
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      for (let n = 0; Date.now() < end; n++) {
        // Every second question repeats the one before, so it is charged in one step.
        const query = `found ${caller} ${n - (n % 2)}`;
        const body = { operation: "legal_cases", params: { query } };
        const answer = await service.call("/v1/data/query", { key: keys[0]!, body });
        statusOf.set(answer.headers.get("x-request-id")!, answer.status);
      }
    });
    await Promise.all(callers);
    line.decide = () => "arrives";
    const broken = (await verifyLedger(database)).findings.filter(({ breaches }) => breaches.length > 0);
    if (broken.length > 0) throw new Error(`Broken laws: ${JSON.stringify(broken)}`);
    const found = await database.pool.query<{ id: string }>(
      "select request_id as id from entry where kind = 'capture'",
    );
    const captured = new Set(found.rows.map(({ id }) => id));
    const answered = [...statusOf].filter(([, status]) => status === 200).map(([id]) => id);
    const unpaid = answered.filter((id) => !captured.has(id)).length;
    const unanswered = [...captured].filter((id) => statusOf.get(id) !== 200).length;
    print(
      "| answers lost | calls | answered | failed | answered and not charged | charged and not answered |",
    );
    print("|---:|---:|---:|---:|---:|---:|");
    const failed = statusOf.size - answered.length;
    print(`| ${lost} | ${statusOf.size} | ${answered.length} | ${failed} | ${unpaid} | ${unanswered} |`);
    if (unpaid + unanswered > 0)
      throw new Error("A call was charged and not answered, or the other way round.");
  } finally {
    line.decide = () => "arrives";
    await service[Symbol.asyncDispose]();
    await line.close();
    await database.close();
    await removeDataFolder(folder);
  }
}
