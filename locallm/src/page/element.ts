import { type Word, word } from "./words.ts";

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

/** An element with a class. */
export function styled<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = element(name, ...children);
  made.className = className;
  return made;
}

/** A button that shows its word. */
export function button(name: Word, onClick: () => void, className = "quiet"): HTMLButtonElement {
  return textButton(word(name), onClick, className);
}

export function textButton(text: string, onClick: () => void, className: string): HTMLButtonElement {
  const made = styled("button", className, text);
  made.type = "button";
  made.addEventListener("click", onClick);
  return made;
}

/** A button that shows a sign; readers of the screen hear its word. */
export function signButton(sign: string, label: string, onClick: () => void): HTMLButtonElement {
  const made = textButton(sign, onClick, "quiet sign");
  made.title = label;
  made.setAttribute("aria-label", label);
  return made;
}

/** Copies the text that `text` returns when it is pressed. */
export function copyButton(text: () => string): HTMLButtonElement {
  const made = button("copy", async () => {
    await copy(text());
    made.textContent = word("copied");
    setTimeout(() => {
      made.textContent = word("copy");
    }, 1500);
  });
  return made;
}

/**
 * Copies text. The clipboard API exists only on https and localhost and may be denied, so other pages use the
 * browser's older command.
 */
async function copy(text: string): Promise<void> {
  try {
    return await navigator.clipboard.writeText(text);
  } catch {}
  const area = element("textarea", text);
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

export function find(id: string): HTMLElement;
export function find<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind;
export function find(id: string, kind: new () => HTMLElement = HTMLElement): HTMLElement {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`#${id} is not in the page`);
  return found;
}
