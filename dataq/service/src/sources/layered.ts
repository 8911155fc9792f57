import { type Params, type Warning, warning } from "@dataq/contract";
import type { Coverage } from "@dataq/contract/wire";
import { notConfigured } from "./not-configured.ts";
import { beyond, type Reach } from "./reach.ts";
import type { Answer, DataKind, Page, Source, SourceContext } from "./source.ts";

/** A source whose data may be missing. */
export interface OptionalSource extends Source {
  /** False if no real record was imported. */
  exists(): Promise<boolean>;
  /** True if it contains generated records, which answer as samples where there are no real ones. */
  hasGenerated?(): Promise<boolean>;
  /** The records with any of these identities, where records of several publishers are joined. */
  known?(identities: readonly string[]): Promise<readonly object[]>;
  /** The same source, if this one waits for data that is still being built. */
  readonly asOfNow?: OptionalSource;
}

export interface Layers {
  /** The operator's contracts with vendors; undefined if there are none. */
  readonly connector?: () => Promise<Source | undefined>;
  readonly imported: OptionalSource;
  readonly sample: Source;
  /** What the imported records cover. */
  readonly coverage: () => Promise<Coverage | null>;
  /** The days and parts that a question asks about. */
  readonly reach?: ((params: Params) => Reach | undefined) | undefined;
  /** The values that samples answer, as published in the catalogue. */
  readonly samples: readonly Params[];
  /**
   * What samples answer: `own` values, for a source that generates its samples; the `published` questions, for a
   * corpus of samples; or `any` question, as with generated judgments.
   */
  readonly sampleScope: "own" | "published" | "any";
  /** Whether live keys get samples where there is no real data. */
  readonly hasLiveSamples: boolean;
}

/**
 * Asks the connector first, then imported records, then samples. `dq_test_` keys get only samples; live keys get none
 * once there is real data. Samples never deny: what they do not find is `not_configured`, and for a test key
 * `not_found`.
 */
export class LayeredSource implements Source {
  readonly samples: readonly Params[];
  readonly #operation: string;
  readonly #layers: Layers;

  constructor(operation: string, layers: Layers) {
    this.#operation = operation;
    this.#layers = layers;
    this.samples = layers.samples;
  }

  async answeredBy(when: "call" | "now"): Promise<DataKind> {
    const { imported } = this.#layers;
    const chosen = await this.#choose(false, when === "now" ? (imported.asOfNow ?? imported) : imported);
    return chosen?.kind ?? "none";
  }

  coverage(): Promise<Coverage | null> {
    return this.#layers.coverage();
  }

  async version(sandbox: boolean): Promise<string> {
    const { kind, source } = await this.#chosen(sandbox);
    return `${kind} ${await source.version(sandbox)}`;
  }

  async normalised(params: Params, sandbox: boolean, now: Date): Promise<Params> {
    const { source } = await this.#chosen(sandbox);
    return source.normalised?.(params, sandbox, now) ?? params;
  }

  async count(params: Params, sandbox: boolean): Promise<number> {
    const { source } = await this.#chosen(sandbox);
    return (await source.count?.(params, sandbox)) ?? 1;
  }

  async run(params: Params, page: Page, context: SourceContext): Promise<Answer> {
    const { kind, source } = await this.#chosen(context.sandbox);
    if (kind !== "sample") {
      const withoutGenerated = !this.#layers.hasLiveSamples;
      const ran = await source.run(params, page, { ...context, withoutGenerated });
      const reached = kind === "imported" ? await this.#withReach(ran, params) : ran;
      const answer =
        kind === "imported" && source.count === undefined ? await this.#withCoverage(reached) : reached;
      return answer.version === undefined ? answer : { ...answer, version: `${kind} ${answer.version}` };
    }
    const answer = await source.run(params, page, context);
    const isNothing = answer.outcome === "empty" || answer.outcome === "not_found";
    if (!context.sandbox && (isNothing || answer.relaxed === true))
      throw notConfigured(this.#operation, true);
    if (isNothing && this.#layers.sampleScope === "own") return { ...answer, outcome: "not_found" };
    return { ...answer, sample: true, warnings: [warning("samples"), ...answer.warnings] };
  }

  async check(params: Params, sandbox: boolean): Promise<void> {
    const { kind, source } = await this.#chosen(sandbox);
    await source.check?.(params, sandbox);
    const isLimited = kind === "sample" && !sandbox && this.#layers.sampleScope === "published";
    if (isLimited && !this.samples.some((sample) => isWithin(sample, params)))
      throw notConfigured(this.#operation, true);
  }

  /**
   * An answer over a part of what was asked for says which part; so does one that names what is missing. Nothing is paid
   * where nothing could be found.
   */
  async #withReach(answer: Answer, params: Params): Promise<Answer> {
    const reach = this.#layers.reach?.(params);
    const isMissing = answer.notHeld === true || answer.isPart === true || answer.warnings.some(isOfPart);
    if (reach === undefined && !isMissing) return answer;
    const coverage = await this.#layers.coverage();
    if (coverage === null) return answer;
    const { text, oldest_day, newest_day } = coverage;
    const found = reach && beyond(reach, coverage);
    if (!found) return isMissing ? { ...answer, coverage: { text, oldest_day, newest_day } } : answer;
    return {
      ...answer,
      coverage: { text, oldest_day: found.oldest_day, newest_day: found.newest_day },
      ...(found.how === "nothing" && answer.outcome === "empty" && { notHeld: true }),
    };
  }

  /** Who finds nothing learns what could have been found. A text without anything to count asked for nothing. */
  async #withCoverage(answer: Answer): Promise<Answer> {
    const isNothing = answer.outcome === "empty" || answer.notHeld === true;
    if (!isNothing || !answer.warnings.every(({ code }) => isOfMissing.test(code))) return answer;
    const coverage = await this.#layers.coverage();
    if (coverage === null) return answer;
    return { ...answer, warnings: [...answer.warnings, warning("held_here", { held: coverage.text })] };
  }

  async #chosen(sandbox: boolean): Promise<Chosen> {
    const chosen = await this.#choose(sandbox, this.#layers.imported);
    if (chosen === undefined) throw notConfigured(this.#operation, false);
    return chosen;
  }

  async #choose(sandbox: boolean, imported: OptionalSource): Promise<Chosen | undefined> {
    const { sample, hasLiveSamples } = this.#layers;
    const connector = sandbox ? undefined : await this.#layers.connector?.();
    if (connector !== undefined) return { kind: "connector", source: connector };
    if (!sandbox && (await imported.exists())) return { kind: "imported", source: imported };
    if (!sandbox && !hasLiveSamples) return undefined;
    if (!sandbox && (await imported.hasGenerated?.())) return { kind: "sample", source: imported };
    return { kind: "sample", source: sample };
  }
}

/** Only the values of the sample are compared. A call may add others, which the source compares. */
function isWithin(sample: Params, params: Params): boolean {
  return Object.entries(sample).every(([name, value]) => params[name] === value);
}

interface Chosen {
  readonly kind: Exclude<DataKind, "none">;
  readonly source: Source;
}

/** Warnings about data that is not held. Others, such as an article that cannot exist, say all there is to say. */
const isOfMissing = /_not_held$|_without_/;

/** Warnings that something is missing which would be a part of the answer. */
function isOfPart({ code }: Warning): boolean {
  return isOfMissing.test(code) || code === "sources_answer_rest" || code === "sources_alone_answer";
}
