import { element } from "./markdown.ts";
import { picture } from "./message-view.ts";
import { word } from "./words.ts";

interface Parts {
  form: HTMLFormElement;
  question: HTMLTextAreaElement;
  send: HTMLButtonElement;
  images: HTMLElement;
  attach: HTMLButtonElement;
  files: HTMLInputElement;
}

export interface Question {
  text: string;
  images: string[];
}

/** The input box. While an answer runs, its button stops the answer. */
export class Composer {
  readonly #parts: Parts;
  #images: string[] = [];
  #running = false;
  #takesImages = false;

  constructor(parts: Parts, { onSend, onStop }: { onSend(question: Question): void; onStop(): void }) {
    this.#parts = parts;
    const { form, question, attach, files } = parts;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#running) return onStop();
      const text = question.value.trim();
      if (text === "" && this.#images.length === 0) return;
      const images = this.#images;
      this.clear();
      onSend({ text, images });
    });
    question.addEventListener("keydown", (event) => {
      // While an input method composes Chinese, Enter chooses a word. In Safari the composition has ended by then, and
      // only the key code 229 tells.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      if (!this.#running) form.requestSubmit();
    });
    question.addEventListener("input", () => this.#fit());
    question.addEventListener("paste", (event) => {
      const pasted = [...(event.clipboardData?.files ?? [])];
      if (this.#takesImages && pasted.length > 0) void this.#add(pasted);
    });
    attach.addEventListener("click", () => files.click());
    files.addEventListener("change", async () => {
      await this.#add([...(files.files ?? [])]);
      files.value = "";
    });
  }

  get text(): string {
    return this.#parts.question.value;
  }

  clear(): void {
    this.#parts.question.value = "";
    this.#images = [];
    this.#show();
  }

  /** An unanswered question goes back into the box, before what was written there since. */
  restore({ text, images }: Question): void {
    const { question } = this.#parts;
    question.value = [text, question.value].filter((each) => each.trim() !== "").join("\n");
    this.#images = [...images, ...this.#images];
    this.#show();
  }

  setRunning(running: boolean): void {
    this.#running = running;
    this.#parts.send.textContent = word(running ? "stop" : "send");
  }

  setTakesImages(takes: boolean): void {
    this.#takesImages = takes;
    this.#parts.attach.hidden = !takes;
    if (!takes) this.#images = [];
    this.#show();
  }

  async #add(files: readonly File[]): Promise<void> {
    for (const file of files.filter(({ type }) => type.startsWith("image/")))
      this.#images.push(await base64Of(file));
    this.#show();
  }

  #show(): void {
    const { images } = this.#parts;
    images.replaceChildren(
      ...this.#images.map((data, index) => {
        const remove = element("button", "✕");
        remove.type = "button";
        remove.className = "quiet";
        remove.setAttribute("aria-label", word("removeImage"));
        remove.addEventListener("click", () => {
          this.#images.splice(index, 1);
          this.#show();
        });
        return element("li", picture(data), remove);
      }),
    );
    this.#fit();
  }

  #fit(): void {
    const { question } = this.#parts;
    question.style.height = "auto";
    question.style.height = `${question.scrollHeight}px`;
  }
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
