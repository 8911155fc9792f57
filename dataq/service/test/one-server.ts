import { PostgresServers } from "./postgres-server.ts";

/**
 * Runs before `test-run.ts`, where many processes run one test after another: a database on one server is ready sooner
 * than a server. Nothing of it is kept, so it waits for no disk.
 */
export default async function setUp(): Promise<() => Promise<void>> {
  const servers = new PostgresServers();
  process.env["TEST_DATABASE_URL"] ??= (await servers.primary({ fsync: "off" })).url();
  return () => servers[Symbol.asyncDispose]();
}
