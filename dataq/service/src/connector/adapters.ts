import type { Adapter, AdapterParts } from "./adapter.ts";
import { arxivPapers } from "./adapters/arxiv.ts";
import { crossrefPapers } from "./adapters/crossref.ts";
import { doajJournals } from "./adapters/doaj.ts";
import { epoPatents } from "./adapters/epo.ts";
import { kuaidi100 } from "./adapters/kuaidi100.ts";
import { lensPatents } from "./adapters/lens.ts";
import { openAlexJournals, openAlexPapers, openAlexScholars } from "./adapters/openalex.ts";
import { orcidScholars } from "./adapters/orcid.ts";
import { track17 } from "./adapters/track17.ts";

/** What a description by data cannot say. A preset names them as `{"adapter": "kuaidi100"}`. */
export const adapters = {
  arxiv_papers: arxivPapers,
  crossref_papers: crossrefPapers,
  doaj_journals: doajJournals,
  epo_patents: epoPatents,
  kuaidi100,
  lens_patents: lensPatents,
  openalex_journals: openAlexJournals,
  openalex_papers: openAlexPapers,
  openalex_scholars: openAlexScholars,
  orcid_scholars: orcidScholars,
  track17,
} satisfies Readonly<Record<string, (parts: AdapterParts) => Adapter>>;
