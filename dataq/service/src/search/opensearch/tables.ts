import type { Migration } from "../../database/migrations.ts";

/**
 * PostgreSQL keeps what is served and all bodies, whichever engine finds them. A segment whose words are in OpenSearch
 * names the index there.
 */
export const openSearchMigrations: readonly Migration[] = [
  {
    name: "search/6-opensearch",
    up: `
alter table search_segment add column home text;

-- Tells our indices from those of another database in the same cluster.
create table search_engine (id text not null);
insert into search_engine values (left(replace(gen_random_uuid()::text, '-', ''), 10));
`,
  },
];
