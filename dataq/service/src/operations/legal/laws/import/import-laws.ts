import { rm } from "node:fs/promises";
import { containerOf } from "../../../../importer/format/bytes.ts";
import { extractFromZip } from "../../../../importer/format/zip.ts";
import { ImportError } from "../../../../importer/import-error.ts";
import type { LocalFile } from "../../../../importer/origin/local-file.ts";
import type { RunOptions } from "../../../../importer/runs.ts";
import type { Draft, FileTarget, RowListener } from "../../../../importer/target.ts";
import { readLawDatabase } from "./law-database.ts";
import { readLawRows } from "./law-rows.ts";
import type { LawPack, LawVersion } from "./law-version.ts";
import { lawFold, lawPacksCorpus, packDocument } from "./packs.ts";

/**
 * Imports versions of laws. The articles and the catalogue are made from the versions of all packs together.
 */
export const lawImport: FileTarget = {
  name: "legal_laws",
  corpus: lawPacksCorpus,
  read: readLaws,
  document: (record) => packDocument(record as unknown as LawPack),
  fold: lawFold,
};

async function* readLaws(
  file: LocalFile,
  told: RowListener,
  { acceptVersions }: RunOptions,
): AsyncGenerator<Draft> {
  const versions = await readVersions(file, told);
  if (versions.every(({ articles }) => articles.length === 0))
    throw new ImportError("no_article", { file: file.name });
  const seen = new Map<string, number>();
  for (const version of versions) {
    const id = `${version.facts.law_id}@${version.facts.version_date ?? ""}`;
    const times = (seen.get(id) ?? 0) + 1;
    seen.set(id, times);
    yield { ...version, id: times === 1 ? id : `${id}#${times}`, ...(acceptVersions && { accepted: true }) };
  }
}

async function readVersions(file: LocalFile, told: RowListener): Promise<LawVersion[]> {
  const container = await containerOf(file.path);
  if (container === "sqlite") return readLawDatabase(file.path, told);
  if (container === "zip") {
    // Unpacked next to the file under a unique name, so that two imports at once do not share it.
    const unpacked = `${file.path}.${process.pid}.${Date.now()}.db`;
    try {
      const name = await extractFromZip(file.path, (entry) => entry.endsWith(".db"), unpacked);
      if (name === undefined) throw new ImportError("no_law_database", { file: file.name });
      return readLawDatabase(unpacked, told);
    } finally {
      await rm(unpacked, { force: true });
    }
  }
  return readLawRows(file.path, told);
}
