import { findOperation, type Operation, type Provenance } from "@dataq/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { companyIdentities } from "../operations/enterprise/company-detail/identity.ts";
import { journalIdentities } from "../operations/research/journal-search/identity.ts";
import { paperIdentities } from "../operations/research/paper-search/identity.ts";
import { scholarIdentities } from "../operations/research/scholar-search/identity.ts";
import { alike, joined, type Published } from "./joining.ts";

const publishers = ["OpenAlex", "Crossref", "arXiv", "某图书馆", "The operator's list"];
const kinds = ["official", "licensed", "third_party"] as const;

/** Papers of which some share a DOI, all have one of three titles, and no two publishers agree on everything. */
const paper = fc
  .record({
    publisher: fc.constantFrom(...publishers),
    kind: fc.constantFrom(...kinds),
    number: fc.nat(99_999),
    doi: fc.option(fc.constantFrom("10.1000/a", "10.1000/A", "10.48550/arXiv.2301.00001", "10.1000/b")),
    title: fc.constantFrom("On deep learning", "研究", ""),
    citation_count: fc.option(fc.nat(3)),
    retracted: fc.boolean(),
    keywords: fc.array(fc.constantFrom("law", "法律"), { maxLength: 2 }),
    day: fc.integer({ min: 1, max: 28 }),
  })
  .map(({ publisher, kind, number, day, ...fields }): Published => {
    const source: Provenance = {
      name: publisher,
      kind,
      document_id: `${publisher} ${number}`,
      retrieved_at: `2026-02-${String(day).padStart(2, "0")}T00:00:00+08:00`,
      content_sha256: JSON.stringify(fields),
    };
    return { id: `${publisher} ${number}`, ...fields, source };
  });
const papers = fc.uniqueArray(paper, { maxLength: 12, selector: ({ id }) => id });

const join = (records: readonly Published[]) => alike(records, paperIdentities).map(joined);
const partsOf = ({ id, source }: Published) =>
  (source.publishers ?? [{ document_id: id }]).map((part) => part.document_id);

test("joining never loses a record, an identity or what a publisher said", () => {
  fc.assert(
    fc.property(papers, (records) => {
      const all = join(records);
      expect(all.flatMap(partsOf).toSorted()).toEqual(records.map(({ id }) => id).toSorted());
      for (const record of records) {
        const one = all.find((each) => partsOf(each).includes(record.id))!;
        for (const name of ["doi", "title", "citation_count", "keywords"]) {
          const value = record[name];
          if (value === null || value === "" || (value as unknown[]).length === 0) continue;
          const difference = one.source.differences?.find(({ field }) => field === name);
          if (difference === undefined)
            expect(String(one[name]).toLowerCase()).toBe(String(value).toLowerCase());
          else
            expect(difference.values).toContainEqual({
              publisher: record.source.name,
              document_id: record.id,
              value,
            });
        }
      }
    }),
  );
});

test("records are joined exactly if a chain of shared numbers connects them, never by a name", () => {
  fc.assert(
    fc.property(papers, (records) => {
      const numberOf = ({ doi }: Published) => (doi as string | null)?.toLowerCase() ?? null;
      const groups = alike(records, paperIdentities);
      for (const group of groups) {
        const numbers = new Set(group.map(numberOf));
        expect(numbers.size).toBe(1);
        if (group.length > 1) expect([...numbers][0]).not.toBeNull();
      }
      const known = groups.map(([first]) => numberOf(first!)).filter((number) => number !== null);
      expect(new Set(known).size).toBe(known.length);
    }),
  );
});

test("the order of the sources changes nothing", () => {
  const shuffled = papers.chain((records) =>
    fc.tuple(fc.constant(records), fc.shuffledSubarray(records, { minLength: records.length })),
  );
  const inOrder = (records: readonly Published[]) =>
    join(records)
      .map((each) => JSON.stringify(each))
      .toSorted();
  fc.assert(
    fc.property(shuffled, ([records, other]) => {
      expect(inOrder(other)).toEqual(inOrder(records));
    }),
  );
});

