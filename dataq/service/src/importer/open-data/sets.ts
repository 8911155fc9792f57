import { readFileSync } from "node:fs";
import { findOperation } from "@dataq/contract";
import { z } from "zod";
import { ImportError } from "../import-error.ts";
import { beginningOf, type Publisher } from "../publisher.ts";
import { rowsFile } from "./rows.ts";

const bilingual = z.strictObject({ en: z.string().min(1), zh: z.string().min(1) });
const identifier = z.string().regex(/^[a-z][a-z0-9-]{2,40}$/);

const setFile = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,100}$/),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().positive(),
  /** What the file is imported as, in this order. */
  targets: z.array(z.string()).min(1),
  /** Which of its rows, and how they are read; all of them as they are if absent. */
  rows: rowsFile.optional(),
});

const common = {
  name: identifier,
  title: bilingual,
  /** The operations that have real records with it; none for tables that help to make records. */
  makes: z.array(z.string().refine((name) => findOperation(name) !== undefined, "is not an operation")),
  /** Where the records were taken from: a package at a version, or a repository at a commit. */
  publishers: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        /** Its name in each language, where it has one. */
        title: bilingual.optional(),
        url: z.url({ protocol: /^https$/ }),
        at: z.string().min(1),
        licence: z.string().nullable(),
        /** The files of the repository or package. */
        files: z.array(z.string().min(1)).optional(),
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
};

/** Files that were prepared, each known by its digest. */
const fileSet = z.strictObject({
  ...common,
  origin: z.literal("files").default("files"),
  files: z.array(setFile).min(1),
  /** A Python package with the same records, which is used where no mirror has the files. */
  package: z.string().nullable(),
  /** The day on which the records were taken from their publishers. */
  taken: z.iso.date(),
  /** About how long an import takes. */
  seconds: z.number().int().positive(),
});

/** Read from its publisher, request by request, when the operator says so. */
const liveSet = z.strictObject({
  ...common,
  origin: z.literal("live"),
  address: z.url({ protocol: /^https$/ }),
  /** About how many requests a first reading takes, for what people are told before it. */
  requests: z.strictObject({ list: z.number().int().positive(), texts: z.number().int().positive() }),
  /** What its records are imported as. */
  targets: z.array(z.string()).min(1),
  /** The day on which descriptions of the publisher's calls were read. */
  described: z.iso.date(),
});

/** A file that its publisher replaces again and again under one address, so that it has no digest. */
const addressSet = z.strictObject({
  ...common,
  origin: z.literal("address"),
  address: z.url({ protocol: /^https$/ }),
  /** Its name in a mirror. */
  file: setFile.shape.name,
  /** About how long it is. */
  bytes: z.number().int().positive(),
  /** About how long an import takes. */
  seconds: z.number().int().positive(),
  targets: z.array(z.string()).min(1),
  rows: rowsFile,
  /** The day on which descriptions of the file were read. */
  described: z.iso.date(),
});

const catalogue = z
  .strictObject({ sets: z.array(z.union([liveSet, addressSet, fileSet])) })
  .refine(({ sets }) => new Set(sets.map(({ name }) => name)).size === sets.length, "two sets have one name");

/** A set of open data that `dataq data get` brings. */
export type OpenSet = FileSet | AddressSet | LiveSet;
export type FileSet = z.infer<typeof fileSet>;
export type AddressSet = z.infer<typeof addressSet>;
export type LiveSet = z.infer<typeof liveSet>;
export type OpenSetFile = FileSet["files"][number];

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

/** The sets of files, which a mirror may have. */
export function fileSets(): readonly FileSet[] {
  return openSets().filter(isOfFiles);
}

export function isOfAddress(set: OpenSet): set is AddressSet {
  return set.origin === "address";
}

export function isOfFiles(set: OpenSet): set is FileSet {
  return set.origin === "files";
}

/** The publishers as records name them, with the day on which the records were taken from them. */
export function publishersOf({ publishers }: OpenSet, taken: string): readonly Publisher[] {
  return publishers.map(({ name, url, licence }) => ({
    name,
    url,
    licence,
    retrievedAt: beginningOf(taken),
  }));
}

export function bytesOf(set: OpenSet): number {
  if (isOfAddress(set)) return set.bytes;
  return isOfFiles(set) ? set.files.reduce((sum, { bytes }) => sum + bytes, 0) : 0;
}
