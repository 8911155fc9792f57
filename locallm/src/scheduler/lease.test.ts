import { expect, it } from "vitest";
import { filesOf, type RunnableModel } from "./lease.ts";

it("a load has all files of its model, and no key for one that it lacks", () => {
  const model: RunnableModel = {
    ...{ name: "m", digest: "d", modelPath: "/m", weights: "w", adapters: [], trainContext: null },
  };
  expect(filesOf(model)).toEqual({ modelPath: "/m" });
  const senses = { projectorPath: "/p", sees: true, hears: false, wholePicture: 9 };
  expect(filesOf({ ...model, furtherPaths: ["/n"], draftPath: "/d", senses })).toEqual({
    ...{ modelPath: "/m", furtherPaths: ["/n"], draftPath: "/d", wholePicture: 9 },
  });
});
