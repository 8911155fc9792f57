import { type ConversationHead, drawLot, type KnownBeginnings } from "./conversation-head.ts";

/** A replica that has a free place. */
export interface Candidate {
  readonly id: string;
  readonly weight: number;
  /** The requests that it computes now, as far as known. */
  readonly load: number;
  /** How many requests it was given so far. */
  readonly given: number;
  /** False if the engine lists its models and this one is not among them. */
  readonly hasModel: boolean;
}

/**
 * Chooses among replicas with a free place. One that has the conversation's beginning may have somewhat more than its
 * share of requests. Otherwise the conversation itself decides between those with less than their share, so that it
 * goes to the same replica after a restart. Requests without a conversation go where the load is lowest.
 */
export function chooseReplica<Replica extends Candidate>(
  free: readonly Replica[],
  head: ConversationHead | null,
  known: KnownBeginnings,
): { readonly replica: Replica; readonly why: string } {
  const withModel = free.filter(({ hasModel }) => hasModel);
  const candidates = withModel.length > 0 ? withModel : free;
  if (candidates.length === 1) return { replica: candidates[0]!, why: "the only replica with a free slot" };
  if (head === null)
    return { replica: candidates.reduce((a, b) => (isIdler(b, a) ? b : a)), why: "the lowest load" };

  const load = candidates.reduce((sum, each) => sum + each.load, 0);
  const weight = candidates.reduce((sum, each) => sum + each.weight, 0);
  const isBelow = (replica: Replica, slack: number) => {
    const share = (slack * (load + 1) * replica.weight) / weight;
    return replica.load < Math.ceil(share - roundingError);
  };
  const found = known.find(head);
  const last = found === null ? undefined : candidates.find(({ id }) => id === found.replica);
  if (found !== null && last !== undefined && isBelow(last, conversationSlack))
    return {
      replica: last,
      why: `has the conversation's first ${found.length} of ${head.beginnings.length}`,
    };
  // Rendezvous hashing: a replica that comes or goes moves only its own conversations.
  const score = ({ id, weight }: Replica) => weight / -Math.log(drawLot(head.conversation, id));
  const below = candidates.filter((each) => isBelow(each, 1));
  const replica = (below.length > 0 ? below : candidates)
    .map((each) => ({ each, score: score(each) }))
    .reduce((a, b) => (b.score > a.score ? b : a));
  return { replica: replica.each, why: "the conversation's hash" };
}

/** As usual for consistent hashing with bounded loads. */
const conversationSlack = 1.25;
const roundingError = 1e-9;

function isIdler(a: Candidate, b: Candidate): boolean {
  const difference = (a.load + 1) / a.weight - (b.load + 1) / b.weight;
  return difference < 0 || (difference === 0 && a.given / a.weight < b.given / b.weight);
}
