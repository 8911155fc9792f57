import { readFileSync } from "node:fs";
import { findOperation } from "@dataq/contract";
import { z } from "zod";
import { ImportError } from "../import-error.ts";
import { beginningOf, type Publisher } from "../publisher.ts";

const bilingual = z.strictObject({ en: z.string().min(1), zh: z.string().min(1) });
const identifier = z.string().regex(/^[a-z][a-z0-9-]{2,40}$/);

const setFile = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,100}$/),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().positive(),
  /** What the file is imported as, in this order. */
  targets: z.array(z.string()).min(1),
});

const openSet = z.strictObject({
  name: identifier,
  title: bilingual,
  /** The operations that have real records with it; none for tables that help to make records. */
  makes: z.array(z.string().refine((name) => findOperation(name) !== undefined, "is not an operation")),
  files: z.array(setFile).min(1),
  /** A Python package with the same records, which is used where no mirror has the files. */
  package: z.string().nullable(),
  /** Where the records were taken from: a package at a version, or a repository at a commit. */
  publishers: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        url: z.url({ protocol: /^https$/ }),
        at: z.string().min(1),
        licence: z.string().nullable(),
      }),
    )
    .min(1),
  kind: z.enum(["official", "licensed", "third_party"]),
  /** A name, such as MIT, is the same in both languages. */
  licence: z.union([
    z
      .string()
      .min(1)
      .transform((name) => ({ en: name, zh: name })),
    bilingual,
  ]),
  /** What the licence asks of who uses the records; null for nothing. */
  duties: bilingual.nullable(),
  /** Which years, platforms, laws, kinds. */
  coverage: bilingual,
  /** The day on which the records were taken from their publishers. */
  taken: z.iso.date(),
  /** About how long an import takes. */
  seconds: z.number().int().positive(),
});

const catalogue = z
  .strictObject({ sets: z.array(openSet) })
  .refine(({ sets }) => new Set(sets.map(({ name }) => name)).size === sets.length, "two sets have one name");

/** A set of open data that `dataq data get` brings. */
export type OpenSet = z.infer<typeof openSet>;
export type OpenSetFile = OpenSet["files"][number];

let read: readonly OpenSet[] | undefined;

/** The catalogue of open data, sets.json. Throws if it is not as it must be. */
export function openSets(): readonly OpenSet[] {
  read ??= catalogue.parse(JSON.parse(readFileSync(new URL("sets.json", import.meta.url), "utf8"))).sets;
  return read;
}

export function findSet(name: string): OpenSet {
  const found = openSets().find((set) => set.name === name);
  if (found === undefined) throw new ImportError("no_set", { name, sets: openSets().map((set) => set.name) });
  return found;
}

/** The publishers as records name them. */
export function publishersOf({ publishers, taken }: OpenSet): readonly Publisher[] {
  return publishers.map(({ name, url, licence }) => ({
    name,
    url,
    licence,
    retrievedAt: beginningOf(taken),
  }));
}

export function bytesOf({ files }: OpenSet): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
