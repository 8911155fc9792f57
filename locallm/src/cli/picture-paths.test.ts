import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Senses, takeMedia } from "./picture-paths.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-paths-"));
  await mkdir(join(folder, "my pictures"));
  for (const name of ["a.png", "my pictures/b (1).JPG", "c.webp", "d.WAV"])
    await writeFile(join(folder, name), name);
});
afterAll(() => rm(folder, { recursive: true }));

const found = async (question: string, senses: Senses = { sees: true, hears: false }) => {
  const { text, images } = await takeMedia(question.replaceAll("@", folder), senses);
  return [text, ...images.map((each) => Buffer.from(each, "base64").toString())];
};

it.each([
  ["what is @/a.png?", ["what is ?", "a.png"]],
  ["@/a.png", ["", "a.png"]],
  ["'@/my pictures/b (1).JPG' and \"@/c.webp\"", ["and", "my pictures/b (1).JPG", "c.webp"]],
  [
    "@/my\\ pictures/b\\ \\(1\\).JPG compare with @/a.png.",
    ["compare with .", "my pictures/b (1).JPG", "a.png"],
  ],
])("takes the pictures out of %s", async (question, expected) => {
  expect(await found(question)).toEqual(expected);
});

it.each([
  "@/none.png is not there",
  "a.png without a folder",
  "@/a.pngs",
  "see example.com/x.png",
  "@/c.webp/x",
  "@/d.WAV is for a model that hears",
])("leaves %s as it is", async (question) => {
  expect(await found(question)).toEqual([question.replaceAll("@", folder)]);
});

it("takes only what the model takes", async () => {
  const question = "@/a.png and @/d.WAV";
  const all = ["and", "a.png", "d.WAV"];
  expect(await found(question, { sees: true, hears: true })).toEqual(all);
  expect(await found(question, { sees: false, hears: true })).toEqual([`${folder}/a.png and`, "d.WAV"]);
  expect(await found(question, { sees: false, hears: false })).toEqual([question.replaceAll("@", folder)]);
});
