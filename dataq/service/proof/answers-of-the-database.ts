import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { verifyLedger } from "../src/ledger/verify.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";
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
  const proxy = await startLossyProxy(database.pool.options as unknown as Target);
  const service = await startInProcess({ DATABASE_URL: proxy.url });
  try {
    const { keys } = await service.account(1_000_000_000);
    proxy.share = LOST;
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
    proxy.share = 0;
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
    print(
      `| ${proxy.lost()} | ${statusOf.size} | ${answered.length} | ${failed} | ${unpaid} | ${unanswered} |`,
    );
    if (unpaid + unanswered > 0)
      throw new Error("A call was charged and not answered, or the other way round.");
  } finally {
    proxy.share = 0;
    await service[Symbol.asyncDispose]();
    proxy.close();
    await database.close();
    await removeDataFolder(folder);
  }
}

interface Target {
  /** The host: a folder with a socket, or an address. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** Forwards everything, but loses a share of the server's answers. */
async function startLossyProxy({ host, port, user, password, database }: Target) {
  let lost = 0;
  const server = createServer((client) => {
    const upstream = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
    client.on("data", (bytes) => upstream.write(bytes));
    upstream.on("data", (bytes) => {
      if (Math.random() >= proxy.share) return void client.write(bytes);
      lost += 1;
      end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy = {
    url: `postgresql://${user}:${encodeURIComponent(password)}@${address}/${database}`,
    share: 0,
    lost: () => lost,
    close: () => server.close(),
  };
  return proxy;
}
