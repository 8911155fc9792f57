import { chinaInstant, type Difference, type Provenance } from "@dataq/contract";
import { contentDigest } from "../importer/provenance.ts";

/** A record as one publisher has it. */
export type Published = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly source: Provenance;
};

/**
 * The numbers by which publishers mean the same thing, such as a DOI, as terms of the search index. A name is not one:
 * two people share a name, and two papers a title.
 */
export type Identities = (record: Published) => readonly string[];

/**
 * Puts together what belongs to the same thing: records that share an identity, directly or through another record.
 * The groups come in the order of their first records.
 */
export function alike(records: readonly Published[], identities: Identities): Published[][] {
  const groups = new Set<{ readonly records: Published[]; readonly known: Set<string> }>();
  for (const record of records) {
    const own = identities(record);
    const [first, ...others] = [...groups].filter(({ known }) => own.some((each) => known.has(each)));
    if (first === undefined) {
      groups.add({ records: [record], known: new Set(own) });
      continue;
    }
    for (const other of others) {
      first.records.push(...other.records);
      for (const each of other.known) first.known.add(each);
      groups.delete(other);
    }
    first.records.push(record);
    for (const each of own) first.known.add(each);
  }
  return [...groups].map((group) => group.records);
}

/**
 * One record of what several publishers know of a thing. Each field has the value of the first publisher that has one:
 * official ones before licensed ones before others, then what was retrieved last. The order of `records` does not matter.
 */
export function joined(records: readonly Published[]): Published {
  const parts = distinct(records).toSorted(byWeight);
  const [first] = parts as [Published];
  if (parts.length === 1) return first;
  const fields: Record<string, unknown> = { id: first.id };
  const differences: Difference[] = [];
  for (const name of new Set(parts.flatMap(Object.keys))) {
    if (notCompared.has(name)) continue;
    const said = parts.filter((part) => isSaid(part[name]));
    // A publisher that does not know whether a paper was retracted writes no; only a yes is a statement.
    const chosen = said.find((part) => part[name] === true) ?? said[0];
    fields[name] = chosen?.[name] ?? first[name] ?? null;
    if (new Set(said.map((part) => comparable(part[name]))).size < 2) continue;
    const order = [...said.filter((part) => part === chosen), ...said.filter((part) => part !== chosen)];
    differences.push({
      field: name,
      values: order.map(({ [name]: value, source, id }) => ({
        publisher: source.name,
        document_id: source.document_id ?? id,
        value,
      })),
    });
  }
  const publishers = parts.map(({ id, source: { publishers: _p, differences: _d, ...own } }) => ({
    document_id: id,
    ...own,
  }));
  const licences = unique(parts.map(({ source }) => source.licence));
  const moments = parts.map(({ source }) => Date.parse(source.retrieved_at));
  return {
    ...fields,
    id: first.id,
    source: {
      ...publishers[0]!,
      name: unique(parts.map(({ source }) => source.name)).join("; "),
      retrieved_at: chinaInstant(new Date(Math.min(...moments))),
      ...(licences.length > 0 && { licence: licences.join("; ") }),
      content_sha256: contentDigest(fields),
      publishers,
      ...(differences.length > 0 && { differences }),
    },
  };
}

/** The service adds these; the publishers did not say them. */
const notCompared: ReadonlySet<string> = new Set(["id", "source", "highlights", "score"]);

/** A publisher's own record is told once, however often it was found. */
function distinct(records: readonly Published[]): Published[] {
  const keyOf = ({ id, source }: Published) => `${source.name}\n${id}\n${source.content_sha256}`;
  return [...new Map(records.map((record) => [keyOf(record), record])).values()];
}

const weights = ["official", "licensed", "third_party", "sample"];

function byWeight(a: Published, b: Published): number {
  const kinds = weights.indexOf(a.source.kind) - weights.indexOf(b.source.kind);
  const newer = Date.parse(b.source.retrieved_at) - Date.parse(a.source.retrieved_at);
  return kinds || newer || order(a.source.name, b.source.name) || order(a.id, b.id) || byContent(a, b);
}

function byContent(a: Published, b: Published): number {
  return order(a.source.content_sha256, b.source.content_sha256);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isSaid(value: unknown): boolean {
  return (
    value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0)
  );
}

/** Case, width and spaces are no difference. */
function comparable(value: unknown): string {
  return JSON.stringify(value, sortedKeys).normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ");
}

function sortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => order(a, b)));
}

function unique(texts: readonly (string | undefined)[]): string[] {
  return [...new Set(texts.filter((each) => each !== undefined))];
}
