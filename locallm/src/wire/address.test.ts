import { expect, test } from "vitest";
import { isLoopback, isPrivateAddress } from "./address.ts";

test.each([
  ["127.0.0.1", true],
  ["10.1.2.3", true],
  ["172.20.0.1", true],
  ["192.168.1.1", true],
  ["169.254.169.254", true],
  ["100.64.0.1", true],
  ["0.0.0.0", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["::ffff:7f00:1", true],
  ["::ffff:a9fe:a9fe", true],
  ["::ffff:8.8.8.8", false],
  ["fe80::1", true],
  ["fd00::1", true],
  ["64:ff9b::a00:1", true],
  ["64:ff9b:1::a00:1", true],
  ["2002:7f00:1::1", true],
  ["2001:0:4136:e378::1", true],
  ["fec0::1", true],
  ["FEC0::1", true],
  ["2001:4860:4860::8888", false],
  ["8.8.8.8", false],
  ["172.32.0.1", false],
  ["2606:4700::1111", false],
  ["not an address", true],
])("%s is private: %s", (address, expected) => {
  expect(isPrivateAddress(address)).toBe(expected);
});

test.each([
  ["localhost", true],
  ["LOCALHOST.", true],
  ["a.localhost", true],
  ["127.255.0.1", true],
  ["::1", true],
  ["0:0:0:0:0:0:0:1", true],
  ["::ffff:127.0.0.1", true],
  ["127.0.0.1.example", false],
  ["localhost.example", false],
  ["128.0.0.1", false],
  ["::2", false],
  ["", false],
])("%s is loopback: %s", (hostname, expected) => {
  expect(isLoopback(hostname)).toBe(expected);
});
