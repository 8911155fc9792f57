import { countText } from "./amounts.ts";
import { element, styled, textButton } from "./element.ts";
import { word } from "./words.ts";

/** How much of the model's window a conversation fills, and what happens when it is full. */
export interface WindowUse {
  /** Tokens of the last prompt and its answer. */
  used: number;
  /** Tokens of files that are about to be sent. */
  added: number;
  /** Null while it is not known, before the model is loaded. */
  window: number | null;
}

/** The next size that would hold these tokens and an answer. */
function enough(tokens: number): number {
  return 2 ** Math.ceil(Math.log2(tokens + 1024));
}

export function showWindow(place: HTMLElement, use: WindowUse, onWiden: (tokens: number) => void): void {
  const { used, added, window } = use;
  const total = used + added;
  place.replaceChildren();
  if (window === null || total === 0) return;
  const meter = element("meter");
  meter.max = window;
  meter.high = window * 0.8;
  meter.value = Math.min(total, window);
  const text = word("windowUse", { used: countText(total), window: countText(window) });
  meter.setAttribute("aria-label", text);
  place.append(meter, element("span", text));
  if (total < window * 0.8) {
    place.title = word("windowFull");
    return;
  }
  place.removeAttribute("title");
  const wider = enough(total);
  const widen = textButton(word("widen", { tokens: countText(wider) }), () => onWiden(wider), "");
  place.append(
    styled("span", "warning", word(added > 0 && total > window ? "filesTooLong" : "windowFull")),
    widen,
  );
}
