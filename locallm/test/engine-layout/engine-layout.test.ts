import { readFileSync } from "node:fs";
import koffi from "koffi";
import { describe, expect, it } from "vitest";
import { layout } from "../../src/engine/libllama/layout-0.5.0.ts";
import { releaseFor } from "../../src/engine/libllama/release.ts";
import { mtmdLayout } from "../../src/engine/libmtmd/layout.ts";
import { fileTypeName, tensorType } from "../../src/library/gguf/quantisation.ts";
import { type MeasuredLayout, membersOf, ours, structs } from "./measured.ts";

const [measured, elsewhere] = (["linux", "darwin"] as const).map(
  (platform) =>
    JSON.parse(
      readFileSync(new URL(`measured-${releaseFor(platform).version}.json`, import.meta.url), "utf8"),
    ) as MeasuredLayout,
) as [MeasuredLayout, MeasuredLayout];
const names = Object.keys(structs) as (keyof typeof structs)[];

describe("the layout, compared with what the compiler measured", () => {
  it.each(names)("places each member of %s where the compiler does", (name) => {
    const { bytes, members } = measured.structs[name];
    expect(membersOf(ours[name])).toEqual(members);
    expect(ours[name].size).toBe(bytes);
  });

  it("is that of the release for macOS and Windows, too", () => {
    expect(releaseFor("win32")).toBe(releaseFor("darwin"));
    expect(releaseFor("darwin")).not.toEqual(releaseFor("linux"));
    expect(elsewhere).toEqual(measured);
  });

  it("has every structure of the two layouts", () => {
    const parts = [...Object.values(layout), ...Object.values(mtmdLayout)] as { members?: unknown }[];
    const all = parts.filter((part) => part.members !== undefined);
    expect(all.length).toBeGreaterThan(9);
    expect(names.map((name) => ours[name])).toEqual(expect.arrayContaining(all));
    expect(names).toHaveLength(all.length);
  });

  it("notices any two neighbours that are exchanged", () => {
    let exchanged = 0;
    for (const name of names) {
      const order = Object.entries(ours[name].members ?? {}).map(
        ([member, { type }]) => [member, type] as const,
      );
      for (let index = 1; index < order.length; index++) {
        const swapped = order.with(index - 1, order[index]!).with(index, order[index - 1]!);
        const other = koffi.struct(Object.fromEntries(swapped));
        expect(membersOf(other)).not.toEqual(measured.structs[name].members);
        exchanged++;
      }
    }
    expect(exchanged).toBeGreaterThan(60);
  });
});

describe("the table of types, compared with the library's", () => {
  it.each(measured.tensorTypes)("knows $name", ({ id, name, blockLength, blockBytes }) => {
    expect(tensorType(id)).toEqual({ name: name.toUpperCase(), blockLength, blockBytes });
  });

  it("knows no other types", () => {
    const ids = new Set(measured.tensorTypes.map(({ id }) => id));
    for (let id = 0; id < 256; id++) if (!ids.has(id)) expect(tensorType(id)).toBeUndefined();
  });

  it.each(measured.fileTypes)("names files of type $id as $name", ({ id, name }) => {
    // The engine writes MXFP4 only into experts and says so in the name. People call the file by its type.
    expect(fileTypeName(id)).toBe(name === "MXFP4_MOE" ? "MXFP4" : name);
  });
});
