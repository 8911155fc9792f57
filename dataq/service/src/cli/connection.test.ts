import { expect, it } from "vitest";
import { ownAddress } from "./connection.ts";

it.each([
  ["0.0.0.0", "http://127.0.0.1:11435"],
  ["::", "http://127.0.0.1:11435"],
  ["::1", "http://[::1]:11435"],
  ["192.168.1.5", "http://192.168.1.5:11435"],
])("commands reach a service that listens on %s at %s", (host, address) => {
  expect(ownAddress({ host, port: 11_435 })).toBe(address);
});
