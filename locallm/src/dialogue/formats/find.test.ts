import { expect, test } from "vitest";
import { TemplateError, TemplateRefusal } from "../../template/limits.ts";
import type { Prompter } from "../prompter.ts";
import { findToolFormat } from "./find.ts";

const failing = (error: Error): Prompter => ({
  traits: { tools: true, insert: false },
  render() {
    throw error;
  },
  insert: () => "",
});

test.each([new TemplateError("calls an unknown function"), new TemplateRefusal("no tools here")])(
  "finds no format if the template fails on a call: %o",
  (error) => {
    expect(findToolFormat("{{ tools }}", failing(error))).toBeNull();
  },
);

test.each([new TypeError("x is not a function"), new Error("the thread ended")])(
  "does not hide a fault of the program: %o",
  (error) => {
    expect(() => findToolFormat("{{ tools }}", failing(error))).toThrow(error);
  },
);
