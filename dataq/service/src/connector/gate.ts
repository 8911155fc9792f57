/** What a vendor and the operator agreed on. It holds for all operations and all services together. */
export interface Terms {
  /** Limit of one request. */
  readonly timeLimitMs: number;
  /** Requests at the same time. */
  readonly mostAtOnce: number;
  /** Shortest time between the starts of two requests; 0 for no limit. */
  readonly everyMs: number;
  /** Requests a day, in China time. */
  readonly mostPerDay: number | null;
  /** What a request costs the operator, in fen. Counted, not charged. */
  readonly costFen: number;
}

/** Knows which requests may be sent under a contract; see limits/contract-gate.ts. */
export interface Gate {
  /** The turn of the request, at most `patienceMs` away, or why it may not be sent. */
  enter(request: GateRequest): Promise<Entered>;
  leave(id: string, contract: string, nowMs: number, verdict: Verdict): Promise<void>;
  /** Keeps what the vendor said is left. */
  noteBalance(contract: string, amount: number, nowMs: number): Promise<void>;
}

export interface GateRequest {
  readonly id: string;
  readonly contract: string;
  readonly operation: string;
  /** The call of a customer that it is sent for. */
  readonly requestId: string | null;
  readonly terms: Terms;
  readonly leaseMs: number;
  readonly nowMs: number;
  readonly patienceMs: number;
  readonly costFen: number;
}

export type Entered =
  | { readonly refused: null; readonly waitMs: number }
  | {
      /**
       * `full`: too many at once. `rate`: too many in a short time. `day`: the day is used up. `paused`: the vendor asked
       * to wait. `open`: it failed repeatedly.
       */
      readonly refused: "full" | "rate" | "day" | "paused" | "open";
      readonly waitMs: number;
      /** What the vendor said last. */
      readonly why: string | null;
    };

export interface Verdict {
  /** `left`: the request says nothing about the vendor. */
  readonly outcome: "answered" | "failed" | "left";
  readonly failure?: string;
  /** It was sent, and no answer came: the vendor may charge it. */
  readonly isUnanswered?: boolean;
  /** More requests follow for the same answer, and the last one says whether the vendor works. */
  readonly isStep?: boolean;
  /** Nothing is sent for this time. */
  readonly pause?: { readonly ms: number; readonly why: string; readonly isOutOfMoney?: true };
  /** HTTP status; null if no answer arrived. */
  readonly status?: number | null;
  readonly ms?: number;
}
