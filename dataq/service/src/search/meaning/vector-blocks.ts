import type { Migration } from "../../database/migrations.ts";

/** Number of documents in a block, and so of the vectors that an interrupted build loses. */
export const blockDocuments = 256;

/** How many blocks a segment has. */
export function blocksOf({ documents }: { readonly documents: number }): number {
  return Math.ceil(documents / blockDocuments);
}

/**
 * Vectors of documents, in the order of their segment. They are kept by model, so that a model that is configured
 * again finds its vectors, and are deleted with their segment.
 */
export const vectorMigrations: readonly Migration[] = [
  {
    name: "search/5-vector-blocks",
    up: `
create table search_vector_block (
  -- Name and digest of the model.
  model text collate "C" not null,
  segment bigint not null references search_segment on delete cascade,
  block int not null,
  dimension int not null,
  -- 16 bytes of a hash of each text: a text that did not change keeps its vector in a new segment.
  digests bytea not null,
  vectors bytea not null,
  primary key (segment, model, block)
);
alter table search_vector_block alter column digests set storage external;
alter table search_vector_block alter column vectors set storage external;
alter table search_vector_block alter column vectors set statistics 0;
`,
  },
];

export const digestBytes = 16;
