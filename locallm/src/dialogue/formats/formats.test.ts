import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AnswerPiece, createReader } from "../answer-reader.ts";
import type { ToolFormat } from "../tool-format.ts";
import type { Tool } from "../turn.ts";
import { commandR } from "./command-r.ts";
import { deepseek } from "./deepseek.ts";
import { gemma } from "./gemma.ts";
import { genericFormat } from "./generic.ts";
import { harmony } from "./harmony.ts";
import { hermes } from "./hermes.ts";
import { llama3 } from "./llama3.ts";
import { mistral } from "./mistral.ts";

const tool = (name: string, properties: Record<string, unknown> = {}): Tool => ({
  type: "function",
  function: { name, parameters: { type: "object", properties } },
});
const tools = [
  tool("get_weather", { city: { type: "string" }, days: { type: "integer" } }),
  tool("search"),
  tool("f"),
];

interface Answer {
  content: string;
  thinking?: string;
  calls?: [name: string, given: unknown, id?: string][];
}

function read(format: ToolFormat, parts: readonly string[], offered = tools): Answer {
  let ids = 0;
  const thinking = { open: "<think>", close: "</think>" };
  const reader = createReader({ thinking, open: false, format, tools: offered, newId: () => `id${ids++}` });
  return summary([...parts.flatMap((part) => reader.push(part)), ...reader.end()]);
}

function summary(pieces: AnswerPiece[]): Answer {
  const answer = { content: "", thinking: "", calls: [] as [string, unknown, string?][] };
  const texts: string[] = [];
  for (const piece of pieces) {
    if (piece.kind === "content" || piece.kind === "thinking") answer[piece.kind] += piece.text;
    else if (piece.kind === "call") texts[piece.index] = "";
    else if (piece.kind === "arguments") texts[piece.index] += piece.text;
    else if (piece.kind === "called") {
      // The streamed arguments equal those of the finished call.
      expect(texts[piece.index]).toBe(piece.call.text);
      const { id, name } = piece.call;
      const given = piece.call.arguments;
      answer.calls.push(id.startsWith("id") ? [name, given] : [name, given, id]);
    }
  }
  return {
    content: answer.content,
    ...(answer.thinking === "" ? {} : { thinking: answer.thinking }),
    ...(answer.calls.length === 0 ? {} : { calls: answer.calls }),
  };
}

const generic = genericFormat("<call>", "</call>");
const bare = genericFormat("", "");
const rome: [string, unknown] = ["get_weather", { city: "Rome" }];
const paris: [string, unknown] = ["get_weather", { city: "Paris", days: 2 }];

