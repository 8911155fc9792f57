import { errors, errorsZh } from "@dataq/contract";
import { expect, test } from "vitest";
import { ServiceError } from "../service/call.ts";
import { en } from "../text/en.ts";
import { zh } from "../text/zh.ts";
import { explain } from "./explain.ts";

test.each([
  ["English", errors, en],
  ["Chinese", errorsZh, zh],
])("no error in %s sends a reader to what only programs see", (_, rows, text) => {
  const told = Object.entries(rows).map(([code, { message, nextAction }]) => {
    const body = { code: code.toUpperCase(), detail: message, next_action: nextAction, request_id: "req_1" };
    return explain(new ServiceError(400, body), text);
  });
  expect(told.length).toBeGreaterThan(50);
  for (const { title, next } of told) {
    expect(title).not.toBe("");
    expect(next).not.toContain("details");
  }
  const detail =
    text === zh ? "参数有误：name 太长（最多 60 个字符）。" : "name is too long (at most 60 characters).";
  const wrong = explain(new ServiceError(400, { code: "INVALID_PARAMS", detail, request_id: "req_2" }), text);
  expect(wrong).toEqual({ title: detail, next: "", requestId: "req_2" });
});
