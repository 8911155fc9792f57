import { expect, test } from "vitest";
import { checkBody } from "../wire/body.ts";
import { access } from "./access.ts";
import { described, openApi } from "./openapi.ts";

test("every route of programs is described, and no other", () => {
  const ofPrograms = Object.keys(access).filter((name) => !/^OPTIONS|^GET \/(?:$|page|docs)/.test(name));
  expect(Object.keys(described).sort()).toEqual(ofPrograms.sort());
});

test.each(Object.entries(described).filter(([, { body }]) => body !== undefined))(
  "the example of %s is a valid body without unknown fields",
  (_, { body, example }) => {
    expect(checkBody(body as Parameters<typeof checkBody>[0], example).unknown).toEqual([]);
  },
);

test("the items of lists, ranges and both languages are there", () => {
  const text = JSON.stringify(openApi("0"));
  const { paths } = JSON.parse(text);
  const { schema } = paths["/api/chat"].post.requestBody.content["application/json"];
  const [messages] = schema.properties.messages.anyOf;
  expect(messages.items.properties.role).toBeDefined();
  expect(schema.properties.model["x-zh"]).toMatch(/名称/);
  expect(
    paths["/v1/chat/completions"].post.requestBody.content["application/json"].schema.properties,
  ).toMatchObject({ temperature: { anyOf: [{ minimum: 0, maximum: 2 }, {}] } });
  expect(paths["/v1/models/{model}"].get.parameters).toHaveLength(1);
});
