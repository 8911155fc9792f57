import type { Published } from "../../../sources/joining.ts";
import { arxivTerm, doiTerm, readArxivId } from "./corpus.ts";

/** A paper is known by its DOI, and a preprint by its number at arXiv, which is a DOI too. */
export function paperIdentities({ id, doi, source }: Published): string[] {
  const dois = typeof doi === "string" && /^(?:\D*)10\.\d{4,9}\/\S+$/.test(doi) ? [doiTerm(doi)] : [];
  const own = /^arxiv:/i.test(id) ? id : source.url?.startsWith("https://arxiv.org/") ? source.url : "";
  const numbers = [own, ...dois.map((each) => arxivOfDoi.exec(each)?.[1] ?? "")].map(readArxivId);
  return [...dois, ...numbers.filter((number) => number !== undefined).map(arxivTerm)];
}

const arxivOfDoi = /^d:10\.48550\/arxiv\.(.+)$/;
