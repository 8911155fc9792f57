import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Message, plainTurn } from "../dialogue/turn.ts";
import { type Candidate, chooseReplica } from "./choice.ts";
import { headOfText, headOfTurn, KnownBeginnings } from "./conversation-head.ts";

const say = (...texts: string[]): Message[] =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content }));
const headOf = (messages: Message[], model = "m") =>
  headOfTurn(model, { turn: plainTurn(messages), options: {} });
const replica = (id: string, parts: Partial<Candidate> = {}): Candidate => ({
  ...{ id, weight: 1, load: 0, given: 0, hasModel: true },
  ...parts,
});
const three = ["a", "b", "c"].map((id) => replica(id));
const chosen = (free: Candidate[], messages: Message[], known = new KnownBeginnings()) =>
  chooseReplica(free, headOf(messages), known).replica.id;

describe("chooseReplica", () => {
  it("sends a growing conversation to the replica that has its beginning, wherever it began", () => {
    for (const { id } of three) {
      const known = new KnownBeginnings();
      known.remember(headOf(say("hello")), id);
      expect(chosen(three, say("hello", "hi", "how are you?"), known)).toBe(id);
      // The latest request has the longest beginning.
      known.remember(headOf(say("hello", "hi", "how are you?")), "b");
      expect(chosen(three, say("hello", "hi", "how are you?", "well", "good"), known)).toBe("b");
      expect(chosen(three, say("hello", "hi", "another question"), known)).toBe(id);
    }
  });

  it("chooses a replica, however large or wrong the loads are that engines report", () => {
    for (const load of [1e300, Number.POSITIVE_INFINITY, Number.NaN])
      expect(["a", "b"]).toContain(chosen([replica("a", { load }), replica("b", { load })], say("hello")));
  });

  it("sends a conversation to the same replica after a restart, however long it has become", () => {
    for (let count = 0; count < 50; count++) {
      const first = chosen(three, say(`question ${count}`));
      expect(chosen(three, say(`question ${count}`, "answer", "more"))).toBe(first);
      // A replica that leaves moves only its own conversations.
      const gone = three.filter(({ id }) => id !== "c");
      if (first !== "c") expect(chosen(gone, say(`question ${count}`))).toBe(first);
    }
  });

  it("does not send all conversations with the same system text and tools to one replica", () => {
    const known = new KnownBeginnings();
    const counts = new Map<string, number>();
    for (let count = 0; count < 300; count++) {
      const head = headOf([{ role: "system", content: "You are helpful." }, ...say(`question ${count}`)]);
      const { id } = chooseReplica(three, head, known).replica;
      known.remember(head, id);
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    expect(Math.min(...counts.values())).toBeGreaterThan(60);
  });

  it("distributes idle conversations by weight", () => {
    const weighted = [replica("a", { weight: 3 }), replica("b")];
    const all = Array.from({ length: 400 }, (_, index) => chosen(weighted, say(`question ${index}`)));
    const share = all.filter((id) => id === "a").length / all.length;
    expect(share).toBeGreaterThan(0.67);
    expect(share).toBeLessThan(0.83);
  });

  it("moves a conversation away from a replica that has more than its share", () => {
    const known = new KnownBeginnings();
    known.remember(headOf(say("hello")), "a");
    const load = (a: number) => [replica("a", { load: a }), replica("b", { load: 4 })];
    expect(chosen(load(5), say("hello"), known)).toBe("a");
    expect(chosen(load(20), say("hello"), known)).toBe("b");
  });

  it("chooses the lowest load for requests without a conversation, then the least used replica", () => {
    const known = new KnownBeginnings();
    const loads = [
      replica("a", { load: 2 }),
      replica("b", { load: 3, weight: 4 }),
      replica("c", { load: 1 }),
    ];
    expect(chooseReplica(loads, null, known).replica.id).toBe("b");
    const used = [replica("a", { given: 2 }), replica("b", { given: 1 })];
    expect(chooseReplica(used, null, known).replica.id).toBe("b");
  });

  it("prefers replicas that list the model, but takes another if none does", () => {
    const without = [replica("a", { hasModel: false }), replica("b", { hasModel: false })];
    expect(
      chooseReplica([...without, replica("c")], headOf(say("x")), new KnownBeginnings()).replica.id,
    ).toBe("c");
    expect(["a", "b"]).toContain(chosen(without, say("x")));
  });

  it("finds a replica for any loads and weights, and balances requests of new conversations", () => {
    const any = fc.record({
      load: fc.nat(300),
      weight: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.double({ min: 0.001, max: 1000, noNaN: true })),
    });
    fc.assert(
      fc.property(fc.array(any, { minLength: 1, maxLength: 12 }), fc.string(), (all, text) => {
        const free = all.map((each, index) => replica(String(index), each));
        expect(chooseReplica(free, headOf(say(text)), new KnownBeginnings()).replica).toBeDefined();
        expect(chooseReplica(free, null, new KnownBeginnings()).replica).toBeDefined();
      }),
      { seed: 3, numRuns: 300 },
    );
    const loads = new Map(three.map(({ id }) => [id, 0]));
    for (let count = 0; count < 99; count++) {
      const free = three.map((each) => ({ ...each, load: loads.get(each.id)! }));
      const id = chosen(free, say(`question ${count}`));
      loads.set(id, loads.get(id)! + 1);
    }
    expect([...loads.values()]).toEqual([33, 33, 33]);
  });
});

describe("conversation heads", () => {
  it("differ by model, tools, role and order, and never count only system messages", () => {
    const system: Message = { role: "system", content: "s" };
    expect(headOf([system, ...say("x")]).beginnings).toHaveLength(1);
    expect(headOf([system]).beginnings).toHaveLength(1);
    expect(headOf([]).beginnings).toHaveLength(1);
    const heads = [
      headOf(say("x")),
      headOf(say("x"), "other"),
      headOf([{ role: "assistant", content: "x" }]),
      headOf([system, ...say("x")]),
      headOfTurn("m", {
        turn: plainTurn(say("x"), { tools: [{ type: "function", function: { name: "f" } }] }),
        options: {},
      }),
    ].map(({ conversation }) => conversation);
    expect(new Set(heads).size).toBe(heads.length);
  });

  it("of texts double in length, so that a long text has few", () => {
    const text = (prompt: string) => headOfText("m", { prompt, options: {} });
    const story = "once upon a time ".repeat(60_000);
    expect(text(story).beginnings.length).toBeLessThan(12);
    const longer = text(`${story}and then`);
    expect(longer.beginnings.slice(0, 8)).toEqual(text(story).beginnings.slice(0, 8));
    expect(longer.conversation).toBe(text(story).conversation);
    expect(text("a").conversation).not.toBe(text("b").conversation);
    const known = new KnownBeginnings();
    known.remember(text(story), "a");
    expect(known.find(text(`${story.slice(0, 10_000)} changed ${story}`))?.replica).toBe("a");
    expect(known.find(text(`changed ${story}`))).toBeNull();
  });
});

describe("KnownBeginnings", () => {
  it("forgets the least recently used", () => {
    const known = new KnownBeginnings(3);
    for (const text of ["a", "b", "c", "a", "d"]) known.remember(headOf(say(text)), text);
    const left = ["a", "b", "c", "d"].filter((text) => known.find(headOf(say(text))) !== null);
    expect(left).toEqual(["a", "c", "d"]);
  });
});