/** Examples from the documentation of each family, with their source. */
const cases: [format: ToolFormat, source: string, text: string, answer: Answer][] = [
  [
    hermes,
    "Hermes 2 Pro model card",
    '<tool_call>\n{"arguments": {"city": "Rome"}, "name": "get_weather"}\n</tool_call>',
    { content: "", calls: [rome] },
  ],
  [
    hermes,
    "Qwen function calling guide",
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}\n</tool_call>',
    { content: "", calls: [rome, paris] },
  ],
  [
    hermes,
    "Qwen3 with thinking",
    '<think>\nI need the weather.\n</think>\n\nLet me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>',
    { content: "Let me look.", thinking: "I need the weather.", calls: [rome] },
  ],
  [
    hermes,
    "Qwen3-Coder model card",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
    { content: "", calls: [["get_weather", { city: "Rome", days: 2 }]] },
  ],
  [
    hermes,
    "a parameter of any name",
    "<tool_call>\n<function=f>\n<parameter=__proto__>\n[1]\n</parameter>\n</function>\n</tool_call>",
    { content: "", calls: [["f", JSON.parse('{"__proto__": [1]}')]] },
  ],
  [
    hermes,
    "cut by the length",
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Ro',
    { content: "", calls: [["get_weather", null]] },
  ],
  [
    hermes,
    "without its end",
    '<tool_call>{"name": "f", "arguments": {}}',
    { content: "", calls: [["f", {}]] },
  ],
  [hermes, "no call after the mark", "see <tool_call> tags", { content: "see <tool_call> tags" }],
  [hermes, "no JSON after the mark", '<tool_call>{"a" 1}', { content: '<tool_call>{"a" 1}' }],
  [
    hermes,
    "text after a call",
    '<tool_call>{"name": "f", "arguments": {}}</tool_call>\nDone.',
    { content: "Done.", calls: [["f", {}]] },
  ],
  [
    hermes,
    "arguments in a string",
    '<tool_call>{"name": "f", "arguments": "{\\"a\\": 1}"}</tool_call>',
    { content: "", calls: [["f", { a: 1 }]] },
  ],
  [
    hermes,
    "brackets in strings",
    '<tool_call>{"name": "f", "arguments": {"a": "}</tool_call>\\"{"}}</tool_call>',
    { content: "", calls: [["f", { a: '}</tool_call>"{' }]] },
  ],
  [
    llama3,
    "Llama 3.1 prompt format, JSON based tool calling",
    '{"name": "get_weather", "parameters": {"city": "Rome"}}<|eot_id|>',
    { content: "", calls: [rome] },
  ],
  [
    llama3,
    "Llama 3.1 prompt format, with the python tag",
    '<|python_tag|>{"type": "function", "name": "get_weather", "parameters": {"city": "Rome"}}<|eom_id|>',
    { content: "", calls: [rome] },
  ],
  [
    llama3,
    "Llama 3.1 prompt format, several calls",
    '{"name": "get_weather", "parameters": {"city": "Rome"}}; {"name": "get_weather", "parameters": {"city": "Paris", "days": 2}}',
    { content: "", calls: [rome, paris] },
  ],
  [
    llama3,
    "Llama 3.1 prompt format, user-defined custom tool calling",
    '<function=get_weather>{"city": "Rome"}</function><|eom_id|>',
    { content: "", calls: [rome] },
  ],
  [
    llama3,
    "Llama 3.2 prompt format, function calling",
    "[get_weather(city=\"Rome\"), get_weather(city='Paris', days=2)]",
    { content: "", calls: [rome, paris] },
  ],
  [llama3, "JSON that is no call", '{"city": "Rome"}', { content: '{"city": "Rome"}' }],
  [
    llama3,
    "JSON that names no offered tool",
    '{"name": "Anna", "parameters": {"age": 5}} is JSON',
    { content: '{"name": "Anna", "parameters": {"age": 5}} is JSON' },
  ],
  [llama3, "a list that is no call", "[get_time] and more", { content: "[get_time] and more" }],
  [
    mistral,
    "mistral-common, tokenizer v3",
    '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Rome"}, "id": "VvvODy9mT"}]',
    { content: "", calls: [rome] },
  ],
  [
    mistral,
    "mistral-common, tokenizer v3, several",
    '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Rome"}}, {"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}]</s>',
    { content: "", calls: [rome, paris] },
  ],
  [
    mistral,
    "mistral-common, tokenizer v11",
    '[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}[TOOL_CALLS]get_weather[CALL_ID]abc123def[ARGS]{"city": "Paris", "days": 2}',
    { content: "", calls: [rome, [...paris, "abc123def"]] },
  ],
  [
    mistral,
    "without the argument mark",
    'Let me see. [TOOL_CALLS]get_weather{"city": "Rome"}',
    { content: "Let me see.", calls: [rome] },
  ],
  [
    deepseek,
    "DeepSeek R1 and V3",
    'Sure.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Rome"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Paris", "days": 2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { content: "Sure.", calls: [rome, paris] },
  ],
  [
    deepseek,
    "DeepSeek V3.1 model card",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Rome"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { content: "", calls: [rome, ["f", {}]] },
  ],
  [
    gemma,
    "FunctionGemma formatting and best practices",
    "<start_function_call>call:get_weather{city:<escape>Rome<escape>}<end_function_call><start_function_response>",
    { content: "", calls: [rome] },
  ],
  [
    gemma,
    "FunctionGemma, values of every kind",
    "<start_function_call>call:f{a:1,b:true,c:[<escape>x, }<escape>,2.5],d:{e:<escape><escape>,g:null}}<end_function_call>",
    { content: "", calls: [["f", { a: 1, b: true, c: ["x, }", 2.5], d: { e: "", g: null } }]] },
  ],
  [
    gemma,
    "cut by the length",
    "<start_function_call>call:f{a:<escape>x",
    { content: "<start_function_call>call:f{a:<escape>x" },
  ],
  [
    harmony,
    "harmony response format, final answer",
    "<|channel|>analysis<|message|>User asks. Easy.<|end|><|start|>assistant<|channel|>final<|message|>2 + 2 = 4.<|return|>",
    { content: "2 + 2 = 4.", thinking: "User asks. Easy." },
  ],
  [
    harmony,
    "harmony response format, function call",
    '<|channel|>analysis<|message|>Need to use get_weather.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Rome"}<|call|>',
    { content: "", thinking: "Need to use get_weather.", calls: [rome] },
  ],
  [
    harmony,
    "harmony response format, recipient in the role",
    '<|start|>assistant to=functions.get_weather<|channel|>commentary json<|message|>{"city": "Rome"}<|call|>',
    { content: "", calls: [rome] },
  ],
  [
    harmony,
    "harmony response format, preamble",
    "<|channel|>commentary<|message|>**Plan**: look it up.<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>",
    { content: "**Plan**: look it up.", calls: [["f", {}]] },
  ],
  [
    commandR,
    "Command R7B documentation of tool use",
    '<|START_THINKING|>I will look.<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Rome"}},\n    {"tool_call_id": "1", "tool_name": "f", "parameters": {}}\n]<|END_ACTION|>',
    {
      content: "<|START_THINKING|>I will look.<|END_THINKING|>",
      calls: [
        [...rome, "0"],
        ["f", {}, "1"],
      ],
    },
  ],
  [commandR, "Command R7B, an answer", "<|START_RESPONSE|>Hello.<|END_RESPONSE|>", { content: "Hello." }],
  [
    commandR,
    "Command R model card, action list",
    'Action: ```json\n[\n    {\n        "tool_name": "get_weather",\n        "parameters": {"city": "Rome"}\n    }\n]```',
    { content: "", calls: [rome] },
  ],
  [
    generic,
    "any template's own mark",
    'So: <call>{"name": "get_weather", "parameters": {"city": "Rome"}}</call>',
    { content: "So:", calls: [rome] },
  ],
  [
    generic,
    "a list behind the mark",
    '<call>[{"function": {"name": "f", "arguments": {"a": 1}}}, {"name": "search", "args": {}}]</call>',
    {
      content: "",
      calls: [
        ["f", { a: 1 }],
        ["search", {}],
      ],
    },
  ],
  [
    bare,
    "no mark at all",
    '{"name": "get_weather", "parameters": {"city": "Rome"}}',
    { content: "", calls: [rome] },
  ],
];

