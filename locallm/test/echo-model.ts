import type { AnswerMakers } from "../src/engine/answer.ts";
import type { Position } from "../src/engine/batch.ts";
import type { Context, StepOutcome } from "../src/engine/context.ts";
import type { SharedMemory } from "../src/engine/kept/shared-memory.ts";
import { Pictures } from "../src/engine/pictures.ts";
import type { StatePart } from "../src/wire/inference/kept-state.ts";
import { type EncodedPicture, isPicture, type Picture } from "../src/wire/inference/picture.ts";

/** What a sequence holds: marks at positions in time, and the marks that its recurrent state has seen. */
interface Sequence {
  readonly held: readonly (readonly [mark: number, time: number])[];
  readonly seen: readonly number[];
}

interface Row {
  readonly mark: number;
  readonly time: number;
  readonly sequence: number;
  readonly output: boolean;
}

export interface EchoOptions {
  readonly sequences: number;
  readonly contextPerSequence: number;
  /** The cells of the cache that all sequences share. Null if each has its own. */
  readonly sharedCells: number | null;
  /** How many of these cells may be in use now. All if it is missing. */
  readonly mostCells?: () => number;
  readonly capacity: number;
  /** Whether the model has a recurrent state, which can only go back to a checkpoint. */
  readonly hasState: boolean;
  /** How the next step ends, and how many of its rows are computed if it is aborted. */
  readonly outcome: (rows: number) => StepOutcome | "throws" | { readonly abortedAfter: number };
}

const words = 64;
/** Tokens below this one end an answer. */
const ends = 1;

/**
 * A model whose next token tells everything that it saw: it is a hash of all marks of the sequence with their positions.
 * A mark of another sequence, one too few, or one at another place, and the answer is another one. It stands in for the
 * engine's context, and follows its rules: memory is cut by positions, and a recurrent state goes back to a checkpoint.
 */
export class EchoContext {
  readonly contextPerSequence: number;
  readonly sharedCells: number | null;
  readonly capacity: number;
  readonly kind: Context["kind"];
  readonly pointer = {};
  progress = 0;
  readonly #options: EchoOptions;
  readonly #sequences: Sequence[];
  readonly #saved: (readonly number[])[] = [];
  #rows: Row[] = [];
  /** The next token of each row with an output. */
  #outputs = new Map<number, number>();
  #isAborted = false;

  constructor(options: EchoOptions) {
    this.#options = options;
    this.contextPerSequence = options.contextPerSequence;
    this.sharedCells = options.sharedCells;
    this.capacity = options.capacity;
    this.kind = { hasCache: true, hasState: options.hasState, slidingWindow: 0 };
    this.#sequences = Array.from({ length: options.sequences }, () => nothing);
  }

  readonly batch = {
    clear: () => {
      this.#rows = [];
    },
    add: (token: number, time: number, sequence: number, output: boolean) =>
      this.#rows.push({ mark: token, time, sequence, output }) - 1,
    addRow: (numbers: Float32Array, [time]: Position, sequence: number, output: boolean) =>
      this.#rows.push({ mark: numbers[0]!, time, sequence, output }) - 1,
    outputOf: (row: number) => row,
  };

  /** The token that the last step gave for a row. */
  token(row: number): number {
    const token = this.#outputs.get(row);
    if (token === undefined) throw new Error(`row ${row} of the step has no output`);
    return token;
  }

  step(): StepOutcome {
    const rows = this.#rows;
    if (rows.length > this.capacity) throw new Error(`a step of ${rows.length} rows`);
    this.progress++;
    const outcome = this.#isAborted
      ? { abortedAfter: Math.floor(rows.length / 2) }
      : this.#options.outcome(rows.length);
    this.#isAborted = false;
    if (outcome === "throws") throw new Error("the step failed");
    if (outcome === "no_room" || outcome === "aborted") return outcome;
    this.#outputs = new Map();
    const computed = outcome === "done" ? rows : rows.slice(0, outcome.abortedAfter);
    /** Copies that this step fills, because sequences and checkpoints may share what was there before. */
    const grown = new Map<number, { held: [number, number][]; seen: number[] }>();
    for (const [index, { mark, time, sequence, output }] of computed.entries()) {
      let next = grown.get(sequence);
      if (next === undefined) {
        const { held, seen } = this.#sequences[sequence]!;
        next = { held: [...held] as [number, number][], seen: [...seen] };
        grown.set(sequence, next);
      }
      if (next.held.length === this.contextPerSequence) {
        this.#checkRoom();
        return "no_room";
      }
      this.#sequences[sequence] = next;
      next.held.push([mark, time]);
      if (this.kind.hasState) next.seen.push(mark);
      if (output) this.#outputs.set(index, tokenAfter(next));
    }
    this.#checkRoom();
    return outcome === "done" ? "done" : "aborted";
  }

