/** In the ledger, the operation of a call that answers several queries. Its capture's note says which. */
export const severalOperation = "queries";
