import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type StandIn, type StandInLaw, startStandIn } from "../../../test/national-laws-stand-in.ts";
import { PoliteClient } from "../origin/polite-client.ts";
import { pageSize } from "./list-page.ts";
import { ListStore } from "./list-store.ts";
import { readList } from "./read-list.ts";

const publisher = { en: "The publisher", zh: "发布机构" };
const codes = [120, 210, 220, 320, 230, 230, 230, 230];

function law(place: number, sxx: number | null = 1 + (place % 4)): StandInLaw {
  const gbrq = `${1980 + (place % 46)}-05-01`;
  return {
    bbbs: `d${place}`,
    title: `试验条例之${place}`,
    flxz: "行政法规",
    zdjgName: null,
    gbrq: place % 97 === 0 ? null : gbrq,
    sxrq: null,
    sxx,
    flfgCodeId: codes[place % codes.length] as number,
  };
}

describe("reading the official list", () => {
  let standIn: StandIn;
  let folder: string;
  const clients: PoliteClient[] = [];

  beforeAll(async () => {
    standIn = await startStandIn([]);
  });

  afterAll(() => standIn.close());

  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
    standIn.troubles.length = 0;
    standIn.obeysKinds = true;
    standIn.mostShown = 10_000;
    rmSync(folder, { recursive: true, force: true });
  });

  const begin = (laws: StandInLaw[]) => {
    folder = mkdtempSync(join(tmpdir(), "list-"));
    standIn.laws.splice(0, standIn.laws.length, ...laws);
    standIn.requests.length = 0;
  };
  const read = async (most = 10_000, today = "2026-11-27", isWhole = false) => {
    const client = new PoliteClient({ publisher, address: standIn.url, referer: standIn.url, paceMs: 0 });
    clients.push(client);
    standIn.mostShown = most;
    const store = new ListStore(folder);
    return readList({ client, publisher, store, today, mostOfQuestion: most }, isWhole);
  };
  const statesOf = (laws: readonly { readonly id: string; readonly state: number | null }[]) =>
    new Map(laws.map(({ id, state }) => [id, state]));
  const expected = () => new Map(standIn.laws.map(({ bbbs, sxx }) => [bbbs, sxx]));

  test("a list that one question shows is read page by page", async () => {
    begin(Array.from({ length: 120 }, (_, place) => law(place)));
    const { list, unseen } = await read();
    expect([statesOf(list.laws), unseen]).toEqual([expected(), 0]);
    expect(standIn.requests.map(({ body }) => body?.pageNum)).toEqual([1, 2, 3, 1, 1, 1, 1]);
  });

  test("a longer one is asked by kind, then by state, then by years", async () => {
    begin(
      Array.from({ length: 900 }, (_, place) => {
        const one = law(place, place % 5 === 0 ? 1 : 3);
        return { ...one, gbrq: one.gbrq ?? "2001-01-01" };
      }),
    );
    const { list, unseen } = await read(150);
    expect([statesOf(list.laws), unseen]).toEqual([expected(), 0]);
    const asked = standIn.requests.map(({ body }) => body);
    expect(asked.some((body) => body?.flfgCodeId.length === 10 && body.sxx.length === 1)).toBe(true);
    expect(asked.some((body) => body?.gbrq.length === 2)).toBe(true);
  });

  test("where the filter of kinds is not obeyed, states and years do", async () => {
    begin(Array.from({ length: 400 }, (_, place) => law(place)));
    standIn.obeysKinds = false;
    const { list, unseen } = await read(150);
    expect([statesOf(list.laws), unseen]).toEqual([expected(), 0]);
  });

  test("what nothing tells apart is counted as not shown", async () => {
    begin(Array.from({ length: 300 }, (_, place) => ({ ...law(place, 3), gbrq: null, flfgCodeId: 230 })));
    const { list, unseen } = await read(200);
    expect([list.laws.length, unseen]).toEqual([200, 100]);
    // The next reading does not take them for withdrawn.
    standIn.requests.length = 0;
    expect((await read(200, "2026-11-28")).isChanged).toBe(false);
    expect(standIn.requests).toHaveLength(5);
  });

  test("documents without a day are told where only years divide the list, and counted but once", async () => {
    begin(Array.from({ length: 600 }, (_, place) => ({ ...law(place + 1, 3), flfgCodeId: 230 })));
    const undated = standIn.laws.filter(({ gbrq }) => gbrq === null).length;
    expect(undated).toBe(6);
    expect((await read(150)).unseen).toBe(6);
    standIn.laws.push(law(1_000, 3));
    standIn.requests.length = 0;
    const { list, unseen } = await read(150, "2026-12-01");
    expect([list.laws.length, unseen]).toEqual([595, 6]);
  });

  test("once a month all of it is read, because counts do not tell everything", async () => {
    begin(Array.from({ length: 400 }, (_, place) => law(place)));
    await read();
    // Both are in force and on no first page, so the counts stay.
    standIn.laws.splice(202, 1);
    standIn.laws.push(law(1_002));
    expect((await read(10_000, "2026-12-20")).isChanged).toBe(false);
    const { list } = await read(10_000, "2026-12-27");
    expect(statesOf(list.laws)).toEqual(expected());
    expect(list.wholeOn).toBe("2026-12-27");
  });

  test("a reading of another day begins again", async () => {
    begin(Array.from({ length: 260 }, (_, place) => law(place)));
    standIn.troubles.push(...broken(2));
    await expect(read(10_000, "2026-11-27")).rejects.toThrow("another shape");
    standIn.requests.length = 0;
    await read(10_000, "2026-11-28");
    expect(standIn.requests).toHaveLength(10);
  });

  test("an update finds whatever was added, changed and withdrawn, with as few questions as that takes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 400 }),
        fc.array(
          fc.record({
            what: fc.constantFrom("add", "move", "move", "withdraw"),
            at: fc.nat(),
            to: fc.integer({ min: 1, max: 4 }),
          }),
          { maxLength: 6 },
        ),
        fc.constantFrom(120, 10_000),
        async (count, changes, most) => {
          begin(Array.from({ length: count }, (_, place) => law(place)));
          await read(most);
          let next = count;
          // One that came and one that went leave the counts as they were.
          const isSeen = (what: string) =>
            what !== "add" || !changes.some((other) => other.what === "withdraw");
          for (const { what, at, to } of changes.filter((change) => isSeen(change.what))) {
            const place = at % Math.max(1, standIn.laws.length);
            const old = standIn.laws[place];
            if (what === "add") standIn.laws.push(law(next++, to));
            // A law goes through its states in one direction: not yet, in force, amended, repealed.
            else if (what === "move" && old !== undefined && to < (old.sxx ?? 0)) old.sxx = to;
            else if (what === "withdraw" && standIn.laws.length > 1) standIn.laws.splice(place, 1);
          }
          standIn.requests.length = 0;
          const { list } = await read(most, "2026-12-01");
          expect(statesOf(list.laws)).toEqual(expected());
          expect(list.day).toBe("2026-12-01");
          if (changes.length === 0) expect(standIn.requests).toHaveLength(5);
          rmSync(folder, { recursive: true, force: true });
        },
      ),
      { numRuns: 40 },
    );
  }, 60_000);

  test("cut off at any question, the next reading asks only what is not here", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 60, max: 500 }),
        fc.array(fc.nat({ max: 6 }), { maxLength: 5 }),
        async (count, cuts) => {
          begin(Array.from({ length: count }, (_, place) => law(place)));
          for (const cut of cuts) {
            standIn.troubles.splice(0, standIn.troubles.length, ...broken(cut));
            await read().catch(() => undefined);
          }
          standIn.troubles.length = 0;
          const { list } = await read();
          expect(statesOf(list.laws)).toEqual(expected());
          // A reading that had ended before is followed by an update, of five questions.
          const pages = Math.ceil(count / pageSize);
          expect(standIn.requests.length).toBeLessThanOrEqual(pages + 4 + cuts.length * 6 + 5);
          rmSync(folder, { recursive: true, force: true });
        },
      ),
      { numRuns: 25 },
    );
  }, 60_000);
});

/** So many good answers, then one that ends the reading. */
function broken(good: number): StandIn["troubles"] {
  return [
    ...Array.from(
      { length: good },
      () => ({ kind: "other shape", change: (answer: object) => answer }) as const,
    ),
    { kind: "other shape", change: () => ({ code: 200 }) } as const,
  ];
}
