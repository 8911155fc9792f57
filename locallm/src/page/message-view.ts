import { countText } from "./amounts.ts";
import { tokensText } from "./attached-files.ts";
import { codeBox } from "./code-box.ts";
import type { Figures, Message, ToolCall } from "./conversation.ts";
import { button, copyButton, element, signButton, styled } from "./element.ts";
import { type Block, blocksOf } from "./markdown.ts";
import { medium } from "./picture.ts";
import { word } from "./words.ts";

/** What can be done with a message. An absent action is not offered. */
export interface MessageActions {
  edit?: (text: string) => void;
  askAgain?: () => void;
  /** Asks another of these models. */
  askOther?: { models: readonly string[]; ask(model: string): void };
  goOn?: () => void;
  sendResults?: (results: readonly ToolResult[]) => void;
  versions?: { shown: number; count: number; show(index: number): void };
}

export interface ToolResult {
  toolName: string;
  content: string;
}

/** One message of the log. `update` may be called for every piece of a streamed answer. */
export class MessageView {
  readonly root: HTMLElement;
  readonly #message: Message;
  readonly #onDraw: () => void;
  readonly #text = styled("div", "text");
  readonly #thinking = element("details");
  readonly #thought = styled("div", "text");
  readonly #foot = styled("div", "foot");
  /** The blocks that are shown, in order. */
  #shown: { source: string; element: HTMLElement }[] = [];
  #frame = 0;
  #isWhole = false;
  #actions: MessageActions = {};

  constructor(message: Message, name: string, onDraw: () => void = () => {}) {
    this.#message = message;
    this.#onDraw = onDraw;
    this.root = styled("article", `message ${message.role}`);
    this.#thinking.append(element("summary", word("thinking")), this.#thought);
    this.#build(message.model ?? name);
  }

