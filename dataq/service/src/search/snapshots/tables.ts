import type { Migration } from "../../database/migrations.ts";

/**
 * A corpus is served from a snapshot: a list of segments, each with a bit set of dead documents. A segment never
 * changes once it is ready; a refresh adds one and makes a new snapshot. Large builds have tables of their own
 * (`own-tables.ts`). Whichever engine finds the words, the bodies are here; a segment whose words are in OpenSearch names
 * the index there.
 */
export const searchMigrations: readonly Migration[] = [
  {
    name: "search/1-posting-blocks",
    up: `
create table search_segment (
  id bigint generated always as identity primary key,
  corpus text not null,
  dataset text not null,
  documents int not null default 0,
  tokens bigint not null default 0,
  lengths bytea not null default '',
  dates bytea not null default '',
  analysis text not null,
  is_ready boolean not null default false,
  created_at timestamptz not null default now()
);
create index on search_segment (corpus);

create table search_posting (
  term text collate "C" not null,
  segment bigint not null,
  documents int not null,
  data bytea not null,
  -- Read for phrases alone.
  places bytea,
  primary key (term, segment)
);
alter table search_posting alter column data set storage external;
alter table search_posting alter column places set storage external;

create table search_document (
  segment bigint not null,
  ordinal int not null,
  id text collate "C" not null,
  body bytea not null,
  primary key (segment, ordinal)
);
alter table search_document alter column body set storage external;
create index on search_document (id, segment);

create table search_snapshot (
  id bigint generated always as identity primary key,
  corpus text not null,
  size int not null,
  created_at timestamptz not null default now(),
  retired_at timestamptz
);
create index on search_snapshot (corpus);

create table search_snapshot_segment (
  snapshot bigint not null references search_snapshot on delete cascade,
  segment bigint not null references search_segment,
  dead bytea,
  primary key (snapshot, segment)
);
create index on search_snapshot_segment (segment);

create table search_lexicon (
  version text primary key,
  words text[] not null,
  created_at timestamptz not null default now()
);

create table search_corpus (
  corpus text primary key,
  snapshot bigint not null references search_snapshot,
  refreshed_at timestamptz not null,
  next_refresh_at timestamptz
);
`,
  },
  {
    name: "search/2-resume",
    up: `
alter table search_segment add column resume_key text;
alter table search_document alter column body set statistics 0;
alter table search_posting alter column data set statistics 0;
alter table search_posting alter column places set statistics 0;
`,
  },
  {
    name: "search/3-kept-snapshots",
    // What was replaced or removed can be restored until then.
    up: "alter table search_snapshot add column kept_until timestamptz",
  },
  {
    name: "search/4-postings-by-segment",
    // A replaced segment is deleted as a whole.
    up: "create index search_posting_segment on search_posting (segment)",
  },
  {
    name: "search/5-partitions",
    // The tables of before become the default partitions: an older version, which knows no others, still writes to them.
    up: `
alter table search_segment add column own_tables bigint;

alter table search_posting rename to search_posting_shared;
alter index search_posting_pkey rename to search_posting_shared_pkey;
create table search_posting (
  term text collate "C" not null,
  segment bigint not null,
  documents int not null,
  data bytea not null,
  places bytea,
  primary key (term, segment)
) partition by list (segment);
alter table search_posting alter column data set storage external;
alter table search_posting alter column places set storage external;
alter table search_posting alter column data set statistics 0;
alter table search_posting alter column places set statistics 0;
alter table search_posting attach partition search_posting_shared default;

alter table search_document rename to search_document_shared;
alter index search_document_pkey rename to search_document_shared_pkey;
create table search_document (
  segment bigint not null,
  ordinal int not null,
  id text collate "C" not null,
  body bytea not null,
  primary key (segment, ordinal)
) partition by list (segment);
create index on search_document (id, segment);
alter table search_document alter column body set storage external;
alter table search_document alter column body set statistics 0;
alter table search_document attach partition search_document_shared default;
`,
  },
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