  /** Cells that several sequences hold count once. */
  #checkRoom(): void {
    if (this.sharedCells === null) return;
    const cells = new Set<Sequence["held"][number]>();
    for (const { held } of this.#sequences) for (const cell of held) cells.add(cell);
    if (cells.size > (this.#options.mostCells?.() ?? this.sharedCells))
      throw new Error(`${cells.size} cells do not fit`);
  }

  /** Gives the loop the time in which clients leave, as another thread would. */
  async stepAside(): Promise<StepOutcome> {
    await null;
    await null;
    return this.step();
  }

  abort(): void {
    this.#isAborted = true;
  }

  cutsAnywhere = () => !this.kind.hasState;
  canCutTo = (_: number, position: number) => position === 0 || !this.kind.hasState;

  truncate(index: number, from: number): boolean {
    const { held, seen } = this.#sequences[index]!;
    const left = held.filter(([, time]) => time < from);
    const isPossible = from === 0 || !this.kind.hasState || seen.length <= left.length;
    this.#sequences[index] = isPossible
      ? { held: left, seen: this.kind.hasState ? seen.slice(0, left.length) : [] }
      : nothing;
    return isPossible;
  }

  copy(from: number, to: number): boolean {
    const { held, seen } = this.#sequences[from]!;
    // Slots with windows of their own have cells of their own.
    const isShared = this.sharedCells !== null;
    this.#sequences[to] = { held: isShared ? held : held.map(([mark, time]) => [mark, time]), seen };
    return true;
  }

  finishCopy = () => true;
  lastPosition = (index: number) => this.#sequences[index]!.held.at(-1)?.[1] ?? -1;
  canCutOut = () => !this.kind.hasState;

  cutOut(index: number, from: number, to: number): void {
    const { held } = this.#sequences[index]!;
    for (const [other, { held: cells }] of this.#sequences.entries())
      if (other !== index && cells.some((cell) => cell[1] >= to && held.includes(cell)))
        throw new Error("a shared cell would move");
    const left = held
      .filter(([, time]) => time < from || time >= to)
      // What stays where it is may be another sequence's, too, and counts once.
      .map((cell) => (cell[1] < to ? cell : ([cell[0] + moved, cell[1] - (to - from)] as const)));
    this.#sequences[index] = { held: left, seen: [] };
  }

  checkpointBytes = () => (this.kind.hasState ? 4 : 0);

  saveCheckpoint(index: number, into: Uint8Array): boolean {
    const place = this.#saved.push(this.#sequences[index]!.seen) - 1;
    new DataView(into.buffer, into.byteOffset).setUint32(0, place);
    return true;
  }

  goBack(index: number, bytes: Uint8Array): boolean {
    const seen = this.#saved[new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)];
    if (seen === undefined) return false;
    this.#sequences[index] = { ...this.#sequences[index]!, seen };
    return true;
  }

  stateBytes(index: number): number {
    const { held, seen } = this.#sequences[index]!;
    return 4 + held.length * 8 + seen.length * 4;
  }

  async saveState(index: number, memory: SharedMemory, part: StatePart): Promise<boolean> {
    if (this.stateBytes(index) !== part.bytes) return false;
    const { held, seen } = this.#sequences[index]!;
    const numbers = Int32Array.of(held.length, ...held.flat(), ...seen);
    memory.view(part.offset, part.bytes).set(new Uint8Array(numbers.buffer));
    return true;
  }

  async loadState(index: number, memory: SharedMemory, part: StatePart): Promise<boolean> {
    const bytes = memory.view(part.offset, part.bytes).slice();
    const [length = 0, ...numbers] = new Int32Array(bytes.buffer);
    const held = Array.from({ length }, (_, at) => [numbers[at * 2]!, numbers[at * 2 + 1]!] as const);
    this.#sequences[index] = { held, seen: numbers.slice(length * 2) };
    this.#checkRoom();
    return true;
  }

  clearMemory(): void {
    this.#sequences.fill(nothing);
  }

  useThreads = () => {};
  useCausal = () => {};
  checkPicture = () => {};
  rest = () => {};
}

/** What was moved was computed after cells that are gone, so it is not what the rest alone would give. */
const moved = 1_000_000;

const nothing: Sequence = { held: [], seen: [] };

function tokenAfter({ held, seen }: Sequence): number {
  // What comes later in time stands later, however it was computed; cells of a grid share their time.
  const isInTime = held.every(([, time], at) => at === 0 || held[at - 1]![1] <= time);
  const inTime = isInTime ? held : held.toSorted((a, b) => a[1] - b[1]);
  let hash = emptyHash;
  for (const cell of inTime) hash = withCell(hash, cell);
  return tokenOf(hash, seen);
}

const emptyHash = 2166136261;
const withNumber = (hash: number, number: number) => Math.imul(hash ^ number, 16777619) >>> 0;
const withCell = (hash: number, [mark, time]: Sequence["held"][number]) =>
  withNumber(withNumber(hash, mark), time);

function tokenOf(hashOfCells: number, seen: readonly number[]): number {
  let hash = withNumber(hashOfCells, -1);
  for (const mark of seen) hash = withNumber(hash, mark);
  hash = Math.imul(hash ^ (hash >>> 16), 2246822507);
  return ((hash ^ (hash >>> 13)) >>> 0) % words;
}

/** What the model answers to a prompt that nothing else was ever computed beside. Null marks the limit of tokens. */
export function aloneAnswer(
  prompt: readonly Mark[],
  { hasState, most }: { readonly hasState: boolean; readonly most: number },
): { readonly tokens: readonly number[]; readonly hasEnded: boolean } {
  // What follows comes later in time than all that is there, so that its hash goes on from theirs.
  const inTime = prompt.toSorted((a, b) => a.time - b.time);
  let hash = emptyHash;
  for (const { mark, time } of inTime) hash = withCell(hash, [mark, time]);
  const seen = hasState ? prompt.map(({ mark }) => mark) : [];
  const tokens: number[] = [];
  let time = (prompt.at(-1)?.after ?? 0) as number;
  while (tokens.length < most) {
    const token = tokenOf(hash, seen);
    if (token < ends) return { tokens, hasEnded: true };
    tokens.push(token);
    hash = withCell(hash, [token, time++]);
    if (hasState) seen.push(token);
  }
  return { tokens, hasEnded: false };
}

export interface Mark {
  readonly mark: number;
  readonly time: number;
  /** The position in time of what follows. */
  readonly after: number;
}

/** The marks of a prompt's tokens and pictures, each at its position. */
export function marksOf(prompt: readonly (readonly number[] | EncodedPicture)[]): Mark[] {
  let next = 0;
  return prompt.flatMap((part) => {
    if (!isPicture(part)) return part.map((mark) => ({ mark, time: next++, after: next }));
    const first = next;
    next += part.positions;
    return Array.from({ length: part.cells }, (_, at) => ({
      mark: markOf(part, at),
      time: part.layout === "line" ? first + at : first,
      after: next,
    }));
  });
}

/** No token is so large. */
const markOf = ({ identity }: Picture, at: number) => 1000 + Number.parseInt(identity.slice(0, 4), 16) + at;

/** The rows of a picture: a number for each cell. */
export function rowsOf(picture: Picture): Float32Array {
  return Float32Array.from({ length: picture.cells }, (_, at) => markOf(picture, at));
}

/** The text of a token. */
export const wordOf = (token: number) => String.fromCharCode(0x4e00 + token);

/** Everything that an answer needs of the engine, for jobs with a temperature of 0 and tokens as their prompt. */
export function echoMakers(context: EchoContext, now: () => number): AnswerMakers {
  const pictures = new Pictures();
  const makers = {
    pictures,
    library: {
      llama_sampler_chain_init: () => ({}),
      llama_sampler_chain_add: () => {},
      llama_sampler_init_greedy: () => ({}),
      llama_sampler_sample: (_chain: object, _context: object, row: number) => context.token(row),
      llama_sampler_free: () => {},
    },
    vocabulary: {
      size: words,
      addBos: false,
      checkIds: () => {},
      isEnd: (token: number) => token < ends,
      piece: (token: number) => Buffer.from(wordOf(token)),
      encodePrompt: (prompt: readonly (readonly number[] | EncodedPicture)[]) =>
        prompt.flatMap((part) => (isPicture(part) ? pictures.cellsOf(part) : [...part])),
    },
    grammars: {},
    candidates: { drawLikeliest: () => null },
    dry: {},
    drafts: null,
    now,
    randomSeed: () => 1,
  };
  return makers as unknown as AnswerMakers;
}
