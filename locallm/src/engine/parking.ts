import type { Context } from "./context.ts";
import type { Growth } from "./growth.ts";
import type { KeptStates } from "./kept/kept-states.ts";
import type { Reuse } from "./reuse.ts";
import type { Room } from "./room.ts";
import type { Slot } from "./slot.ts";

export interface ParkingRequest {
  readonly context: Pick<Context, "truncate" | "clearMemory">;
  readonly room: Room;
  readonly slots: readonly Slot[];
  readonly reuse: Pick<Reuse, "head">;
  /** Null if states are not kept: what is parked is then computed again. */
  readonly kept: Pick<KeptStates, "isWorthKeeping" | "keep" | "find" | "restore"> | null;
  /** Tries to have so many cells free by using more of the cache. Null if all of it is used. */
  readonly growth: () => Pick<Growth, "reach"> | null;
  /** Called around work during which clients may leave. */
  readonly during: (slot: Slot, work: () => Promise<void>) => Promise<void>;
}

/** A parked slot comes back only if this many cells are left for each slot that computes, or it would soon leave again. */
const spared = 32;

/**
 * Makes room in a cache that all slots share, before each step. Where it is short of cells and cannot grow, first the
 * conversations go that nobody waits for, the oldest first. Then the slots of slow readers are parked, then those of the jobs that came
 * last: their states are kept and come back in the order in which the jobs arrived. The oldest job always has room,
 * because its window is no larger than the cache. While a slot is parked, no new job begins.
 */
export class Parking {
  readonly #request: ParkingRequest;
  /** The job whose slot has the cache to itself, or -1; see `#clearFor`. */
  #only = -1;

  constructor(request: ParkingRequest) {
    this.#request = request;
  }

  /** Whether new jobs have to wait, because one that came before them waits for room. */
  get isFull(): boolean {
    return this.#busy().some((slot) => !slot.isPaused && (slot.isParked || slot.needsAll));
  }

  /**
   * Uses more of the cache, then drops idle conversations, until there are so many free cells. Returns false if that is
   * not enough.
   */
  clear(cells: number): Promise<boolean> {
    return this.#clear(() => cells);
  }

