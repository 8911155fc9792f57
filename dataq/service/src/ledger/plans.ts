import type { Queries } from "../database/database.ts";
import type { VolumeStep } from "./volume.ts";

/** Who publishes a version, and from when on it counts. */
interface Published {
  readonly effective_from: Date;
  readonly actor: string;
}

/** Announces a price for one account; without tokens, the list price. Returns its version. */
export async function publishAccountPrice(
  queries: Queries,
  price: Published & {
    readonly accountId: string;
    readonly operation: string;
    readonly tokens: number | null;
    readonly cached_tokens: number | null;
  },
): Promise<number> {
  const { accountId, operation, tokens, cached_tokens, effective_from, actor } = price;
  return versionOf(
    await queries.query(
      `insert into account_price (account_id, operation, version, tokens, cached_tokens, effective_from, actor)
       select $1, $2, coalesce(max(version), 0) + 1, $3, $4, $5, $6 from account_price
       where account_id = $1 and operation = $2 returning version`,
      [accountId, operation, tokens, cached_tokens, effective_from, actor],
    ),
  );
}

/** Announces how many calls of an operation are free on each day. Returns its version. */
export async function publishFreeTier(
  queries: Queries,
  tier: Published & { readonly operation: string; readonly calls: number },
): Promise<number> {
  const { operation, calls, effective_from, actor } = tier;
  return versionOf(
    await queries.query(
      `insert into free_tier (operation, version, calls, effective_from, actor)
       select $1, coalesce(max(version), 0) + 1, $2, $3, $4 from free_tier where operation = $1 returning version`,
      [operation, calls, effective_from, actor],
    ),
  );
}

/** Announces what accounts pay less by their volume. Returns its version. */
export async function publishVolumeLadder(
  queries: Queries,
  ladder: Published & { readonly steps: readonly VolumeStep[] },
): Promise<number> {
  const { steps, effective_from, actor } = ladder;
  return versionOf(
    await queries.query(
      `insert into volume_ladder (version, steps, effective_from, actor)
       select coalesce(max(version), 0) + 1, $1, $2, $3 from volume_ladder returning version`,
      [JSON.stringify(steps), effective_from, actor],
    ),
  );
}

function versionOf({ rows }: { readonly rows: readonly { readonly version?: number }[] }): number {
  return rows[0]!.version!;
}
