import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../../../../fuzz/random.ts";
import { roles } from "../../src/accounts/scope.ts";
import { findDue, refreshDue } from "../../src/background/refresh/refresh.ts";
import { isAway, isCutOff } from "../../src/database/connection-loss.ts";
import { fetchOrigin } from "../../src/importer/origin/origin.ts";
import { sealEntries } from "../../src/ledger/seal.ts";
import { verifyLedger } from "../../src/ledger/verify.ts";
import { importAny } from "../../src/operations/imports.ts";
import { embeddedIndex } from "../../src/search/open-index.ts";
import type { Fate, FaultyLine } from "../faulty-line.ts";
import { KnownAccount } from "./account.ts";
import { brokenLaws } from "./laws.ts";
import type { Answer, Place, World } from "./world.ts";

export interface Played {
  /** How often each kind of step and of fault happened. */
  readonly counts: Readonly<Record<string, number>>;
  /** The first thing that was wrong. */
  readonly breach: string | undefined;
}

const steps = [
  ...Array<"call">(8).fill("call"),
  ...Array<"calls at once">(5).fill("calls at once"),
  ...Array<"call again">(3).fill("call again"),
  "call a day later",
  ...Array<"sweep">(3).fill("sweep"),
  ...Array<"clock">(3).fill("clock"),
  "payment",
  "payment",
  "adjustment",
  "refund",
  "refund",
  "credit limit",
  "freeze",
  "cap",
  "message",
  "message",
  "import",
  "refresh",
] as const;

type Step = (typeof steps)[number] | "deadlines pass";

const faults = [
  ...Array<"none">(2).fill("none"),
  ...Array<"database">(8).fill("database"),
  ...Array<"caller">(4).fill("caller"),
  "fail-over",
  "cut off",
  "cut off",
  "refused",
  "refused",
  "caller leaves",
] as const;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** No claim of a running call is older. */
const LONGEST_CLAIM_MS = 300_000;

/** Longer than a service repeats a statement. What it had begun ends by its deadline. */
const LONG_MS = 9_000;

const OPERATION = "research_journal_search";

/** Plays one seed on a new account: steps and faults, the laws after every step, and at the end what must have ended. */
export async function play(world: World, seed: number): Promise<Played> {
  const counts: Record<string, number> = {};
  const story = new Story(world, seed, (what) => {
    counts[what] = (counts[what] ?? 0) + 1;
  });
  let step = 0;
  const uncaught: unknown[] = [];
  // Would end the process of a service.
  const catching = (error: unknown) => void uncaught.push(error);
  process.on("unhandledRejection", catching);
  try {
    await story.begin();
    for (; step < story.length; step++) {
      await story.step();
      await story.check(false);
      if (uncaught.length > 0) throw new Error(`nobody catches ${String((uncaught[0] as Error).stack)}`);
    }
    await story.end();
    await story.check(true);
    return { counts, breach: undefined };
  } catch (error) {
    world.sources.onRun = () => {};
    return { counts, breach: `step ${step} (${story.at}): ${(error as Error).message}` };
  } finally {
    process.off("unhandledRejection", catching);
  }
}

class Story {
  at = "the beginning";
  readonly length: number;
  readonly #world: World;
  readonly #random: Random;
  readonly #seed: number;
  readonly #count: (what: string) => void;
  #account!: KnownAccount;
  #keyId = "";
  #names = 0;
  /** So many entries of the account are sealed. */
  #sealed = 0;
  #webhook = "";
  /** The journal as served: of the last import, or of those that may have ended. */
  #titles: string[] = [];
  /** Nothing was ever imported into this world, as far as anybody was told. */
  #mayBeEmpty = false;
  #hasImported = false;
  /** Ends when the database is back that was cut off while a source ran. */
  #cut: Promise<void> | undefined;
  /** What comes next whatever the seed says, without a fault. */
  #following: Step[] = [];

  constructor(world: World, seed: number, count: (what: string) => void) {
    this.#world = world;
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#count = count;
    this.length = 8 + this.#random.below(14);
  }

