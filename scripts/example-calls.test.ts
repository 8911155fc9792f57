import { expect, test } from "vitest";
import { callsOf } from "../site/.vitepress/theme/curl.ts";
import { commandsIn } from "../testing/guide-commands.ts";

test("a page sends what the command line would", () => {
  expect(
    callsOf(
      `# asks twice
curl -s $BASE/v1/data/query -H "Authorization: Bearer $KEY" -H 'Accept: text/csv' \\
  -d '{"a": "it # is",
  "b": 1}'   # a comment
curl -X DELETE "$BASE/v1/keys/1?x=\\"y\\""`,
      "dataq",
    ),
  ).toEqual([
    {
      method: "POST",
      path: "/v1/data/query",
      headers: { accept: "text/csv" },
      body: '{"a": "it # is",\n  "b": 1}',
    },
    { method: "DELETE", path: '/v1/keys/1?x="y"', headers: {}, body: undefined },
  ]);
});

test.each([
  ["another program", "dataq keys list"],
  ["a pipe", "curl $BASE/v1/pricing | head"],
  ["a file to write", "curl $BASE/v1/pricing > prices.json"],
  ["a file to send", "curl $BASE/v1/data/query -d @body.json"],
  ["another host", "curl https://example.com/v1/pricing"],
  ["a host that begins like ours", "curl http://127.0.0.1:114350/v1/pricing"],
  ["the other product", "curl http://127.0.0.1:11434/api/tags"],
  ["a command inside", 'curl $BASE/v1/pricing -H "x: $(id)"'],
  ["an open quote", "curl $BASE/v1/pricing -d '{"],
  ["an unknown option", "curl --upload-file x $BASE/v1/pricing"],
])("it sends nothing of a block with %s", (_, block) => expect(callsOf(block, "dataq")).toEqual([]));

test("most calls of the guides can be sent", () => {
  for (const product of ["dataq", "locallm"] as const) {
    const blocks = commandsIn(product).filter(({ script, runs }) => runs && /^curl /m.test(script));
    const sent = blocks.filter(({ script }) => callsOf(script, product).length > 0);
    expect(sent.length / blocks.length, product).toBeGreaterThan(0.7);
  }
});
