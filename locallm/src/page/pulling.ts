import { sizeText } from "./amounts.ts";
import { problemOf, pull } from "./api.ts";
import { button, element, styled } from "./element.ts";
import { word } from "./words.ts";

/**
 * One pull at a time, whose progress is shown wherever the page has a place for it. It continues while the dialog is
 * closed.
 */
export class Pulling {
  readonly #onPulled: (name: string) => void;
  readonly #places = new Set<HTMLElement>();
  #running: AbortController | null = null;
  #state: { isProblem: boolean; text: string; share: number | null } = {
    isProblem: false,
    text: "",
    share: null,
  };

  constructor(onPulled: (name: string) => void) {
    this.#onPulled = onPulled;
  }

  /** An element that shows the progress from now on. */
  place(): HTMLElement {
    const made = styled("div", "pulling");
    for (const old of this.#places) if (!old.isConnected) this.#places.delete(old);
    this.#places.add(made);
    this.#draw(made);
    return made;
  }

  /** Pulls the first reference that can be pulled. `name` is what the user calls the model. */
  async pull(name: string, references: readonly string[]): Promise<void> {
    if (this.#running !== null) return;
    const running = new AbortController();
    this.#running = running;
    this.#tell(`${name} …`);
    let problem: unknown = null;
    for (const reference of references) {
      try {
        await this.#follow(name, reference, running.signal);
        problem = null;
        break;
      } catch (error) {
        problem = error;
        if (running.signal.aborted) break;
      }
    }
    this.#running = null;
    if (problem === null) {
      this.#tell(word("pulled", { name }));
      this.#onPulled(name);
    } else if (running.signal.aborted) this.#tell(word("stopped"));
    else this.#tell(problemOf(problem), null, true);
  }

  async #follow(name: string, reference: string, signal: AbortSignal): Promise<void> {
    for await (const { status = "", total = 0, completed = 0 } of pull(reference, signal)) {
      const amount = total > 0 ? ` ${sizeText(completed)} / ${sizeText(total)}` : "";
      this.#tell(`${name}: ${status}${amount}`, total > 0 ? completed / total : null);
    }
  }

  #tell(text: string, share: number | null = null, isProblem = false): void {
    this.#state = { text, share, isProblem };
    for (const place of this.#places) this.#draw(place);
  }

  #draw(place: HTMLElement): void {
    const { text, share, isProblem } = this.#state;
    const status = styled("p", isProblem ? "status problem" : "status", text);
    status.role = "status";
    if (this.#running === null) {
      place.replaceChildren(...(text === "" ? [] : [status]));
      return;
    }
    const old = place.querySelector("progress");
    const bar = old ?? element("progress");
    bar.setAttribute("aria-label", word("pullProgress"));
    if (share === null) bar.removeAttribute("value");
    else bar.value = share;
    if (old !== null) {
      place.querySelector(".status")!.textContent = text;
      return;
    }
    const stop = button("stop", () => this.#running?.abort(), "");
    place.replaceChildren(bar, styled("div", "row", status, stop));
  }
}
