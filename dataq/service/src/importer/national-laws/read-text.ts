import type { Bilingual } from "@dataq/contract";
import { z } from "zod";
import { readDocx } from "../docx/read-docx.ts";
import { ImportError } from "../import-error.ts";
import { NotThere, type PoliteClient } from "../origin/polite-client.ts";
import { type ListedLaw, readAnswer } from "./list-page.ts";
import { type OfficialText, textOf } from "./text-store.ts";

/** Asks for the address of a law's Word file, then for the file, and reads its paragraphs. */
export async function readText(
  client: PoliteClient,
  publisher: Bilingual,
  law: ListedLaw,
  today: string,
): Promise<OfficialText> {
  const known = { id: law.id, of: textOf(law), read: today };
  const what = { en: `the text of ${law.title}`, zh: `《${law.title}》的正文` };
  try {
    const path = `/law-search/download/pc?format=docx&bbbs=${law.id}`;
    const told = readAnswer(answer, publisher, what, await client.json(what, path));
    const address = told.data?.url ?? "";
    if (told.code !== 200 || address === "") return { ...known, lacks: "no_file" };
    let read = await readDocx(await client.file(what, address, mostBytes));
    // A file without a length may have been cut off.
    if ("problem" in read && read.problem === "not_docx")
      read = await readDocx(await client.file(what, address, mostBytes));
    if ("problem" in read) return { ...known, lacks: read.problem };
    return { ...known, paragraphs: read.paragraphs };
  } catch (error) {
    if (error instanceof NotThere) return { ...known, lacks: "no_file" };
    if (error instanceof ImportError && error.said.code === "too_large")
      return { ...known, lacks: "too_large" };
    throw error;
  }
}

const answer = z.object({
  code: z.number().int(),
  // Beside it is an address of the publisher's own network, which nobody else can reach.
  data: z.object({ url: z.url().max(4_000).nullish() }).nullish(),
});

/** Some have scanned tables. */
const mostBytes = 32 * 2 ** 20;
