import type { Bilingual } from "@dataq/contract";
import { type Message, say } from "../message.ts";
import type { PoliteClient } from "../origin/polite-client.ts";
import {
  kindGroups,
  type ListedLaw,
  type ListPage,
  type ListQuestion,
  listBody,
  listPath,
  mostOfQuestion,
  pageSize,
  readListPage,
} from "./list-page.ts";
import type { ListStore, OfficialList } from "./list-store.ts";

export interface ReadListNeeds {
  readonly client: PoliteClient;
  readonly publisher: Bilingual;
  readonly store: ListStore;
  /** Today in China. */
  readonly today: string;
  /** More documents than this of one question are not shown. */
  readonly mostOfQuestion?: number;
  readonly progress?: (message: Message) => void;
}

/** The list as it is now, and whether anything but its day is new. */
export interface ListReading {
  readonly list: OfficialList;
  readonly isChanged: boolean;
  /** Documents that the publisher counts and does not show; 0 usually. */
  readonly unseen: number;
}

/**
 * Reads the official list: all of it the first time, then only what changed. The list is written when it is whole, so a
 * process that was killed leaves the old one, and the pages that it had read for the next.
 */
export async function readList(needs: ReadListNeeds, isWhole = false): Promise<ListReading> {
  const { store, today } = needs;
  const had = await store.read();
  const found = await store.journal.open(today);
  if (found > 0) needs.progress?.(say("list_goes_on", { pages: found }));
  const reading = new Reading(needs);
  const isFresh = had !== undefined && Date.parse(today) - Date.parse(had.wholeOn) < wholeEveryMs;
  const updated = isFresh && !isWhole ? await reading.update(had) : undefined;
  const list = updated ?? (await reading.whole());
  await store.write(list);
  const isChanged = JSON.stringify(had?.laws) !== JSON.stringify(list.laws);
  return { list, isChanged, unseen: Math.max(0, list.total - list.laws.length) };
}

class Reading {
  readonly #needs: ReadListNeeds;
  readonly #most: number;
  #toldMs = 0;
  /** Pages that were asked now, and how long that took. */
  #asked = 0;
  #begunMs = performance.now();

  constructor(needs: ReadListNeeds) {
    this.#needs = needs;
    this.#most = needs.mostOfQuestion ?? mostOfQuestion;
  }

