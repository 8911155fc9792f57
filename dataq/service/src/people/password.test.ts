import { expect, test } from "vitest";
import { hashPassword, isPassword } from "./password.ts";

test("a hash matches its password, and no other", async () => {
  const hash = await hashPassword("correct horse battery");
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await isPassword("correct horse battery", hash)).toBe(true);
  expect(await isPassword("correct horse batterY", hash)).toBe(false);
});

test("two hashes of one password differ", async () => {
  expect(await hashPassword("correct horse battery")).not.toBe(await hashPassword("correct horse battery"));
});

test("the same letters in another Unicode form match", async () => {
  expect(await isPassword("pa\u0301ssword ok", await hashPassword("p\u00e1ssword ok"))).toBe(true);
});

test("text that is not one of our hashes matches nothing", async () => {
  expect(await isPassword("", "")).toBe(false);
  expect(await isPassword("x", "$argon2i$v=19$m=8,t=1,p=1$AAAA$AAAA")).toBe(false);
});
