import type { Operation, Price } from "@dataq/contract";

/** What a call costs now: the price list's newest version in force, which an operator may have changed. */
export type PricesInForce = (operation: Operation) => Price;
