import type { Message } from "./conversation.ts";
import { element, renderMarkdown } from "./markdown.ts";
import { type Word, word } from "./words.ts";

export interface MessageActions {
  /** Null if the message cannot be generated again. */
  regenerate: (() => void) | null;
  /** Null if no result is expected. */
  sendResult: ((toolName: string, result: string) => void) | null;
}

/** One message of the log. `update` may be called for every piece of a streamed answer. */
export class MessageView {
  readonly root: HTMLElement;
  readonly #message: Message;
  readonly #name: string;
  readonly #text = element("div");
  readonly #thinking = element("details");
  readonly #thought = element("div");
  readonly #foot = element("div");
  #frame = 0;

  constructor(message: Message, name: string) {
    this.#message = message;
    this.#name = name;
    this.root = element("article");
    this.root.className = `message ${message.role}`;
    this.#text.className = "text";
    this.#thought.className = "text";
    this.#thinking.append(element("summary", word("thinking")), this.#thought);
    this.#build();
  }

  /** Draws at the next frame, however often it is called before. */
  update(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  /** Draws the finished message with its buttons. */
  finish({ regenerate, sendResult }: MessageActions): void {
    this.#draw();
    const { content, note, role, tool_calls: calls } = this.#message;
    this.#foot.replaceChildren();
    for (const call of calls ?? []) {
      const box = element(
        "div",
        element("p", `${word("toolCall")} `, element("code", call.function.name)),
        element("pre", element("code", JSON.stringify(call.function.arguments, null, 2))),
      );
      box.className = "tool";
      if (sendResult !== null) box.append(resultForm(call.function.name, sendResult));
      this.#foot.append(box);
    }
    if (role === "tool") return;
    const row = element("div");
    row.className = "row";
    if (content !== "") row.append(copyButton(content));
    if (regenerate !== null) row.append(button("regenerate", regenerate));
    if (note !== undefined) row.append(element("span", note));
    this.#foot.append(row);
  }

  #build(): void {
    const { role, images, tool_name: tool } = this.#message;
    this.root.append(
      element(
        "h2",
        role === "user" ? word("you") : role === "tool" ? `${word("toolResult")} ${tool ?? ""}` : this.#name,
      ),
    );
    if (images !== undefined && images.length > 0) {
      const list = element("div", ...images.map((data) => picture(data)));
      list.className = "pictures";
      this.root.append(list);
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
    else if (role === "tool") this.#text.replaceChildren(element("pre", element("code", content)));
    else this.#replaceChanged(renderMarkdown(content));
  }

  /**
   * Replaces only changed blocks, so that a selection in other blocks survives the next piece of the answer.
   */
  #replaceChanged(blocks: readonly HTMLElement[]): void {
    const old = [...this.#text.children];
    blocks.forEach((block, index) => {
      const before = old[index];
      if (before === undefined) this.#text.append(block);
      else if (!before.isEqualNode(block)) before.replaceWith(block);
    });
    for (const extra of old.slice(blocks.length)) extra.remove();
  }
}

export function button(name: Word, onClick: () => void): HTMLButtonElement {
  const made = element("button", word(name));
  made.type = "button";
  made.className = "quiet";
  made.addEventListener("click", onClick);
  return made;
}

export function picture(data: string): HTMLImageElement {
  const image = element("img");
  image.src = `data:${imageType(data)};base64,${data}`;
  image.alt = "";
  return image;
}

/** Detects the image type from the first bytes, which are in base64. */
function imageType(data: string): string {
  if (data.startsWith("/9j/")) return "image/jpeg";
  if (data.startsWith("UklGR")) return "image/webp";
  return data.startsWith("R0lGOD") ? "image/gif" : "image/png";
}

function copyButton(text: string): HTMLButtonElement {
  const made = button("copy", async () => {
    await copy(text);
    made.textContent = word("copied");
    setTimeout(() => {
      made.textContent = word("copy");
    }, 1500);
  });
  return made;
}

/**
 * Copies text. The clipboard API exists only on https and localhost, so other pages use the browser's older
 * command.
 */
async function copy(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = element("textarea", text);
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

function resultForm(toolName: string, send: (toolName: string, result: string) => void): HTMLFormElement {
  const area = element("textarea");
  area.rows = 2;
  area.required = true;
  area.setAttribute("aria-label", `${word("toolResult")} ${toolName}`);
  const form = element("form", area, element("button", word("sendResult")));
  form.className = "row";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    form.remove();
    send(toolName, area.value);
  });
  return form;
}
