import assert from "node:assert/strict";
import { isIP } from "node:net";
import { Failure } from "@dataq/contract";
import { routes } from "@dataq/contract/wire";
import type { Target } from "../../../fuzz/target.ts";
import { areWithin, isAmong } from "../src/accounts/address.ts";
import { isPrivateAddress } from "../src/network/private-address.ts";
import { assertPossibleTarget, hostOf, isAllowedAddress } from "../src/webhooks/targets.ts";

/** Whatever way an address of this machine or of a private network is written, a webhook cannot have it. */
export const target: Target = {
  covers: [
    "dataq/service/src/webhooks/targets.ts",
    "dataq/service/src/network",
    "dataq/service/src/accounts/address.ts",
  ],
  seeds: [
    "https://example.org/hook?x=1",
    "http://127.0.0.1:80/",
    "https://[::ffff:7f00:1]/",
    "https://[64:ff9b::a00:1]/",
    "https://0x7f.1/",
    "https://2130706433/",
    "https://user:pass@10.0.0.1:8443/a#b",
    "https://8.8.8.8/",
    "https://localhost./",
    "https://１２７.0.0.1/",
  ],
  words: [
    "127.0.0.1",
    "::1",
    "0x7f000001",
    "017700000001",
    "169.254.169.254",
    "[::]",
    "https://",
    "@",
    "%31",
    "。",
  ],
  longest: 512,
  read(input) {
    const text = input.toString();
    isPrivateAddress(text);
    if (isIP(text) !== 0) {
      isAmong(text, ["10.0.0.0/8", "fc00::/7"]);
      areWithin([text], ["0.0.0.0/0", "::/0"]);
    }
    const body = routes.createWebhook?.body;
    const isPossible = body === undefined || body.safeParse({ url: text, events: ["*"] }).success;
    let url: URL;
    try {
      url = new URL(text);
    } catch {
      assert(!isPossible || body === undefined, "The contract accepts what is not a URL.");
      return;
    }
    assertPossibleTarget(text, "public");
    const host = hostOf(url);
    if (isIP(host) !== 0)
      assert(isAllowedAddress(host, "public") && !isPrivateAddress(host), `${host} is private`);
    assert(url.protocol !== "http:", "http is possible");
  },
  refuses: (error) => error instanceof Failure,
};