  /** The same, for a number that may grow: a prompt no longer copies what was dropped. */
  async #clear(cells: () => number): Promise<boolean> {
    const { room, slots, growth } = this.#request;
    await growth()?.reach(cells());
    const idle = () => slots.filter((slot) => slot.isFree && slot.cached.length > 0);
    for (let left = idle(); room.free < cells() && left.length > 0; left = idle())
      await this.#drop(left.reduce((a, b) => (b.arrived < a.arrived ? b : a)));
    return room.free >= cells();
  }

  /** Makes room for the next step of all slots that are not parked then. */
  async makeRoom(): Promise<void> {
    const first = this.#computing()[0];
    if (first === undefined) return;
    if (first.needsAll) return await this.#clearFor(first);
    for (const slot of this.#busy()) if (slot.needsAll) await this.#park(slot);
    await this.#grow();
    await this.#takeBack();
    await this.#spare();
  }

  /**
   * Gives the whole cache to a slot whose answer must not depend on others: the engine adds up in the order of the
   * cells, and in pieces whose borders depend on how many are in use.
   */
  async #clearFor(slot: Slot): Promise<void> {
    const { context, slots } = this.#request;
    const { id } = slot;
    const others = slots.filter((other) => other !== slot);
    // Its reader was slow for a while, and another job may have begun meanwhile.
    const isAlone = others.every((other) => (other.isFree ? other.cached.length === 0 : other.isParked));
    if (this.#only !== id || !isAlone) {
      await this.#park(slot);
      for (const other of others) await (other.isFree ? this.#drop(other) : this.#park(other));
      // Its client may have left meanwhile.
      if (slot.id !== id) return;
      context.clearMemory();
      this.#only = id;
    }
    slot.isParked = false;
  }

  /** Uses more of the cache for the slots that compute, and for the parked one that comes back next. */
  async #grow(): Promise<void> {
    const growth = this.#request.growth();
    if (growth === null) return;
    const computing = this.#computing().filter((slot) => !slot.needsAll);
    const next = computing.find((slot) => slot.isParked);
    const all = computing.filter((slot) => !slot.isParked || slot === next);
    await growth.reach(all.reduce((sum, slot) => sum + this.#needs(slot) + spared, 0));
  }

  /** Lets parked slots go on, in the order in which their jobs arrived, if they have room for a while. */
  async #takeBack(): Promise<void> {
    for (const slot of this.#computing()) {
      if (!slot.isParked || slot.needsAll) continue;
      const others = this.#computing().filter((other) => !other.isParked);
      const all = [...others, slot].map((one) => ({
        index: one.index,
        needs: this.#needs(one) + spared * Math.min(1, others.length),
      }));
      if (this.#request.room.fitting(all) < all.length) return;
      await this.#clearIdle(() => this.#needs(slot));
      if (!slot.isParked) continue;
      slot.isParked = false;
      await this.#restore(slot);
    }
  }

  /** Parks slots until the others have room for what they compute next. */
  async #spare(): Promise<void> {
    const staying = () => this.#computing().filter((slot) => !slot.isParked);
    const needs = () => staying().reduce((sum, slot) => sum + this.#needs(slot), 0);
    const most = staying().reduce((sum, { pending }) => sum + pending.length, 0);
    if (most <= this.#request.room.free) return;
    const all = staying().map((slot) => ({ slot, index: slot.index, needs: this.#needs(slot) }));
    const count = this.#request.room.fitting(all);
    for (const { slot } of all.slice(count).reverse()) await this.#park(slot);
    while (!(await this.#clearIdle(needs))) {
      const last = staying().slice(1).at(-1);
      if (last === undefined) return;
      await this.#park(last);
    }
  }

  /**
   * Drops idle conversations, and then parks the slots of slow readers, until there are so many free cells. Returns false
   * if that is not enough.
   */
  async #clearIdle(cells: () => number): Promise<boolean> {
    if (await this.#clear(cells)) return true;
    const { room } = this.#request;
    const paused = this.#busy().filter((slot) => slot.isPaused);
    for (const slot of paused.reverse()) if (room.free < cells() && slot.isPaused) await this.#park(slot);
    return room.free >= cells();
  }

  /** How many cells a slot needs to go on: one for an answer, and all of a prompt that it copies from no other slot. */
  #needs(slot: Slot): number {
    if (slot.isFree) return 0;
    const { pending, isFresh } = slot;
    if (!isFresh || pending.length < spared) return pending.length;
    // Of two new prompts, the later one copies what they have in common.
    const ahead = this.#computing().filter(
      (other) => !other.isParked && !other.isGenerating && other.arrived < slot.arrived,
    );
    const head = this.#request.reuse.head(slot, ahead);
    return head === null ? pending.length : slot.answer.prompt.length - head.tokens;
  }

  async #park(slot: Slot): Promise<void> {
    const { context, kept, during } = this.#request;
    if (slot.isParked || slot.isFree) return;
    slot.isParked = true;
    if (this.#only === slot.id) this.#only = -1;
    await during(slot, async () => {
      if (kept?.isWorthKeeping(slot, 0) && !slot.needsAll) await kept.keep(slot);
      context.truncate(slot.index, 0);
      slot.park();
    });
  }

  /** Takes a slot's cells back from the state that was kept of them. What has none is computed again. */
  async #restore(slot: Slot): Promise<void> {
    const { context, kept, during, room } = this.#request;
    const { pending } = slot;
    const found = slot.isFresh || slot.isAlone ? null : (kept?.find(pending, 0) ?? null);
    if (found === null || found.known.state.tokens.length > room.free) return;
    await during(slot, async () => {
      const isRestored = await kept!.restore(found, slot);
      const cells = isRestored ? found.tokens : 0;
      context.truncate(slot.index, slot.positionOf(cells));
      slot.takeBack(pending, cells);
    });
  }

  /** Drops a conversation that nobody waits for. */
  async #drop(slot: Slot): Promise<void> {
    const { context, kept, during } = this.#request;
    if (slot.cached.length === 0) return;
    await during(slot, async () => {
      if (kept?.isWorthKeeping(slot, 0)) await kept.keep(slot);
      context.truncate(slot.index, 0);
      slot.empty();
      slot.arrived = 0;
    });
  }

  /** In the order of their arrival. */
  #busy(): Slot[] {
    return this.#request.slots.filter((slot) => !slot.isFree).sort((a, b) => a.arrived - b.arrived);
  }

  #computing(): Slot[] {
    return this.#busy().filter((slot) => !slot.isPaused);
  }
}
