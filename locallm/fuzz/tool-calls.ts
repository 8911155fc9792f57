import assert from "node:assert/strict";
import type { Target } from "../../fuzz/target.ts";
import type { AnswerPiece } from "../src/dialogue/answer-piece.ts";
import { createReader } from "../src/dialogue/answer-reader.ts";
import { formatOf } from "../src/dialogue/formats/find.ts";
import { genericFormat } from "../src/dialogue/formats/generic.ts";
import { fullTurn } from "./parts/turn.ts";

const families = ["harmony", "deepseek", "mistral", "command-r", "gemma", "hermes", "llama3"];
const formats = [
  ...families.flatMap((family) => formatOf({ name: "family", family }) ?? []),
  genericFormat("<call>", "</call>"),
];

/** Every format reads an answer to the same pieces, wherever its text is cut on arrival. */
export const target: Target = {
  covers: [
    "locallm/src/dialogue/answer-reader.ts",
    "locallm/src/dialogue/calls.ts",
    "locallm/src/dialogue/cursor.ts",
    "locallm/src/dialogue/json-text.ts",
    "locallm/src/dialogue/schema-value.ts",
    "locallm/src/dialogue/formats",
  ],
  seeds: [
    '<think>hm</think>\nSure.\n<tool_call>\n{"name": "weather", "arguments": {"city": "R\\u00f6m \\"x\\""}}\n</tool_call>',
    "<tool_call><function=weather><parameter=city>\nRome\n</parameter></function></tool_call>",
    '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Rome"}, "id": "123456789"}]',
    '[TOOL_CALLS]weather[CALL_ID]abc[ARGS]{"city": "Rome"}',
    '<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{"city": 1}<|call|>',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{"city":"Rome"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "weather", "parameters": {"days": 1e3}}]<|END_ACTION|>',
    "<start_function_call>call:weather{city:<escape>Rome<escape>,days:[1,2.5,true]}<end_function_call>",
    '<|python_tag|>weather.call(city="Rome", days=-1, x=[None, True, {"a": \'b\'}])<|eom_id|>',
    '{"name": "weather", "parameters": {"city": "Rome"}}',
    '<call>{"function": {"name": "weather", "arguments": "{}"}}</call>',
  ],
  words: ["weather", "{", "}", "[", "]", '":', "```", "\\u", "\\", "<", "|>", "<|"],
  longest: 1_024,
  // Each input is read 48 times.
  bounds: { ms: 200, msPerKib: 200, mib: 96, mibPerKib: 32 },
  read(input) {
    const text = input.toString();
    // All at once, each character alone, and pieces of a few.
    const step = 1 + (text.length % 7);
    for (const format of formats)
      for (const open of [false, true]) {
        const whole = piecesOf(format, open, [text]);
        assert.deepEqual(piecesOf(format, open, [...text]), whole, `${format.name}: each character alone`);
        const cuts = Array.from({ length: Math.ceil(text.length / step) }, (_, at) =>
          text.slice(at * step, (at + 1) * step),
        );
        assert.deepEqual(piecesOf(format, open, cuts), whole, `${format.name}: ${step} characters at once`);
      }
  },
};

/** Neighbouring texts of one kind are one. */
function piecesOf(format: (typeof formats)[number], open: boolean, texts: readonly string[]): AnswerPiece[] {
  let ids = 0;
  const reader = createReader({
    ...{ thinking: { open: "<think>", close: "</think>" }, open, format, tools: fullTurn.tools },
    newId: () => `call_${ids++}`,
  });
  const pieces = [...texts.flatMap((text) => reader.push(text)), ...reader.end()];
  const joined: AnswerPiece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if ("text" in piece && last !== undefined && "text" in last && last.kind === piece.kind)
      joined[joined.length - 1] = { ...last, text: last.text + piece.text };
    else if (!("text" in piece && piece.text === "")) joined.push(piece);
  }
  return joined;
}