  async whole(): Promise<OfficialList> {
    const laws = new Map<string, ListedLaw>();
    const first = await this.#page({}, 1);
    let done = 0;
    for await (const page of this.#pages({}, first)) {
      for (const law of page.laws) laws.set(law.id, law);
      this.#tell(++done, Math.ceil(first.total / pageSize));
    }
    const counts = [...(await this.#states())].map(([state, { total }]) => [state, total] as const);
    // The order of the publisher's pages is not promised, so the list is in ours.
    const { today: day } = this.#needs;
    return { day, wholeOn: day, total: first.total, counts, laws: inOrder(laws.values()) };
  }

  /**
   * Asks each state's count, and then only the states that have more than is held: a law that changes leaves one state
   * and is found in another. Undefined if the counts do not agree after that, for example because documents were
   * withdrawn: then the list must be read as a whole. Once a month it is read as a whole in any case.
   */
  async update(had: OfficialList): Promise<OfficialList | undefined> {
    const all = await this.#page({}, 1);
    const laws = new Map(had.laws.map((law) => [law.id, law]));
    const take = (page: ListPage) => {
      for (const law of page.laws) laws.set(law.id, law);
    };
    const held = (state: number) => [...laws.values()].filter((law) => law.state === state).length;
    // The publisher may count more than it shows.
    const hidden = new Map(had.counts.map(([state, total]) => [state, total - held(state)]));
    const lacking = (state: number, total: number) => total - (hidden.get(state) ?? 0) - held(state);
    const allHidden = had.total - had.laws.length;
    take(all);
    const firsts = await this.#states();
    for (const page of firsts.values()) take(page);
    const unread = [...firsts].sort(([, a], [, b]) => a.total - b.total);
    for (;;) {
      const place = unread.findIndex(([state, { total }]) => lacking(state, total) > 0);
      const gainer = unread.splice(place, place === -1 ? 0 : 1)[0];
      if (gainer === undefined) break;
      const [state, first] = gainer;
      let done = 0;
      for await (const page of this.#pages({ states: [state] }, first)) {
        take(page);
        this.#tell(++done, Math.ceil(first.total / pageSize));
        if (lacking(state, first.total) <= 0) break;
      }
    }
    const counts = [...firsts].map(([state, { total }]) => [state, total] as const);
    const agrees =
      counts.every(([state, total]) => lacking(state, total) === 0) && all.total - laws.size === allHidden;
    return agrees
      ? { ...had, day: this.#needs.today, total: all.total, counts, laws: inOrder(laws.values()) }
      : undefined;
  }

  /** The first page of each state, which has its count. */
  async #states(): Promise<ReadonlyMap<number, ListPage>> {
    const firsts = new Map<number, ListPage>();
    for (const state of [4, 1, 2, 3]) firsts.set(state, await this.#page({ states: [state] }, 1));
    return firsts;
  }

  /** All pages of a question, whose first page is known. One that has too many documents is asked in parts. */
  async *#pages(question: ListQuestion, first: ListPage): AsyncGenerator<ListPage> {
    if (first.total > this.#most) {
      const parts = await this.#partsOf(question, first.total);
      if (parts !== undefined) {
        for (const [part, page] of parts) yield* this.#pages(part, page);
        return;
      }
    }
    yield first;
    const last = Math.ceil(Math.min(first.total, this.#most) / pageSize);
    for (let number = 2; number <= last; number++) {
      const page = await this.#page(question, number);
      yield page;
      // The publisher shows no more, whatever it counts.
      if (page.laws.length === 0) return;
    }
  }

  /** Questions that together have what one has; undefined if the publisher does not tell them apart. */
  async #partsOf(
    question: ListQuestion,
    total: number,
  ): Promise<readonly (readonly [ListQuestion, ListPage])[] | undefined> {
    for (const parts of splits(question, this.#needs.today)) {
      const firsts: [ListQuestion, ListPage][] = [];
      for (const part of parts) firsts.push([part, await this.#page(part, 1)]);
      const sum = firsts.reduce((all, [, page]) => all + page.total, 0);
      // Some documents have no day, so years may leave a few out. A filter that is not obeyed counts all in each part.
      const isObeyed = firsts.every(([, page]) => page.total < total);
      if (isObeyed && sum >= total * leastShown && sum <= total * mostShown) return firsts;
    }
    return undefined;
  }

  async #page(question: ListQuestion, number: number): Promise<ListPage> {
    const { client, publisher, store, today } = this.#needs;
    const key = JSON.stringify([question, number]);
    const known = store.journal.get(key);
    if (known !== undefined) return known;
    const what = { en: `page ${number} of the list`, zh: `目录第 ${number} 页` };
    const page = readListPage(publisher, what, await client.json(what, listPath, listBody(question, number)));
    await store.journal.add(key, today, page);
    this.#asked++;
    return page;
  }

  #tell(done: number, pages: number): void {
    const now = performance.now();
    if (now - this.#toldMs < tellEveryMs || this.#asked === 0) return;
    this.#toldMs = now;
    const eachMs = Math.max(this.#needs.client.paceMs, (now - this.#begunMs) / this.#asked);
    const left = Math.max(0, pages - done);
    this.#needs.progress?.(
      say("reading_list", { done, pages, minutes: Math.ceil((left * eachMs) / 60_000) }),
    );
  }
}

/** Ways to ask a question in parts, the best first. */
function splits(question: ListQuestion, today: string): ListQuestion[][] {
  const ways: ListQuestion[][] = [];
  if (question.kinds === undefined) ways.push(kindGroups.map((kinds) => ({ ...question, kinds })));
  if (question.states === undefined)
    ways.push([4, 3, 2, 1].map((state) => ({ ...question, states: [state] })));
  const [from, to] = question.promulgated ?? ["1949-01-01", `${Number(today.slice(0, 4)) + 1}-12-31`];
  const [first, last] = [Number(from.slice(0, 4)), Number(to.slice(0, 4))];
  if (last > first) {
    // Most regulations are young.
    const middle = Math.max(first, Math.min(last - 1, Math.floor(last - (last - first) / 3)));
    ways.push([
      { ...question, promulgated: [`${middle + 1}-01-01`, to] },
      { ...question, promulgated: [from, `${middle}-12-31`] },
    ]);
  }
  return ways;
}

function inOrder(laws: Iterable<ListedLaw>): ListedLaw[] {
  return [...laws].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The list may change between two questions. */
const [leastShown, mostShown] = [0.98, 1.02];
const tellEveryMs = 5_000;
/** Counts do not tell that one document came and another went, nor that a title was put right. */
const wholeEveryMs = 30 * 86_400_000;
