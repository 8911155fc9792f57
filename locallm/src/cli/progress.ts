import cliProgress, { type MultiBar, type SingleBar } from "cli-progress";
import type { ProgressLine } from "../wire/api/library.ts";
import { humanBytes, plain } from "./text.ts";

/** Shows how far a pull, push or create is: bars on a terminal, plain lines elsewhere. */
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
  #byDigest = new Map<string, SingleBar>();

  constructor(output: NodeJS.WriteStream) {
    this.#bars = new cliProgress.MultiBar({
      stream: output,
      hideCursor: true,
      clearOnComplete: false,
      stopOnComplete: false,
      autopadding: true,
      etaBuffer: 100,
      format: (options, state, payload: { status: string }) => {
        const bar = cliProgress.Format.BarFormat(state.progress, options);
        const percent = `${Math.floor(state.progress * 100)}%`.padStart(4);
        const done = `${humanBytes(state.value)}/${humanBytes(state.total)}`;
        const seconds = (Date.now() - state.startTime) / 1000;
        const speed = seconds > 0.5 ? ` ${humanBytes(state.value / seconds)}/s` : "";
        const left =
          state.value < state.total && Number.isFinite(state.eta) ? ` ${Math.ceil(state.eta)}s` : "";
        return `${payload.status} ${percent} ${bar} ${done}${speed}${left}`;
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
    const bar = this.#byDigest.get(digest) ?? this.#bars.create(total, completed, { status: plain(status) });
    this.#byDigest.set(digest, bar);
    bar.update(completed, { status: plain(status) });
  }

  end(): void {
    this.#bars.stop();
  }
}
