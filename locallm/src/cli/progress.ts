import cliProgress, { type MultiBar, type SingleBar } from "cli-progress";
import type { ProgressLine } from "../wire/api/library.ts";
import { humanBytes, humanSeconds, plain } from "./text.ts";

/** Shows the progress of a pull, push or create: bars on a terminal, plain lines elsewhere. */
export interface ProgressView {
  show(line: ProgressLine): void;
  end(): void;
}

export function progressView(output: NodeJS.WriteStream): ProgressView {
  return output.isTTY ? new Bars(output) : new Lines(output);
}

/** One line for each new status, and for each tenth of a download. */
class Lines implements ProgressView {
  #output: NodeJS.WriteStream;
  #last = new Map<string, string>();

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  show({ status, digest, total, completed = 0 }: ProgressLine): void {
    let text = status;
    if (total !== undefined && total > 0) {
      const tenths = Math.floor((10 * completed) / total);
      text = `${status}: ${tenths * 10} % of ${humanBytes(total)}`;
    }
    const key = digest ?? "";
    if (this.#last.get(key) === text) return;
    this.#last.set(key, text);
    this.#output.write(`${plain(text)}\n`);
  }

  end(): void {}
}

class Bars implements ProgressView {
  #bars: MultiBar;
  #byDigest = new Map<string, { bar: SingleBar; pace: Pace }>();
  /** Shows the cursor again when a signal ends the program. */
  readonly #interrupted = (signal: NodeJS.Signals) => {
    this.end();
    process.kill(process.pid, signal);
  };

  constructor(output: NodeJS.WriteStream) {
    for (const signal of endingSignals) process.once(signal, this.#interrupted);
    this.#bars = new cliProgress.MultiBar({
      stream: output,
      hideCursor: true,
      clearOnComplete: false,
      stopOnComplete: false,
      autopadding: true,
      barsize: 24,
      format: (options, state, payload: { status: string; pace: string }) => {
        const bar = cliProgress.Format.BarFormat(state.progress, options);
        const percent = `${Math.floor(state.progress * 100)}%`.padStart(4);
        const done = `${humanBytes(state.value)}/${humanBytes(state.total)}`;
        return `${payload.status} ${percent} ${bar} ${done}${payload.pace}`;
      },
      barCompleteChar: "█",
      barIncompleteChar: " ",
    });
  }

  show({ status, digest, total, completed = 0 }: ProgressLine): void {
    if (digest === undefined || total === undefined) {
      this.#bars.log(`${plain(status)}\n`);
      return;
    }
    let row = this.#byDigest.get(digest);
    if (row === undefined) {
      const bar = this.#bars.create(total, completed, { status: plain(status), pace: "" });
      row = { bar, pace: new Pace(total, () => performance.now()) };
      this.#byDigest.set(digest, row);
    }
    row.bar.update(completed, { status: plain(status), pace: row.pace.after(completed) });
  }

  end(): void {
    for (const signal of endingSignals) process.off(signal, this.#interrupted);
    this.#bars.stop();
  }
}

const endingSignals = ["SIGINT", "SIGTERM"] as const;

/** The time over which the speed is averaged. */
const windowMs = 5_000;
/** A speed measured over less time would vary too much. */
const leastMs = 300;

/**
 * Formats ` 12 MB/s 1m20s`: the speed over the last seconds, and the remaining time. Ignores bytes from an
 * earlier pull.
 */
export class Pace {
  readonly #totalBytes: number;
  readonly #now: () => number;
  #seen: { atMs: number; bytes: number }[] = [];

  constructor(totalBytes: number, now: () => number) {
    this.#totalBytes = totalBytes;
    this.#now = now;
  }

  after(bytes: number): string {
    const atMs = this.#now();
    this.#seen = [...this.#seen.filter((one) => atMs - one.atMs <= windowMs), { atMs, bytes }];
    const [first] = this.#seen;
    const ms = first === undefined ? 0 : atMs - first.atMs;
    if (first === undefined || ms < leastMs || bytes >= this.#totalBytes) return "";
    const perSecond = (1000 * (bytes - first.bytes)) / ms;
    if (perSecond <= 0) return " 0 B/s";
    return ` ${humanBytes(perSecond)}/s ${humanSeconds((this.#totalBytes - bytes) / perSecond)}`;
  }
}
