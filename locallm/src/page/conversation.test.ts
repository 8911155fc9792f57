import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addVersion,
  type Message,
  newConversation,
  replaceMessage,
  sentMessages,
  showVersion,
  titleOf,
  versionsAt,
} from "./conversation.ts";
import { asJson, asMarkdown, fromFile } from "./transcript.ts";

const message = (content: string): Message => ({ role: "user", content });
const contents = (messages: readonly Message[]) => messages.map(({ content }) => content);

/** All leaves of the tree: each way through the versions. */
function ways(messages: readonly Message[], at = 0): string[] {
  if (at >= messages.length) return [contents(messages).join("/")];
  const { count } = versionsAt(messages, at);
  return Array.from({ length: count }, (_, index) => showVersion(messages, at, index)).flatMap((shown) =>
    ways(shown, at + 1),
  );
}

describe("versions of a conversation", () => {
  test("every new version adds one way, keeps all others, and leads back to each", () => {
    const steps = fc.array(fc.record({ at: fc.nat(6), content: fc.string() }), { maxLength: 9 });
    fc.assert(
      fc.property(steps, (all) => {
        let messages: Message[] = [message("first")];
        for (const { at: wished, content } of all) {
          const at = Math.min(wished, messages.length);
          const before = ways(messages);
          const grown = addVersion(messages, at, message(content));
          const added = contents([...messages.slice(0, at), message(content)]).join("/");
          // Continuing makes the way longer, every other change makes one more.
          const expected =
            at === messages.length
              ? before.toSpliced(before.indexOf(contents(messages).join("/")), 1, added)
              : [...before, added];
          expect(ways(grown).sort()).toEqual(expected.sort());
          messages = grown;
        }
      }),
      { numRuns: 60 },
    );
  });

  test("what follows a version comes back with it", () => {
    const asked = ["q", "a", "more", "b"].map(message);
    const edited = addVersion(asked, 0, message("q2"));
    const answered = addVersion(edited, 1, message("a2"));
    expect(contents(answered)).toEqual(["q2", "a2"]);
    expect(versionsAt(answered, 0)).toEqual({ shown: 1, count: 2 });
    const back = showVersion(answered, 0, 0);
    expect(contents(back)).toEqual(["q", "a", "more", "b"]);
    expect(contents(showVersion(back, 0, 1))).toEqual(["q2", "a2"]);
    expect(contents(showVersion(back, 0, 7))).toEqual(contents(back));
    expect(versionsAt(replaceMessage(answered, 0, message("q3")), 0)).toEqual({ shown: 1, count: 2 });
  });
});

test("sends files before the question, and nothing that only the page knows", () => {
  const file = { name: "a.md", text: "# A", tokens: 3 };
  const asked: Message = { ...message("why?"), files: [file], model: "m", note: "n", ended: "stopped" };
  const messages = addVersion([message("old")], 0, asked);
  expect(sentMessages({ system: " ", messages })).toEqual([
    { role: "user", content: '<file name="a.md">\n# A\n</file>\n\nwhy?' },
  ]);
  expect(sentMessages({ system: "be brief", messages: [] })).toEqual([
    { role: "system", content: "be brief" },
  ]);
  expect(titleOf({ ...newConversation(""), messages: [{ ...asked, content: "" }] })).toBe("a.md");
});

describe("a file of conversations", () => {
  const role = fc.constantFrom<Message["role"]>("user", "assistant");
  /** Lines that look like the marks of the file itself. */
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom("## user", "\\## assistant", "# x", "> y", "```", "Model: m"),
  );
  const text = fc.array(line, { minLength: 1, maxLength: 5 }).map((lines) => `${lines.join("\n")}.`);
  const messages = fc.array(fc.record({ role, content: text }), { minLength: 1, maxLength: 5 });

  test("comes back from Markdown as it was written", () => {
    fc.assert(
      fc.property(messages, fc.option(text, { nil: "" }), (said, system) => {
        const own = { ...newConversation("some:model"), title: "Its name", system, messages: said };
        const [read] = fromFile("x.md", asMarkdown(own), 0);
        expect(read).toMatchObject({ model: "some:model", title: "Its name" });
        expect(read!.system).toBe(system.trim());
        const trimmed = said.map((one) => ({ ...one, content: one.content.replace(/^\n+/, "") }));
        expect(read!.messages).toEqual(trimmed);
      }),
      { numRuns: 200 },
    );
  });

  test("comes back from JSON with its versions, tools and options", () => {
    const own = {
      ...newConversation("m"),
      options: { temperature: 0.5 },
      tools: [{ type: "function" }],
      messages: addVersion([message("a"), message("b")], 0, message("c")),
    };
    const [one] = fromFile("x.json", asJson(own), own.changedMs);
    expect(one).toEqual({ ...own, id: expect.any(String) });
    const times = [7, 5, 99, 1].map((changedMs) => ({ ...own, changedMs }));
    // A time that is still to come would keep the first place for ever.
    expect(fromFile("all.json", asJson(times), 9).map(({ changedMs }) => changedMs)).toEqual([7, 5, 9, 1]);
    expect(fromFile("x.json", JSON.stringify({ messages: [] }), 9)[0]!.changedMs).toBe(9);
  });

  test.each([
    ["x.json", "{"],
    ["x.json", "null"],
    ["x.json", '{"messages":1}'],
    ["x.json", '{"messages":[{"role":"root","content":"x"}]}'],
    ["x.json", '{"messages":[{"role":"user","content":{"a":1}}]}'],
    ["x.json", '{"messages":[{"role":"user","content":"","images":[1]}]}'],
    ["x.json", '{"messages":[{"role":"user","content":"","fork":{"before":[[]],"after":[]}}]}'],
    ["x.json", '{"messages":[],"options":{"temperature":"hot"}}'],
    ["x.md", "just a text"],
    ["x.txt", ""],
  ])("is refused if it is not one: %s %s", (name, held) => {
    expect(() => fromFile(name, held, 0)).toThrow();
  });
});
