import { createHmac } from "node:crypto";
import pg from "pg";
import type { Connection } from "./postmaster.ts";

/** The role of the service on an embedded server. It is not a superuser and owns nothing. */
const ROLE = "dataq_service";

/** How the service connects. Its password is derived from the owner's, so it need not be stored. */
export function serviceConnection(owner: Connection): Connection {
  const password = createHmac("sha256", owner.password).update(ROLE).digest("base64url");
  return { ...owner, user: ROLE, password };
}

/** Creates the role if an older version made the data folder. Simultaneous starts may call it. */
export async function makeServiceRole(owner: Connection): Promise<void> {
  const client = new pg.Client(owner);
  await client.connect();
  try {
    const password = pg.escapeLiteral(serviceConnection(owner).password);
    await client.query(`do $$ begin
      create role ${ROLE} login password ${password};
    exception when duplicate_object or unique_violation then null; end $$`);
    await client.query("begin");
    await grantToServiceRole(client);
    await client.query("commit");
  } finally {
    await client.end();
  }
}

/**
 * Lets the role read and write every table, but only add to tables that a migration marked append-only in a comment.
 * With the rights of an owner or a superuser, a statement could switch off the triggers that protect the ledger.
 * `maintain` is for statistics after an import.
 */
export async function grantToServiceRole(client: pg.ClientBase): Promise<void> {
  const found = await client.query<{
    name: string;
    schema: string;
    only_grows: boolean;
    is_search: boolean;
    is_view: boolean;
  }>(
    `select c.oid::regclass::text as name, quote_ident(n.nspname) as schema,
            c.relname = 'migration' or coalesce(obj_description(c.oid, 'pg_class') = 'append-only', false) as only_grows,
            c.relname like 'search\\_%' as is_search, c.relkind = 'v' as is_view
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v') and n.nspname not in ('pg_catalog', 'information_schema')`,
  );
  const statements = [...new Set(found.rows.map(({ schema }) => schema))].flatMap((schema) => [
    `grant usage on schema ${schema} to ${ROLE}`,
    `grant usage, select on all sequences in schema ${schema} to ${ROLE}`,
  ]);
  for (const { name, only_grows, is_search, is_view } of found.rows) {
    const rights = is_view ? "select" : only_grows ? "select, insert" : "select, insert, update, delete";
    statements.push(`revoke all on ${name} from ${ROLE}`);
    statements.push(`grant ${is_search ? `${rights}, maintain` : rights} on ${name} to ${ROLE}`);
  }
  if (statements.length > 0) await client.query(statements.join("; "));
}
