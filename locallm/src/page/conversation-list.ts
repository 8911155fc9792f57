import { type Conversation, contains, titleOf } from "./conversation.ts";
import { element, signButton, textButton } from "./element.ts";
import { word } from "./words.ts";

interface Parts {
  search: HTMLInputElement;
  list: HTMLElement;
  empty: HTMLElement;
}

interface Actions {
  all(): readonly Conversation[];
  current(): Conversation;
  onOpen(conversation: Conversation): void;
  onRename(conversation: Conversation): void;
  onRemove(conversation: Conversation): void;
}

/** More are found by searching. */
const mostShown = 200;

/** The conversations of this browser, newest first, with a search in titles and texts. */
export class ConversationList {
  readonly #parts: Parts;
  readonly #actions: Actions;

  constructor(parts: Parts, actions: Actions) {
    this.#parts = parts;
    this.#actions = actions;
    const { search, list } = parts;
    search.addEventListener("input", () => this.show());
    search.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && search.value !== "") {
        event.stopPropagation();
        search.value = "";
        this.show();
      } else if (event.key === "ArrowDown") this.#focusNext(event, 1);
    });
    list.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") this.#focusNext(event, 1);
      else if (event.key === "ArrowUp") this.#focusNext(event, -1);
    });
  }

  show(): void {
    const { search, list, empty } = this.#parts;
    const all = this.#actions.all();
    const found = search.value.trim() === "" ? all : all.filter((one) => contains(one, search.value));
    const current = this.#actions.current();
    list.replaceChildren(...found.slice(0, mostShown).map((one) => this.#item(one, one.id === current.id)));
    search.hidden = all.length < 2 && search.value === "";
    empty.textContent =
      all.length === 0 ? word("nothingYet") : found.length === 0 ? word("nothingFound") : "";
  }

  #item(one: Conversation, isCurrent: boolean): HTMLElement {
    const title = titleOf(one) || word("untitled");
    const open = textButton(title, () => this.#actions.onOpen(one), "quiet open");
    const rename = signButton("✎", `${word("rename")}: ${title}`, () => this.#rename(one, item));
    const remove = signButton("✕", `${word("remove")}: ${title}`, () => this.#actions.onRemove(one));
    const item = element("li", open, rename, remove);
    if (isCurrent) item.setAttribute("aria-current", "true");
    return item;
  }

  #rename(one: Conversation, item: HTMLElement): void {
    const input = element("input");
    input.value = titleOf(one);
    input.maxLength = 120;
    input.setAttribute("aria-label", word("rename"));
    let isDone = false;
    const finish = (saves: boolean) => {
      if (isDone) return;
      isDone = true;
      const title = input.value.trim();
      if (saves && title !== titleOf(one)) {
        // Without a name, the first question is its title again.
        if (title === "") delete one.title;
        else one.title = title;
        this.#actions.onRename(one);
      }
      this.show();
    };
    input.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Enter") finish(true);
      if (event.key === "Escape") finish(false);
      if (event.key === "Enter" || event.key === "Escape") event.stopPropagation();
    });
    input.addEventListener("blur", () => finish(true));
    item.replaceChildren(input);
    input.select();
  }

  #focusNext(event: KeyboardEvent, step: number): void {
    const { search, list } = this.#parts;
    if (event.target instanceof HTMLInputElement && event.target !== search) return;
    const all = [...list.querySelectorAll<HTMLElement>(".open")];
    const now = all.findIndex((each) => each.parentElement!.contains(document.activeElement));
    const next = all[now + step];
    event.preventDefault();
    if (next !== undefined) next.focus();
    else if (step < 0) search.focus();
  }
}
