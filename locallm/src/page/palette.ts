import { element, styled } from "./element.ts";
import { word } from "./words.ts";

/** A thing that the palette offers. */
export interface Choice {
  readonly kind: string;
  readonly label: string;
  readonly run: () => void;
  /** Whether the typed text finds it by more than its label. */
  readonly matches?: (text: string) => boolean;
}

interface Parts {
  dialog: HTMLDialogElement;
  input: HTMLInputElement;
  list: HTMLElement;
}

const mostShown = 12;

/** Ctrl-K: a list of everything that can be done, opened or chosen, filtered while one types. */
export class Palette {
  readonly #parts: Parts;
  readonly #choices: () => readonly Choice[];
  #shown: readonly Choice[] = [];
  #at = 0;

  constructor(parts: Parts, choices: () => readonly Choice[]) {
    this.#parts = parts;
    this.#choices = choices;
    const { dialog, input } = parts;
    document.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      if (dialog.open) dialog.close();
      else if (document.querySelector("dialog[open]") === null) this.show();
    });
    input.addEventListener("input", () => this.#list());
    input.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "ArrowDown") this.#move(event, 1);
      else if (event.key === "ArrowUp") this.#move(event, -1);
      else if (event.key === "Enter") {
        event.preventDefault();
        this.#run(this.#at);
      }
    });
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  }

  show(): void {
    const { dialog, input } = this.#parts;
    input.value = "";
    this.#list();
    dialog.showModal();
    input.focus();
  }

  #list(): void {
    const text = this.#parts.input.value.trim().toLowerCase();
    const byLabel = ({ label }: Choice) => label.toLowerCase().includes(text);
    const all = this.#choices();
    const found = all.filter(byLabel);
    const further = text === "" ? [] : all.filter((one) => !byLabel(one) && one.matches?.(text));
    this.#shown = [...found, ...further].slice(0, mostShown);
    this.#at = 0;
    this.#draw();
  }

  #draw(): void {
    const { input, list } = this.#parts;
    list.replaceChildren(
      ...this.#shown.map(({ kind, label }, index) => {
        const item = element("div", styled("span", "label", label), element("small", kind));
        item.id = `choice-${index}`;
        item.role = "option";
        item.setAttribute("aria-selected", String(index === this.#at));
        item.addEventListener("click", () => this.#run(index));
        return item;
      }),
    );
    if (this.#shown.length === 0) {
      const none = element("div", word("nothingFound"));
      none.role = "option";
      none.setAttribute("aria-disabled", "true");
      list.append(none);
      input.removeAttribute("aria-activedescendant");
    } else input.setAttribute("aria-activedescendant", `choice-${this.#at}`);
  }

  #move(event: KeyboardEvent, step: number): void {
    event.preventDefault();
    const { length } = this.#shown;
    if (length === 0) return;
    this.#at = (this.#at + step + length) % length;
    this.#draw();
    this.#parts.list.children[this.#at]?.scrollIntoView({ block: "nearest" });
  }

  #run(index: number): void {
    const chosen = this.#shown[index];
    if (chosen === undefined) return;
    this.#parts.dialog.close();
    chosen.run();
  }
}
