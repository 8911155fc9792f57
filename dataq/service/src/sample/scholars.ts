import { personName } from "./names.ts";
import { Random } from "./random.ts";
import { institutions, type Topic, topics } from "./topics.ts";

/** The researchers of the samples. Papers and scholars both use them. */
export const scholarCount = 400;

export interface ScholarName {
  readonly id: string;
  readonly name: string;
  readonly affiliation: string;
  readonly topic: Topic;
}

export function scholarName(number: number): ScholarName {
  const random = new Random(`scholar ${number}`);
  return {
    id: `sample-scholar-${number}`,
    name: number === 0 ? "陈明" : personName(random),
    affiliation: random.pick(institutions),
    topic: topics[number % topics.length] as Topic,
  };
}
