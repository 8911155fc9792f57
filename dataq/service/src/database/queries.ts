import type pg from "pg";

/** Runs statements: each by itself, or all of them in one transaction (`inTransaction`). */
export interface Queries {
  query<Row extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>;
}
