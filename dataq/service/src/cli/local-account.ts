import type { Operator } from "./operator.ts";

export async function localAccount({ database }: Operator): Promise<string> {
  const found = await database.pool.query<{ id: string }>(
    "select id from account where role = 'admin' order by id limit 1",
  );
  return found.rows[0]!.id;
}
