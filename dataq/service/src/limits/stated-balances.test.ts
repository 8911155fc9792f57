import { expect, test } from "vitest";
import type { Contract } from "../connector/contract.ts";
import type { ContractGate } from "./contract-gate.ts";
import { askBalances } from "./stated-balances.ts";

test("a vendor is asked what is left if it can say so, and has not within ten minutes, on either side of now", async () => {
  const now = new Date("2026-03-10T04:00:00Z");
  const asked: string[] = [];
  const statedMs: Readonly<Record<string, number>> = {
    recently: -600_000,
    "long ago": -600_001,
    "by a clock ahead": 600_001,
  };
  const contracts = ["mute", "never", ...Object.keys(statedMs)].map(
    (name) =>
      ({
        name,
        parts: name === "mute" ? {} : { stated: { ask: {} } },
        askBalance: async () => void asked.push(name),
      }) as unknown as Contract,
  );
  const states = async () =>
    new Map(
      Object.entries(statedMs).map(([name, ms]) => [
        name,
        { stated: { amount: 1, at: new Date(now.getTime() + ms) } },
      ]),
    );
  await askBalances(contracts, { states } as unknown as ContractGate, now);
  expect(asked).toEqual(["never", "long ago", "by a clock ahead"]);
});

test("where no vendor can say what is left, nothing is read", async () => {
  const states = () => Promise.reject(new Error("the states were read"));
  const mute = { name: "mute", parts: {} } as unknown as Contract;
  await askBalances([mute], { states } as unknown as ContractGate, new Date());
});