  /** Draws at the next frame, however often it is called before. */
  update(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  /** Draws the finished message with its buttons. */
  finish(actions: MessageActions): void {
    this.#isWhole = true;
    this.#actions = actions;
    this.#draw();
    const { content, role, tool_calls: calls } = this.#message;
    this.#foot.replaceChildren();
    if (calls !== undefined && calls.length > 0)
      this.#foot.append(
        actions.sendResults === undefined
          ? element("div", ...calls.map(callBox))
          : resultForm(calls, actions.sendResults),
      );
    const row = styled("div", "row");
    if (actions.versions !== undefined && actions.versions.count > 1)
      row.append(versionButtons(actions.versions));
    if (content !== "" && role !== "tool") row.append(copyButton(() => content));
    const { edit, askAgain, askOther, goOn } = actions;
    if (edit !== undefined) row.append(button("edit", () => this.edit()));
    if (goOn !== undefined) row.append(button("goOn", goOn));
    if (askAgain !== undefined)
      row.append(button(role === "assistant" ? "regenerate" : "tryAgain", askAgain));
    if (askOther !== undefined && askOther.models.length > 0) row.append(otherModels(askOther));
    const notes = notesOf(this.#message);
    if (notes !== "") row.append(styled("span", "notes", notes));
    if (row.hasChildNodes()) this.#foot.append(row);
  }

  /** Opens a box in which the question is changed. Does nothing if it cannot be. */
  edit(): void {
    const { edit } = this.#actions;
    if (edit === undefined || this.root.querySelector("form.edit") !== null) return;
    const area = element("textarea", this.#message.content);
    area.rows = Math.min(12, this.#message.content.split("\n").length + 1);
    area.setAttribute("aria-label", word("edit"));
    area.dir = "auto";
    const close = () => {
      form.remove();
      this.#text.hidden = false;
      this.#foot.hidden = false;
    };
    const save = styled("button", "main", word("send"));
    const form = styled(
      "form",
      "edit",
      area,
      styled("div", "row", save, button("cancel", close), element("small", word("editHint"))),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      close();
      if (area.value.trim() !== "") edit(area.value.trim());
    });
    area.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        close();
      } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
    this.#text.hidden = true;
    this.#foot.hidden = true;
    this.#foot.before(form);
    area.focus();
    area.setSelectionRange(area.value.length, area.value.length);
  }

  #build(name: string): void {
    const { role, images, files, tool_name: tool } = this.#message;
    this.root.append(
      element(
        "h2",
        role === "user" ? word("you") : role === "tool" ? `${word("toolResult")} ${tool ?? ""}` : name,
      ),
    );
    if (images !== undefined && images.length > 0)
      this.root.append(styled("div", "pictures", ...images.map((data) => medium(data))));
    for (const file of files ?? []) {
      const code = element("pre", element("code", file.text));
      code.tabIndex = 0;
      const summary = element("summary", file.name, " ", element("small", tokensText(file)));
      this.root.append(styled("details", "attached", summary, code));
    }
    this.root.append(this.#thinking, this.#text, this.#foot);
    this.#draw();
  }

  #draw(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const { role, content, thinking = "" } = this.#message;
    this.#thinking.hidden = thinking === "";
    if (thinking !== "" && this.#thought.textContent !== thinking) this.#thought.textContent = thinking;
    if (role === "user") this.#text.textContent = content;
    else if (role === "tool") this.#text.replaceChildren(jsonBox(content) ?? codeBox(content, ""));
    else this.#replaceChanged(content);
    this.#text.hidden = content === "";
    this.#onDraw();
  }

  /**
   * Replaces only changed blocks, so that a selection in other blocks survives the next piece of the answer.
   */
  #replaceChanged(content: string): void {
    const json = this.#isWhole ? jsonBox(content) : null;
    const blocks: Block[] =
      json === null ? blocksOf(content) : [{ source: `json ${content}`, build: () => json }];
    const same = blocks.findIndex(({ source }, index) => this.#shown[index]?.source !== source);
    const kept = same < 0 ? blocks.length : same;
    for (const { element: old } of this.#shown.splice(kept)) old.remove();
    for (const { source, build } of blocks.slice(kept)) {
      const made = build();
      this.#text.append(made);
      this.#shown.push({ source, element: made });
    }
  }
}

/** Null if the whole text is no JSON object or list. */
function jsonBox(text: string): HTMLElement | null {
  if (!/^\s*[[{]/.test(text) || !/[\]}]\s*$/.test(text)) return null;
  try {
    return codeBox(JSON.stringify(JSON.parse(text), null, 2), "json");
  } catch {
    return null;
  }
}

function notesOf({ figures, ended, note }: Message): string {
  return [
    ...(figures === undefined ? [] : figureTexts(figures)),
    ...(ended === undefined || ended === "failed" ? [] : [word(ended)]),
    ...(note === undefined ? [] : [note]),
  ].join(" · ");
}

function figureTexts(figures: Figures): string[] {
  const { tokens, seconds, firstMs, promptTokens, reusedTokens, droppedMessages, droppedTokens } = figures;
  const rate = (tokens / (seconds || 1)).toFixed(1);
  const texts = [word("speed", { tokens: String(tokens), rate })];
  if (firstMs > 0) texts.push(word("first", { seconds: (firstMs / 1000).toFixed(firstMs < 9950 ? 1 : 0) }));
  if (promptTokens > 0)
    texts.push(
      word(reusedTokens > 0 ? "promptReused" : "prompt", {
        tokens: countText(promptTokens),
        reused: countText(reusedTokens),
      }),
    );
  const { guessedTokens = 0, acceptedTokens = 0 } = figures;
  if (guessedTokens > 0)
    texts.push(word("guessed", { tokens: countText(guessedTokens), right: countText(acceptedTokens) }));
  if (droppedMessages + droppedTokens > 0)
    texts.push(word("dropped", { messages: String(droppedMessages), tokens: String(droppedTokens) }));
  return texts;
}

function versionButtons({ shown, count, show }: NonNullable<MessageActions["versions"]>): HTMLElement {
  const to = (sign: string, label: "versionBefore" | "versionAfter", index: number) => {
    const made = signButton(sign, word(label), () => show(index));
    made.disabled = index < 0 || index >= count;
    return made;
  };
  return styled(
    "span",
    "versions",
    to("‹", "versionBefore", shown - 1),
    `${shown + 1} / ${count}`,
    to("›", "versionAfter", shown + 1),
  );
}

function otherModels({ models, ask }: NonNullable<MessageActions["askOther"]>): HTMLElement {
  const select = styled("select", "quiet");
  select.setAttribute("aria-label", word("askOther"));
  select.append(new Option(word("askOther"), ""), ...models.map((name) => new Option(name)));
  select.addEventListener("change", () => select.value !== "" && ask(select.value));
  return select;
}

function callBox({ function: { name, arguments: values } }: ToolCall): HTMLElement {
  return styled(
    "div",
    "tool",
    element("p", `${word("toolCall")} `, element("code", name)),
    codeBox(JSON.stringify(values, null, 2) ?? "", "json"),
  );
}

/** One form for all calls, because the model waits for all results. */
function resultForm(
  calls: readonly ToolCall[],
  send: (results: readonly ToolResult[]) => void,
): HTMLFormElement {
  const form = element("form");
  const areas = calls.map((call) => {
    const box = callBox(call);
    const area = element("textarea");
    area.rows = 2;
    area.required = true;
    area.dir = "auto";
    const title = element("span", `${word("toolResult")} `, element("code", call.function.name));
    box.append(element("label", title, area));
    form.append(box);
    return area;
  });
  form.append(styled("p", "hint", word("toolResultHint")), styled("button", "main", word("sendResults")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(calls.map((call, index) => ({ toolName: call.function.name, content: areas[index]!.value })));
  });
  return form;
}