  async begin(): Promise<void> {
    const world = this.#world;
    const random = this.#random;
    // Eight in the evening in Beijing, in a month that a few steps may leave.
    world.nowMs = Date.parse("2026-03-30T12:00:00Z") + (this.#seed % 200) * DAY_MS * 3;
    world.receiver.answer(204);
    const [place] = world.places as [Place];
    const opening = random.pick([4_000, 12_000, 40_000, 400_000]);
    const account = { name: `seed ${this.#seed}`, tokens: opening, tier: "operator", keys: 0 };
    const { account_id: id } = await this.#told("POST", "/admin/v1/accounts", account);
    const made = await this.#told("POST", `/admin/v1/accounts/${id}/keys`, {
      scopes: roles.owner,
    });
    this.#account = new KnownAccount(world, id, made.keys[0], opening);
    this.#keyId = made.data[0].id;
    const webhook = await world.ask(place, "POST", "/v1/webhooks", {
      key: this.#account.key,
      body: { url: world.receiver.url, events: ["balance.low", "key.refused"] },
    });
    if (webhook?.status !== 201) throw new Error(`no webhook: ${JSON.stringify(webhook)}`);
    this.#webhook = webhook.body.id;
    this.#titles = await this.#served();
    this.#mayBeEmpty = this.#titles.length === 0;
  }

  async step(): Promise<void> {
    const random = this.#random;
    const following = this.#following.shift();
    const step = following ?? random.pick(steps);
    const fault = following === undefined ? random.pick(faults) : "none";
    this.at = fault === "none" ? step : `${step}, ${fault}`;
    this.#count(step);
    if (fault !== "none") this.#count(`fault: ${fault}`);
    const { copies, over } = this.#break(fault);
    const place = random.pick(this.#world.places);
    try {
      await Promise.all([this.#do(step, place, copies), over(), this.#sweepMeanwhile()]);
      await this.#cut;
    } finally {
      this.#cut = undefined;
      this.#mend();
    }
    if (step === "sweep" && fault === "none") await this.#assertReleased();
    // A call may have left a hold or a claim.
    if ((fault === "refused" || fault === "cut off") && random.below(2) === 0)
      this.#following.push("deadlines pass", "sweep");
  }

  /** What nobody ended in time is ended by a sweep. */
  async #assertReleased(): Promise<void> {
    const { nowMs } = this.#world;
    const left = await this.#numberOf(
      `select (select count(*) from hold where account_id = $1 and deadline < $2) +
              (select count(*) from idempotency where account_id = $1 and outcome is null and created_at < $3) as n`,
      [this.#account.id, new Date(nowMs), new Date(nowMs - LONGEST_CLAIM_MS)],
    );
    if (left > 0) throw new Error(`${left} holds or claims are left after a sweep`);
  }

  /** A service sweeps every ten seconds, whatever else it does. */
  async #sweepMeanwhile(): Promise<void> {
    const random = this.#random;
    if (random.below(8) > 0) return;
    this.#count("sweep meanwhile");
    const place = random.pick(this.#world.places);
    await sleep(random.below(20));
    await place.service.sweep();
  }

  async #sweepBy(places: readonly Place[]): Promise<void> {
    for (const { service } of places) await service.sweep();
  }

  /** Laws of the books, and what the account's callers know. */
  async check(isEnd: boolean): Promise<void> {
    const { database, nowMs } = this.#world;
    const breaches = [...(await brokenLaws(database)), ...(await this.#account.breaches(isEnd))];
    // A chain that was sealed after every step shows at the end what was changed between them.
    if (this.#account.entries > this.#sealed) await sealEntries(database, new Date(nowMs));
    this.#sealed = this.#account.entries;
    if (isEnd)
      for (const { law, text, breaches: found } of (await verifyLedger(database, "new", new Date(nowMs)))
        .findings)
        breaches.push(...found.map((breach) => `${law} ${text}: ${breach}`));
    if (breaches.length > 0) throw new Error(breaches.join("; "));
  }

  /** Without faults, everything ends: holds, claims, questions with a name, payments, messages, imports. */
  async end(): Promise<void> {
    const world = this.#world;
    this.at = "the end";
    await this.#told("PATCH", `/admin/v1/accounts/${this.#account.id}`, { frozen: false });
    // Past the lifetime of every hold and every claim.
    world.nowMs += HOUR_MS;
    this.#account.clockMoved();
    await this.#sweepBy(world.places);
    for (const asked of this.#account.asked)
      if (asked.name !== undefined && asked.answers.length === 0) await this.#untilTold(asked);
    for (const [reference, isKnown] of this.#account.payments)
      if (!isKnown) await this.#account.pay(reference, 10_000, world.places[0]!);
    const openOnes = () =>
      this.#numberOf(
        "select (select count(*) from hold where account_id = $1) + (select count(*) from idempotency where account_id = $1 and outcome is null) as n",
        [this.#account.id],
      );
    // A call whose caller left may still run, and opens its hold after the sweep.
    let open = await openOnes();
    for (let tries = 0; open > 0 && tries < 100; tries++) {
      await sleep(50);
      world.nowMs += 60_000;
      await this.#sweepBy(world.places);
      open = await openOnes();
    }
    if (open > 0) throw new Error(`${open} holds or claims did not end`);
    await this.#messagesEnd();
    if (this.#hasImported) await this.#import("the last");
    await this.#connectionsRest();
  }

  async #do(step: Step, place: Place, copies: number): Promise<unknown> {
    const random = this.#random;
    const { id } = this.#account;
    const world = this.#world;
    switch (step) {
      case "call":
        return this.#account.ask(this.#question(), place, copies);
      case "calls at once": {
        const some = Array.from({ length: 2 + random.below(3) }, () => this.#question());
        // One of them is asked of both services at once.
        const twins = random.below(2) === 0 ? [some[0]!] : [];
        const everywhere = [...some, ...twins].map((asked, index) => ({
          asked,
          at: world.places[index % 2]!,
        }));
        return Promise.all(everywhere.map(({ asked, at }) => this.#account.ask(asked, at, copies)));
      }
      case "call again": {
        const named = this.#named();
        return named.length > 0 && this.#account.ask(random.pick(named), place, copies);
      }
      case "call a day later": {
        const named = this.#named();
        if (named.length === 0) return undefined;
        const asked = random.pick(named);
        world.nowMs = asked.firstMs + DAY_MS + random.pick([-1_000, -1, 0, 1, 60_000]);
        this.#account.clockMoved();
        if (random.below(2) === 0) await place.service.sweep();
        return this.#account.ask(asked, place, copies);
      }
      case "payment":
        return this.#account.pay(`${this.#seed}-${random.below(3)}`, 10_000, place);
      case "adjustment":
        return world.ask(place, "POST", `/admin/v1/accounts/${id}/adjust`, {
          body: { tokens: random.pick([-9_000, -1, 1, 7_000]), reason: "books" },
        });
      case "refund": {
        const heard = this.#account.asked.flatMap(({ answers }) =>
          answers.filter(({ tokens }) => tokens > 0),
        );
        if (heard.length === 0) return undefined;
        const { requestId, tokens } = random.pick(heard);
        return world.ask(place, "POST", "/admin/v1/refunds", {
          body: {
            request_id: requestId,
            tokens: random.pick([tokens, Math.ceil(tokens / 2)]),
            reason: "books",
          },
        });
      }
      case "credit limit":
        return world.ask(place, "PATCH", `/admin/v1/accounts/${id}`, {
          body: { credit_limit: random.pick([0, 3_000, 20_000]) },
        });
      case "freeze":
        return world.ask(place, "PATCH", `/admin/v1/accounts/${id}`, {
          body: { frozen: random.below(3) === 0 },
        });
      case "cap":
        return world.database.query("update api_key set monthly_cap = $2 where id = $1", [
          this.#keyId,
          random.pick([null, 5_000, 30_000]),
        ]);
      case "sweep":
        return place.service.sweep();
      case "clock":
        return this.#moveClock();
      case "deadlines pass":
        world.nowMs += random.pick([121_000, 301_000, HOUR_MS, 26 * HOUR_MS]);
        return undefined;
      case "message":
        world.receiver.answer(random.pick([204, 500, { status: 302 }, { status: 200, body: "ok" }]));
        await world.database.query("select webhook_send($1, 'key.refused', 'key_x', '{}', now())", [id]);
        return this.#hurry();
      case "import":
        return this.#import(`${this.#seed}-${++this.#names}`);
      case "refresh":
        return this.#refresh();
    }
  }

  #question() {
    const random = this.#random;
    const what = random.pick([
      "found",
      "found",
      "found",
      "found",
      "empty",
      "missing",
      "short",
      "throw",
      "fail:upstream_error",
      "hang",
    ]);
    const operation = random.pick(["legal_cases", "legal_laws", "research_paper_search"]);
    // Few different questions, so that some are answered from the cache.
    const query = `${what} ${this.#seed} ${random.below(4)}`;
    const body = { operation, params: { query }, ...(random.below(6) === 0 && { cache: "bypass" }) };
    const name = random.below(2) === 0 ? `${this.#seed}-${++this.#names}` : undefined;
    return this.#account.add(body, name);
  }

  /** Questions that may be asked again; half the time those with an answer that was not heard, or a final failure. */
  #named() {
    const named = this.#account.asked.filter(({ name }) => name !== undefined);
    const odd = named.filter(({ unheard, final }) => unheard > 0 || final.length > 0);
    return odd.length > 0 && this.#random.below(2) === 0 ? odd : named;
  }

  #moveClock(): void {
    const world = this.#world;
    const midnight = Math.ceil((world.nowMs + 8 * HOUR_MS) / DAY_MS) * DAY_MS - 8 * HOUR_MS;
    world.nowMs = this.#random.pick([
      world.nowMs + 1,
      world.nowMs + 61_000,
      world.nowMs + 200_000,
      world.nowMs + 26 * HOUR_MS,
      world.nowMs + 33 * DAY_MS,
      midnight - 1,
      midnight,
      world.nowMs - 1,
      world.nowMs - 5_000,
      world.nowMs - HOUR_MS,
      world.nowMs - 30 * HOUR_MS,
    ]);
  }

  /** Arms one fault. `copies` is how many requests a caller's may become; `over` is what breaks meanwhile. */
  #break(fault: (typeof faults)[number]): { copies: number; over(): Promise<void> } {
    const world = this.#world;
    const random = this.#random;
    const none = { copies: 1, over: async () => {} };
    switch (fault) {
      case "none":
        return none;
      case "database": {
        const fate = random.pick<Fate>(["lost", "lost", "cut", "late"]);
        const side = random.pick(["answer", "answer", "question"] as const);
        const about = random.pick(["ledger-", "ledger-", "ledger-", "commit", "idempotency", undefined]);
        if (about === undefined) this.#once(world.databaseLines(), side, random.below(12), fate);
        else this.#onceAbout(about, world.databaseLines(), side, random.below(3), fate);
        return none;
      }
      case "caller": {
        const callers = world.places.map((place) => place.callers);
        const fate = random.pick<Fate>(["lost", "cut", "late", "twice"]);
        const side = fate === "twice" ? "question" : random.pick(["answer", "question"] as const);
        this.#once(callers, side, random.below(2), fate);
        return fate === "twice" ? { ...none, copies: 2 } : none;
      }
      case "caller leaves": {
        const after = 1 + random.below(2);
        let runs = 0;
        world.sources.onRun = async () => {
          if (++runs === after) for (const { callers } of world.places) callers.break();
          await sleep(5);
        };
        return none;
      }
      case "refused": {
        const about = random.pick(["ledger-settle", "ledger-settle", "ledger-", "idempotency"]);
        this.#onceAbout(about, world.databaseLines(), "question", random.below(2), "refused");
        return none;
      }
      case "fail-over": {
        const afterMs = random.below(40);
        return { ...none, over: () => sleep(afterMs).then(() => world.failOver()) };
      }
      case "cut off": {
        const places = random.pick([[world.places[0]!], [world.places[1]!], world.places]);
        const [afterMs, forMs] = [
          random.below(30),
          random.pick([20, 20, 300, 300, 300, 900, 900, 900, LONG_MS]),
        ];
        const others = world.places.filter((place) => !places.includes(place));
        // To the other service, this one looks as if it had ended, once PostgreSQL has seen that its connection is gone.
        const meanwhile =
          random.below(2) === 0 ? () => sleep(60).then(() => this.#sweepBy(others)) : undefined;
        const cutOff = () => {
          world.isAwayForLong ||= forMs === LONG_MS;
          return world.cutOff(places, forMs, meanwhile);
        };
        // A source runs while the call has a hold, which ends by its deadline if the database stays away.
        if (random.below(2) === 0) {
          world.sources.onRun = () => {
            this.#cut ??= cutOff();
          };
          return none;
        }
        return { ...none, over: () => sleep(afterMs).then(cutOff) };
      }
    }
  }

  /** The n-th piece of that side, on whichever of the lines. */
  #once(lines: readonly FaultyLine[], side: "question" | "answer", after: number, fate: Fate): void {
    let left = after;
    for (const line of lines) line.decide = (from) => (from === side && left-- === 0 ? fate : "arrives");
  }

  /** The n-th statement that contains these words, or the answer to it. */
  #onceAbout(
    words: string,
    lines: readonly FaultyLine[],
    side: "question" | "answer",
    after: number,
    fate: Fate,
  ): void {
    let left = after;
    for (const line of lines) {
      let isNext = false;
      line.decide = (from, piece) => {
        const isAbout = from === "question" && piece.includes(words) && left-- === 0;
        if (side === "question") return isAbout ? fate : "arrives";
        isNext ||= isAbout;
        if (from === "question" || !isNext) return "arrives";
        isNext = false;
        return fate;
      };
    }
  }

  #mend(): void {
    this.#world.sources.onRun = () => {};
    this.#world.isAwayForLong = false;
    for (const line of [...this.#world.databaseLines(), ...this.#world.places.map((place) => place.callers)])
      line.decide = () => "arrives";
  }

  /** A question whose caller has heard nothing yet, until something final is heard. */
  async #untilTold(asked: Parameters<KnownAccount["ask"]>[0]): Promise<void> {
    for (let tries = 0; tries < 40; tries++) {
      const answer = await this.#account.ask(asked, this.#world.places[tries % 2]!);
      if (answer !== undefined && answer.status < 500 && ![409, 429].includes(answer.status)) return;
      // A source that always fails has no other answer.
      if (answer !== undefined && [500, 502, 504].includes(answer.status)) return;
      if (answer?.status === 429) this.#world.nowMs += 1_000;
      await sleep(100);
    }
    throw new Error(`no final answer to ${JSON.stringify(asked)}`);
  }

  /** Lets waiting jobs run now instead of after their wait. */
  async #hurry(): Promise<void> {
    await this.#world.database.query(
      `select graphile_worker.reschedule_jobs(array_agg(id), run_at => now() - interval '1 second')
         from graphile_worker._private_jobs where locked_at is null having count(*) > 0;
       select pg_notify('jobs:insert', '')`,
    );
  }

  /** Every message of the account was delivered or given up, and the endpoint has seen what was delivered. */
  async #messagesEnd(): Promise<void> {
    const world = this.#world;
    world.receiver.answer(204);
    const waiting = () =>
      this.#numberOf(
        "select count(*) as n from webhook_delivery where webhook_id = $1 and state = 'waiting'",
        [this.#webhook],
      );
    if ((await waiting()) > 0) {
      // Half a minute later by the clock of the database, the sweeper frees the jobs that a lost answer gave away.
      await world.database.query(
        "update graphile_worker._private_jobs set locked_at = locked_at - interval '1 minute' where locked_at is not null",
      );
      await this.#sweepBy(world.places);
    }
    for (let tries = 0; (await waiting()) > 0; tries++) {
      if (tries > 300) throw new Error(`${await waiting()} messages are still waiting`);
      await this.#hurry();
      await sleep(100);
    }
    const found = await world.database.pool.query<{ id: string; body: string }>(
      `select m.id, m.body from webhook_delivery d join webhook_message m on m.id = d.message_id
        where d.webhook_id = $1 and d.state = 'delivered'`,
      [this.#webhook],
    );
    const seen = new Map(world.receiver.received.map(({ headers, body }) => [headers["webhook-id"], body]));
    for (const { id, body } of found.rows)
      if (seen.get(id) !== body) throw new Error(`${id} is called delivered, and did not arrive`);
    world.receiver.received.length = 0;
  }

  /** The service leaves no transaction open and no connection taken. */
  async #connectionsRest(): Promise<void> {
    const busy = () =>
      this.#numberOf(
        `select count(*) as n from pg_stat_activity
          where datname = current_database() and state like 'idle in transaction%'`,
        [],
      );
    for (let tries = 0; (await busy()) > 0; tries++) {
      if (tries > 200) throw new Error(`${await busy()} transactions did not end`);
      await sleep(50);
    }
  }

  /** Imports a journal with this text. If the import breaks, the old text or the new one is served. */
  async #import(text: string): Promise<void> {
    const world = this.#world;
    const path = join(world.folder, `journal-${this.#seed}.jsonl`);
    const title = `期刊 ${text}`;
    writeFileSync(path, JSON.stringify({ title, issn: "1234-5679" }));
    const index = embeddedIndex(world.importing, { now: () => Number.POSITIVE_INFINITY });
    this.#hasImported = true;
    this.#titles.push(title);
    try {
      const file = await fetchOrigin(path, { folder: world.folder });
      await importAny(world.importing, index, OPERATION, file, { dataset: "books", again: true, yes: true });
      this.#titles = [title];
      this.#mayBeEmpty = false;
    } catch (error) {
      if (!isOfConnection(error)) throw error;
      this.#count("imports that broke");
    }
    await this.#assertServed();
  }

  async #assertServed(): Promise<void> {
    const served = await this.#served();
    const isPossible =
      served.length === 0 ? this.#mayBeEmpty : served.every((title) => this.#titles.includes(title));
    if (!isPossible)
      throw new Error(`served is ${served.join(", ")}, imported were ${this.#titles.join(", ")}`);
  }

  async #served(): Promise<string[]> {
    const index = embeddedIndex(this.#world.database, { now: () => Number.POSITIVE_INFINITY });
    const served: string[] = [];
    for await (const body of index.documents(OPERATION)) served.push((body as { name: string }).name);
    return served;
  }

  async #refresh(): Promise<void> {
    const world = this.#world;
    const index = embeddedIndex(world.importing, { now: () => Number.POSITIVE_INFINITY });
    const needs = { database: world.importing, index, dataFolder: world.folder, progress: () => {} };
    try {
      await refreshDue(needs, await findDue(world.importing, new Date(Date.now() + 40 * DAY_MS)));
    } catch (error) {
      if (!isOfConnection(error)) throw error;
      this.#count("refreshes that broke");
    }
    await this.#assertServed();
  }

  async #numberOf(text: string, values: unknown[]): Promise<number> {
    return Number((await this.#world.database.pool.query<{ n: number }>(text, values)).rows[0]!.n);
  }

  // biome-ignore lint/suspicious/noExplicitAny: an answer has any form
  async #told(method: string, path: string, body: object): Promise<any> {
    let answer: Answer | undefined;
    for (let tries = 0; tries < 40; tries++) {
      answer = await this.#world.ask(this.#world.places[tries % 2]!, method, path, { body });
      if (answer !== undefined && answer.status < 300) return answer.body;
      // The clock may have gone back by a minute, and buckets fill as it moves.
      if (answer?.status === 429) this.#world.nowMs += 1_000 * answer.body.retry_after;
      await sleep(100);
    }
    throw new Error(`${method} ${path} gets no answer but ${JSON.stringify(answer)}`);
  }
}

function isOfConnection(error: unknown): boolean {
  const { cause, message } = error as Error;
  // What pg says of a connection that ends while it is made has no code.
  return (
    message.startsWith("Connection terminated") ||
    isAway(error) ||
    isCutOff(error) ||
    (cause !== undefined && isOfConnection(cause))
  );
}
