/**
 * Writes the conversations that `main.go` renders with every known template. Run it after a template has
 * changed.
 */
import { writeFileSync } from "node:fs";
import { knownTemplates } from "../../locallm/src/template/known/families.ts";
const tool = { type: "function", function: { name: "get_weather", description: "Weather of a <city>", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } } };
const chats = {
  plain: { messages: [{ role: "user", content: "hi" }] },
  talk: { system: "S", messages: [{ role: "system", content: "S" }, { role: "user", content: "u1" }, { role: "assistant", content: "a1" }, { role: "user", content: "u2\n" }] },
  tools: { system: "S", messages: [{ role: "system", content: "S" }, { role: "user", content: "Rome?" }, { role: "assistant", content: "", tool_calls: [{ id: "c1", function: { index: 0, name: "get_weather", arguments: { city: "Rome" } } }, { id: "c2", function: { index: 1, name: "get_weather", arguments: { city: "Oslo" } } }] }, { role: "tool", content: "12 \"°\"", tool_name: "get_weather", tool_call_id: "c1" }, { role: "user", content: "thanks" }], tools: [tool] },
};
const cases = knownTemplates.flatMap(({ name, template }) => Object.keys(chats).map((chat) => ({ name: `${name}: ${chat}`, template, chat })));
const lines = cases.map((each) => JSON.stringify(each)).join(",\n  ");
writeFileSync(new URL("../../locallm/src/template/known/golden/cases.json", import.meta.url), `{\n "data": null,\n "chats": ${JSON.stringify(chats)},\n "cases": [\n  ${lines}\n ]\n}\n`);