test("records that two others connect become one, whichever comes last", () => {
  const source = (name: string): Provenance => ({
    name,
    kind: "third_party",
    retrieved_at: "2026-02-01T00:00:00+08:00",
    content_sha256: name,
  });
  const preprint = { id: "arxiv:2301.00001v2", doi: "10.1000/j", source: source("arXiv") };
  const asDoi = { id: "W1", doi: "https://doi.org/10.48550/ARXIV.2301.00001", source: source("OpenAlex") };
  const article = { id: "10.1000/J", doi: "10.1000/J", retracted: true, source: source("Crossref") };
  for (const order of [
    [preprint, asDoi, article],
    [asDoi, article, preprint],
    [article, preprint, asDoi],
  ])
    expect(join(order)).toMatchObject([{ source: { name: "Crossref; OpenAlex; arXiv" }, retracted: true }]);
  expect(join([asDoi, article])).toHaveLength(2);
});

test("a yes outweighs a no, case is no difference, and the joined record has the operation's form", () => {
  const { example: _, record } = findOperation("research_journal_search") as Operation;
  const journal = (name: string, more: object): Published => ({
    ...Object.fromEntries(Object.keys(record.shape).map((field) => [field, null])),
    id: name,
    journal_id: name,
    subjects: [],
    indexed_in: [],
    highlights: [],
    ...more,
    source: {
      name,
      kind: "third_party",
      licence: name === "DOAJ" ? "CC BY-SA 4.0" : "CC0",
      retrieved_at: "2026-02-01T00:00:00+08:00",
      content_sha256: name,
    },
  });
  const [one, ...others] = alike(
    [
      journal("OpenAlex", { name: "CHINESE Journal", issn: "0254-4164", is_oa: false }),
      journal("DOAJ", { name: "Chinese  Journal", eissn: "0254-4164", issn: "2096-2223", is_oa: true }),
      journal("Other", { name: "Chinese Journal", issn: "0254-4165" }),
    ],
    journalIdentities,
  ).map(joined);
  expect(others).toHaveLength(1);
  expect(one).toMatchObject({ is_oa: true, source: { licence: "CC BY-SA 4.0; CC0" } });
  expect(one!.source.differences?.map(({ field }) => field).toSorted()).toEqual([
    "is_oa",
    "issn",
    "journal_id",
  ]);
  expect(record.strict().safeParse({ ...one, highlights: [], score: null }).error).toBeUndefined();
});

test.each([
  [
    scholarIdentities,
    { orcid: "https://orcid.org/0000-0002-1825-0097", name: "陈明" },
    ["o:0000-0002-1825-0097"],
  ],
  [scholarIdentities, { orcid: "0000-0002-1825-0098", name: "陈明" }, []],
  [journalIdentities, { issn: "0254-4164", eissn: "02544164" }, ["n:0254-4164", "n:0254-4164"]],
  [journalIdentities, { issn: "0254-4165", name: "学报" }, []],
  [companyIdentities, { tax_id: "91330106ma0000007q", name: "某公司" }, ["k:91330106MA0000007Q"]],
  [companyIdentities, { tax_id: "91330106MA0000007X", name: "某公司" }, []],
  [paperIdentities, { doi: "doi:10.1000/Z", title: "t" }, ["d:10.1000/z"]],
  [paperIdentities, { doi: "none", title: "t" }, []],
  // A number of another publisher that only looks like one of arXiv.
  [paperIdentities, { id: "2301.00001", doi: null }, []],
])("the numbers of a record are checked before they join: %#", (identities, record, wanted) => {
  const whole = { id: "x", source: { name: "x" }, ...record } as unknown as Published;
  expect(identities(whole)).toEqual(wanted);
});
