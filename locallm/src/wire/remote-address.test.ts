import { describe, expect, test } from "vitest";
import {
  hostAndPort,
  isNamedHost,
  isRemoteAddress,
  parseNamedHost,
  parseRemoteAddress,
} from "./remote-address.ts";

describe("the address of an engine", () => {
  test.each([
    ["https://gpu1.example:8000/v1#Qwen/Qwen3-32B", "https://gpu1.example:8000/v1", "Qwen/Qwen3-32B"],
    ["HTTPS://GPU1.Example:443/v1/#qwen3:32b", "https://gpu1.example/v1", "qwen3:32b"],
    ["http://gpu1.example.:80#m", "http://gpu1.example", "m"],
    ["http://[::FFFF:10.0.0.1]:8080/a/../v1#m", "http://[::ffff:a00:1]:8080/v1", "m"],
    // Other spellings of an IPv4 address become the usual one, so that no check misses them.
    ["http://0x7f.1/v1#m", "http://127.0.0.1/v1", "m"],
    ["http://2130706433#m", "http://127.0.0.1", "m"],
    ["http://①②⑦.0.0.1#m", "http://127.0.0.1", "m"],
    ["https://bücher.example/v1#模型", "https://xn--bcher-kva.example/v1", "模型"],
  ])("%s", (text, url, model) => {
    expect(isRemoteAddress(text)).toBe(true);
    expect(parseRemoteAddress(text)).toEqual({ url, model });
  });

  test.each([
    ["https://gpu1.example/v1", "must end with #"],
    ["https://gpu1.example/v1#", "must not be empty"],
    [`https://gpu1.example/v1#${"m".repeat(257)}`, "must have at most 256 characters"],
    ["https://gpu1.example/v1#a b", "must not contain spaces"],
    ["https://gpu1.example/v1#a#b", "must not contain spaces, control characters or #"],
    [`https://gpu1.example/${"a".repeat(1100)}#m`, "must have at most 1024 characters"],
    ["https://user:secret@gpu1.example/v1#m", "must not contain a username or password"],
    ["https://secret@gpu1.example/v1#m", "must not contain a username or password"],
    ["https://@gpu1.example/v1#m", "must not contain a username or password"],
    ["https://gpu1.example:8000@evil.example/v1#m", "must not contain a username or password"],
    ["https://gpu1.example/v1?key=secret#m", "must not contain a query"],
    ["https://gpu1.example/v1?#m", "must not contain a query"],
    ["https://gpu1.example\\@evil.example#m", "must not contain spaces, control characters or \\"],
    ["https://gpu1.exa\tmple/v1#m", "must not contain spaces"],
    ["https://gpu1\u200b.example/v1#m", "must not contain spaces"],
    ["https://gpu1.example:0/v1#m", "must have a port"],
    ["https://gpu1.example:65536/v1#m", "must be an http or https URL"],
    ["https:gpu1.example#m", "must be an http or https URL"],
    ["https:///v1#m", "must be an http or https URL"],
    ["https://#m", "must be an http or https URL"],
    ["https://..#m", "must contain a host name"],
    ["http://[fe80::1%25eth0]/v1#m", "must be an http or https URL"],
    ["file:///etc/passwd#m", "must be an http or https URL"],
    ["ftp://gpu1.example#m", "must be an http or https URL"],
  ])("rejects %s", (text, problem) => {
    expect(parseRemoteAddress(text)).toEqual({ problem: expect.stringContaining(problem) as string });
  });

  test.each(["llama3", "hf.co/a/b:Q4", "./https://x#y", "http://host/ns/model:tag", "https.gguf"])(
    "%s is a name or a path, not an address",
    (text) => {
      expect(isRemoteAddress(text)).toBe(false);
    },
  );
});

describe("a named host", () => {
  test.each([
    ["gpu1.example", "https://gpu1.example:8000/v1", true],
    ["GPU1.Example.", "https://gpu1.example/v1", true],
    ["gpu1.example:443", "https://gpu1.example/v1", true],
    ["gpu1.example:8000", "https://gpu1.example/v1", false],
    ["gpu1.example", "https://gpu1.example.evil.example/v1", false],
    ["gpu1.example", "https://evil.example/gpu1.example", false],
    ["gpu1.example:00080", "http://gpu1.example/v1", true],
    ["gpu1.example:80", "http://gpu1.example:8080/v1", false],
    ["10.1", "http://10.0.0.1:8000", true],
    ["[::1]", "http://[0:0::1]:8000", true],
    ["[::1]:8000", "http://[::1]:8001", false],
    ["127.0.0.1", "http://[::ffff:127.0.0.1]:8000", false],
  ])("%s names %s: %s", (name, url, isNamed) => {
    const host = parseNamedHost(name);
    expect(host).not.toBeNull();
    expect(host !== null && isNamedHost(url, host)).toBe(isNamed);
  });

  test.each([
    "",
    "*",
    "*.example",
    "https://gpu1.example",
    "gpu1.example/v1",
    "a@b",
    "::1",
    "a:b",
    "a:70000",
    "a:0",
    "a b",
  ])("rejects %j", (text) => {
    expect(parseNamedHost(text)).toBeNull();
  });

  test("is shown with its port", () => {
    expect(["https://a.example/v1", "http://[::1]:80", "http://a:8000"].map(hostAndPort)).toEqual([
      "a.example:443",
      "[::1]:80",
      "a:8000",
    ]);
  });
});
