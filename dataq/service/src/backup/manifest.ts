import { z } from "zod";

/** A name with its schema, as SQL. */
const qualified = z.string().regex(/^(\w+|"\w+")\.(\w+|"\w+")$/);

/** The first file of a backup: what it is a backup of. */
export const manifest = z.strictObject({
  format: z.literal(1),
  /** The version of dataq that made it. */
  version: z.string(),
  taken_at: z.iso.datetime(),
  postgres: z.string(),
  migrations: z.array(z.string()),
  /** The fingerprint of the secret that the keys were made with. */
  pepper: z.string().nullable(),
  /** In the order in which they can be loaded: a table comes after those that it refers to. */
  tables: z.array(z.strictObject({ name: qualified, columns: z.array(z.string()) })),
  sequences: z.array(z.strictObject({ name: qualified, value: z.number() })),
});
export type Manifest = z.infer<typeof manifest>;

/** The last file of a backup: the rows of each table, and the SHA-256 of each piece. Without it, a backup is incomplete. */
export const contents = z.strictObject({
  rows: z.record(z.string(), z.number()),
  pieces: z.record(z.string(), z.string()),
});
export type Contents = z.infer<typeof contents>;

export const manifestName = "manifest.json";
export const contentsName = "contents.json";

/** Bytes of a piece before compression. */
export const pieceBytes = 4_194_304;

/** Jobs of the queue, which is a library's: they are stored as what was ordered, and ordered again. */
export const jobs = {
  name: "graphile_worker.job",
  columns: ["identifier", "payload", "run_at", "max_attempts", "key", "priority", "flags"],
};
