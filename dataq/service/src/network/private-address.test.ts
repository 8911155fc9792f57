import { expect, test } from "vitest";
import { isPrivateAddress } from "./private-address.ts";

test.each([
  ["127.0.0.1", true],
  ["127.8.8.8", true],
  ["10.0.0.1", true],
  ["172.31.255.255", true],
  ["172.32.0.1", false],
  ["192.168.1.1", true],
  ["169.254.169.254", true],
  ["100.64.0.1", true],
  ["0.0.0.0", true],
  ["::1", true],
  ["::", true],
  ["::ffff:10.0.0.1", true],
  ["::ffff:7f00:1", true],
  ["64:ff9b::a00:1", true],
  ["2002:7f00:1::", true],
  ["fd00::1", true],
  ["fe80::1", true],
  ["not an address", true],
  ["8.8.8.8", false],
  ["2606:4700::1111", false],
])("%s is private: %s", (address, isPrivate) => {
  expect(isPrivateAddress(address)).toBe(isPrivate);
});
