import { type Conversation, titleOf } from "./conversation.ts";
import { element } from "./element.ts";
import { asJson, asMarkdown, fromFile } from "./transcript.ts";
import { word } from "./words.ts";

interface Parts {
  dialog: HTMLDialogElement;
  markdown: HTMLButtonElement;
  json: HTMLButtonElement;
  all: HTMLButtonElement;
  choose: HTMLButtonElement;
  files: HTMLInputElement;
  status: HTMLElement;
  /** Says that the conversation has nothing yet. */
  empty: HTMLElement;
}

interface Actions {
  current(): Conversation;
  all(): readonly Conversation[];
  onImport(conversations: readonly Conversation[]): Promise<void>;
}

const largestBytes = 200e6;

/** Takes conversations out of this browser as files, and in again. */
export class TransferDialog {
  readonly #parts: Parts;
  readonly #actions: Actions;

  constructor(parts: Parts, actions: Actions) {
    this.#parts = parts;
    this.#actions = actions;
    const { markdown, json, all, choose, files } = parts;
    const name = () => titleOf(actions.current()) || "locallm";
    markdown.addEventListener("click", () => download(`${name()}.md`, asMarkdown(actions.current())));
    json.addEventListener("click", () => download(`${name()}.json`, asJson(actions.current())));
    all.addEventListener("click", () => download("locallm.json", asJson(actions.all())));
    choose.addEventListener("click", () => files.click());
    files.addEventListener("change", async () => {
      const chosen = [...(files.files ?? [])];
      files.value = "";
      await this.#import(chosen);
    });
  }

  show(): void {
    this.#parts.status.textContent = "";
    this.#draw();
    this.#parts.dialog.showModal();
  }

  /** Where there is nothing to export, the buttons say so. */
  #draw(): void {
    const { markdown, json, all, empty } = this.#parts;
    markdown.disabled = json.disabled = this.#actions.current().messages.length === 0;
    all.disabled = this.#actions.all().length === 0;
    empty.hidden = !markdown.disabled;
  }

  async #import(files: readonly File[]): Promise<void> {
    const { status } = this.#parts;
    const read: Conversation[] = [];
    status.className = "";
    const nowMs = Date.now();
    try {
      for (const file of files) {
        if (file.size > largestBytes) throw new Error(word("wrongFile", { name: file.name }));
        read.push(...fromFile(file.name, await file.text(), nowMs));
      }
      await this.#actions.onImport(read);
      this.#draw();
      status.textContent = word("imported", { conversations: String(read.length) });
    } catch (error) {
      status.className = "problem";
      status.textContent = (error as Error).message;
    }
  }
}

function download(name: string, text: string): void {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name.replaceAll(/[\\/:*?"<>|]/g, " ");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
