import { expect, test } from "vitest";
import { callerOf, isAmong, isLoopback } from "./address.ts";

test("an IPv4 address is one caller, even on a socket that accepts IPv6", () => {
  expect(callerOf("203.0.113.9")).toBe("203.0.113.9");
  expect(callerOf("::ffff:203.0.113.9")).toBe("203.0.113.9");
});

test("all addresses of an IPv6 /64 are one caller, however they are written", () => {
  const same = [
    "2001:db8:0:7::1",
    "2001:0db8:0000:0007:aaaa::",
    "2001:db8:0:7:1:2:3:4",
    "2001:db8::7:1:2:3:4",
  ];
  expect(new Set(same.map(callerOf))).toEqual(new Set(["2001:db8:0:7::/64"]));
  expect(callerOf("2001:db8:0:8::1")).toBe("2001:db8:0:8::/64");
  expect(callerOf("::1")).toBe("0:0:0:0::/64");
  expect(callerOf("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
});

test("blocks and addresses", () => {
  expect(isAmong("10.1.2.3", ["10.0.0.0/8"])).toBe(true);
  expect(isAmong("::ffff:10.1.2.3", ["10.0.0.0/8"])).toBe(true);
  expect(isAmong("11.1.2.3", ["10.0.0.0/8", "2001:db8::/32"])).toBe(false);
  expect(isAmong("2001:db8::5", ["10.0.0.0/8", "2001:db8::/32"])).toBe(true);
  expect(isAmong("what a proxy made up", ["0.0.0.0/0", "::/0"])).toBe(false);
  expect(["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"].map(isLoopback)).not.toContain(false);
});
