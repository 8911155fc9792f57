import type { Message, ToolCall } from "./conversation.ts";
import { element, renderMarkdown } from "./markdown.ts";
import { type Word, word } from "./words.ts";

export interface MessageActions {
  /** Asks the model again. Null if the message is not the last one. */
  askAgain: (() => void) | null;
  /** Null if no results are expected. */
  sendResults: ((results: readonly ToolResult[]) => void) | null;
}

export interface ToolResult {
  toolName: string;
  content: string;
}

/** One message of the log. `update` may be called for every piece of a streamed answer. */
export class MessageView {
  readonly root: HTMLElement;
  readonly #message: Message;
  readonly #name: string;
  readonly #onDraw: () => void;
  readonly #text = element("div");
  readonly #thinking = element("details");
  readonly #thought = element("div");
  readonly #foot = element("div");
  #frame = 0;

  constructor(message: Message, name: string, onDraw: () => void = () => {}) {
    this.#message = message;
    this.#name = name;
    this.#onDraw = onDraw;
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
  finish({ askAgain, sendResults }: MessageActions): void {
    this.#draw();
    const { content, note, role, tool_calls: calls } = this.#message;
    this.#foot.replaceChildren();
    if (calls !== undefined && calls.length > 0)
      this.#foot.append(
        sendResults === null ? element("div", ...calls.map(callBox)) : resultForm(calls, sendResults),
      );
    const row = element("div");
    row.className = "row";
    if (content !== "" && role !== "tool") row.append(copyButton(content));
    if (askAgain !== null) row.append(button(role === "assistant" ? "regenerate" : "tryAgain", askAgain));
    if (note !== undefined) row.append(element("span", note));
    if (row.hasChildNodes()) this.#foot.append(row);
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
    this.#onDraw();
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

function callBox({ function: { name, arguments: values } }: ToolCall): HTMLElement {
  const box = element(
    "div",
    element("p", `${word("toolCall")} `, element("code", name)),
    element("pre", element("code", JSON.stringify(values, null, 2))),
  );
  box.className = "tool";
  return box;
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
    area.setAttribute("aria-label", `${word("toolResult")} ${call.function.name}`);
    box.append(area);
    form.append(box);
    return area;
  });
  form.append(element("button", word("sendResults")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(calls.map((call, index) => ({ toolName: call.function.name, content: areas[index]!.value })));
  });
  return form;
}
