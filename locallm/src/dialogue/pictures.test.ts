import fc from "fast-check";
import { expect, it } from "vitest";
import { templatesHere } from "../../test/templates-here.ts";
import { createDialogue } from "./dialogue.ts";
import { fitTurn, type PicturedTokens } from "./fit.ts";
import { isPictured, isPlace, type TurnPrompt, wholeText } from "./prompt-text.ts";
import { type ContentPart, type Message, plainTurn, withPlaces } from "./turn.ts";

const vocabulary = { addBos: false, markers: ["<|im_start|>"] };
const chatMl = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% endfor %}";
/** Prints only contents that are lists, as the template of SmolVLM. */
const lists =
  "{% for m in messages %}<|im_start|>{{ m.role }}:{% for part in m.content %}{% if part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}{% endfor %}";
const goText = "{{ range .Messages }}[{{ .Role }}]{{ .Content }}{{ end }}";

const image: ContentPart = { kind: "image", image: { mediaType: "image/png", data: "AAAA" } };
const text = (value: string): ContentPart => ({ kind: "text", text: value });
const user = (...parts: ContentPart[]): Message => ({ role: "user", content: "", parts });

async function dialogueOf(template: string, language: "jinja" | "go" = "jinja") {
  const source = { template: { language, text: template }, bosText: "<s>", eosText: "" };
  return await createDialogue(source, templatesHere());
}

async function printed(template: string, messages: Message[], language: "jinja" | "go" = "jinja") {
  const dialogue = await dialogueOf(template, language);
  return shown(await dialogue.prompt(withPlaces(plainTurn(messages)).turn, vocabulary));
}

/** The texts, and the numbers of the pictures. */
function shown(prompt: TurnPrompt): (string | number)[] {
  if (!isPictured(prompt)) return [wholeText(prompt)];
  return prompt.parts.map((part) => (isPlace(part) ? part.picture : wholeText(part)));
}

it.each([
  ["Jinja", chatMl, "jinja", "<|im_start|>user\n"],
  ["Jinja with lists", lists, "jinja", "<|im_start|>user:"],
  ["Go", goText, "go", "[user]"],
] as const)(
  "a template in %s leaves pictures where they stand between texts",
  async (_, template, language, head) => {
    const messages = [user(text("a"), text("b"), image, text("c"), image), user(image)];
    const [first, zero, between, one, ...rest] = await printed(template, messages, language);
    expect([first, zero, between, one]).toEqual([`${head}a\nb`, 0, "c", 1]);
    expect(rest.at(-1)).toBe(2);
  },
);

it("no text of a client is taken for a place", async () => {
  const strange = fc.string({
    unit: fc.constantFrom("\ufdd0", "\ufdd1", "\ufdd2", "\ufdd4", "\ufdd5", "0", "x"),
  });
  await fc.assert(
    fc.asyncProperty(strange, strange, async (before, after) => {
      const parts = await printed(chatMl, [user(text(before), image, text(after))]);
      expect(parts).toEqual([`<|im_start|>user\n${before}`, 0, ...(after === "" ? [] : [after])]);
    }),
    { numRuns: 60 },
  );
});

it("a template that leaves a picture out is an error", async () => {
  await expect(
    printed("{% for m in messages %}{{ m.role }}{% endfor %}", [user(image)]),
  ).rejects.toMatchObject({
    code: "template_failed",
    message: expect.stringContaining("leaves out a picture"),
  });
});

it("a message that is dropped takes its pictures along, and their cells count", async () => {
  const dialogue = await dialogueOf(chatMl);
  const { turn } = withPlaces(plainTurn([user(text("old"), image), user(text("new"), image)]));
  const cells = 10;
  const fitted = await fitTurn(dialogue, turn, {
    contextLength: 20,
    vocabulary,
    longestToken: null,
    truncate: true,
    // A token for each text, and ten cells for each picture.
    tokenize: async (prompt): Promise<PicturedTokens> => {
      const parts = shown(prompt);
      const length = parts.reduce<number>((sum, part) => sum + (typeof part === "number" ? cells : 1), 0);
      return { length, parts: [] };
    },
  });
  expect(shown(fitted.text)).toEqual(["<|im_start|>user\nnew", 1]);
  expect(fitted.dropped).toEqual({ messages: 1, tokens: 11 });
});