describe("examples from the documentation of families", () => {
  test.each(
    cases.map(([format, source, text, answer]) => ({
      name: `${format.name}: ${source}`,
      format,
      text,
      answer,
    })),
  )("$name", ({ format, text, answer }) => {
    expect(read(format, [text])).toEqual(answer);
    expect(read(format, [...text])).toEqual(answer);
  });
});

describe("laws", () => {
  const formats = [hermes, llama3, mistral, deepseek, gemma, harmony, commandR, generic, bare];
  const pieces = formats.flatMap((format) => [...format.markers, ...(format.silent ?? [])]);
  const word = fc.constantFrom(
    ...new Set(pieces),
    ...[
      "<think>",
      "</think>",
      "</tool_call>",
      "<function=f>",
      "<parameter=a>",
      "</parameter>",
      "</function>",
    ],
    ...[
      "[ARGS]",
      "[CALL_ID]",
      "<｜tool▁sep｜>",
      "<｜tool▁call▁end｜>",
      "```json\n",
      "```",
      "call:f",
      "<escape>",
    ],
    ...[
      "<|channel|>",
      "<|message|>",
      "<|end|>",
      "<|start|>",
      "assistant",
      "final",
      " to=functions.f",
      "analysis",
    ],
    ...[
      '{"name": "f", "arguments": {"a": 1}}',
      '{"name": "f", "parameters": {',
      '"a": [1, "}"]',
      "{",
      "}",
      "[",
      "]",
    ],
    ...[";", ",", ":", '"', "\\", " ", "\n", "f(", "a=1", ")", "x", "é", "🙂", "<", "|", "1"],
  );
  const texts = fc.array(word, { maxLength: 14 }).map((words) => words.join(""));
  const cuts = fc.array(fc.nat(7), { maxLength: 80 });
  const split = (text: string, sizes: number[]) => {
    const parts: string[] = [];
    let at = 0;
    for (const size of sizes) {
      parts.push(text.slice(at, at + size));
      at += size;
    }
    return [...parts, text.slice(at)];
  };

  test.each(formats.map((format) => ({ name: format.name, format })))(
    "$name: any split of a text gives the same content, thinking and calls",
    ({ format }) => {
      fc.assert(
        fc.property(texts, cuts, (text, sizes) => {
          expect(read(format, split(text, sizes))).toEqual(read(format, [text]));
        }),
        { seed: 6, numRuns: 400 },
      );
    },
  );

  test.each(formats.map((format) => ({ name: format.name, format })))(
    "$name: text that is neither a call nor a mark is unchanged",
    ({ format }) => {
      const plain = fc.array(
        fc.constantFrom(" ", "\n", "a", "<", "to", "ol_", "é", "🙂", "(", "=", ">", "1", "."),
        { maxLength: 30 },
      );
      fc.assert(
        fc.property(
          plain.map((words) => words.join("")),
          cuts,
          (text, sizes) => {
            expect(read(format, split(text, sizes))).toEqual({ content: text });
          },
        ),
        { seed: 7, numRuns: 200 },
      );
    },
  );

  test("nothing is read as a call if no tools are offered", () => {
    for (const [format, , text] of cases) {
      if (format !== harmony && format !== commandR) expect(read(format, [text], []).calls).toBeUndefined();
    }
  });
});
