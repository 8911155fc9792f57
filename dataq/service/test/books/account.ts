import type { Answer, Place, World } from "./world.ts";

const KEY_LIFE_MS = 86_400_000;

/** One question, with all attempts of it. */
interface Asked {
  readonly body: object;
  /** Its Idempotency-Key. With one, it may be asked again. */
  readonly name: string | undefined;
  /** Complete answers with 200. */
  readonly answers: { readonly requestId: string; readonly tokens: number; readonly isReplay: boolean }[];
  /** Requests whose caller was told that they failed. */
  readonly failed: string[];
  /** Of these, the ones that would always fail, so that the same failure is the answer to every repeat. */
  readonly final: { readonly requestId: string; readonly isReplay: boolean }[];
  /** Copies of the request that may have been answered without anybody hearing it. */
  unheard: number;
  /** The earliest time of an attempt, by the services' clock. */
  firstMs: number;
  /** A day after it they may forget the Idempotency-Key, and do so even if the clock goes back later. */
  isForgotten: boolean;
}

/** An account as its callers and its operator know it, compared with the books after every step. */
export class KnownAccount {
  readonly id: string;
  readonly key: string;
  readonly opening: number;
  readonly asked: Asked[] = [];
  /** Payments by reference: whether somebody was told that it was credited. */
  readonly payments = new Map<string, boolean>();
  /** As many as the books had at the last look. */
  entries = 0;
  readonly #world: World;

  constructor(world: World, id: string, key: string, opening: number) {
    this.#world = world;
    this.id = id;
    this.key = key;
    this.opening = opening;
  }

  add(body: object, name?: string): Asked {
    const firstMs = this.#world.nowMs;
    const asked: Asked = {
      body,
      name,
      answers: [],
      failed: [],
      final: [],
      unheard: 0,
      firstMs,
      isForgotten: false,
    };
    this.asked.push(asked);
    return asked;
  }

  /** Asks once, of which the line may make two requests. */
  async ask(asked: Asked, place: Place, copies = 1): Promise<Answer | undefined> {
    const { name } = asked;
    asked.firstMs = Math.min(asked.firstMs, this.#world.nowMs);
    const answer = await this.#world.ask(place, "POST", "/v1/data/query", {
      key: this.key,
      body: asked.body,
      ...(name !== undefined && { headers: { "idempotency-key": name } }),
    });
    asked.unheard += copies - (answer === undefined ? 0 : 1);
    if (answer?.status === 200) {
      const { tokens, reason } = answer.body.usage;
      asked.answers.push({ requestId: answer.requestId, tokens, isReplay: reason === "replayed" });
    } else if (answer?.status === 503 && this.#world.isAwayForLong) asked.unheard++;
    else if (answer) {
      const { requestId, isReplay, status } = answer;
      asked.failed.push(requestId);
      if (status === 404) asked.final.push({ requestId, isReplay });
    }
    return answer;
  }

  async pay(reference: string, tokens: number, place: Place): Promise<Answer | undefined> {
    if (!this.payments.has(reference)) this.payments.set(reference, false);
    const answer = await this.#world.ask(place, "POST", `/admin/v1/accounts/${this.id}/topups`, {
      body: { tokens, reference },
    });
    if (answer?.status === 201 || answer?.status === 409) this.payments.set(reference, true);
    return answer;
  }

  /** Is told of every move of the clock. */
  clockMoved(): void {
    for (const asked of this.asked) asked.isForgotten ||= this.#world.nowMs - asked.firstMs >= KEY_LIFE_MS;
  }

  /** Everything that the books say and the callers know otherwise. At the end, nothing is unknown of a question with a name. */
  async breaches(isEnd: boolean): Promise<string[]> {
    const found = await this.#world.database.pool.query<{
      kind: string;
      id: string | null;
      reference: string | null;
      note: string | null;
      tokens: number;
    }>({
      name: "books-entries",
      text: `select kind, request_id as id, reference, note,
                    case when kind = 'capture' then earnings else trial + paid + credit end as tokens
               from entry where account_id = $1 order by seq`,
      values: [this.id],
    });
    this.entries = found.rows.length;
    this.clockMoved();
    const breaches: string[] = [];
    const captured = new Map<string, number>();
    /** Calls that gave their hold back with their outcome; others were given back by a sweeper. */
    const ended = new Set<string>();
    for (const { kind, id, tokens, note } of found.rows) {
      if (kind === "capture") captured.set(id!, tokens);
      if (kind === "void" && note === "not_found") ended.add(id!);
    }
    /** Captures that no heard answer explains. */
    let unexplained = captured.size;
    let least = 0;
    let most = 0;
    for (const { name, answers, failed, final, unheard, body, isForgotten } of this.asked) {
      const what = JSON.stringify({ name, body });
      for (const id of failed) if (captured.has(id)) breaches.push(`${id} failed and was charged: ${what}`);
      const first = answers.filter(({ isReplay }) => !isReplay);
      for (const { requestId, tokens } of first) {
        if ((captured.get(requestId) ?? 0) !== tokens)
          breaches.push(
            `${requestId} said ${tokens} tokens and cost ${captured.get(requestId) ?? 0}: ${what}`,
          );
        if (captured.has(requestId)) unexplained--;
      }
      const charged = first.filter(({ tokens }) => tokens > 0).length;
      const outcomes = first.length + final.filter((one) => !one.isReplay && ended.has(one.requestId)).length;
      if (name !== undefined && !isForgotten && outcomes > 1)
        breaches.push(`one Idempotency-Key has ${outcomes} outcomes: ${what}`);
      if (name === undefined || isForgotten) most += unheard;
      else if (charged > 1) breaches.push(`one Idempotency-Key was charged ${charged} times: ${what}`);
      else if (charged === 0) {
        const isReplayed = answers.length > first.length;
        if (isReplayed) least++;
        if (isReplayed || (unheard > 0 && !isEnd)) most++;
      }
    }
    if (unexplained < least || unexplained > most)
      breaches.push(`${unexplained} charges that nobody heard of, between ${least} and ${most} are possible`);
    for (const [reference, isKnown] of this.payments) {
      const times = found.rows.filter((row) => row.reference === `manual:${reference}`).length;
      if (times > 1 || ((isKnown || isEnd) && times === 0))
        breaches.push(`the payment ${reference} was credited ${times} times`);
    }
    return breaches;
  }
}
