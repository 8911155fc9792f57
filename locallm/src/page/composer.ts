import { base64Of, readTextFile, roughTokens, tokensText } from "./attached-files.ts";
import type { TextFile } from "./conversation.ts";
import { element, signButton, styled } from "./element.ts";
import { isSound, medium } from "./picture.ts";
import { word } from "./words.ts";

interface Parts {
  form: HTMLFormElement;
  question: HTMLTextAreaElement;
  send: HTMLButtonElement;
  attached: HTMLElement;
  problem: HTMLElement;
  attach: HTMLButtonElement;
  files: HTMLInputElement;
  /** Files that are dropped here are attached. */
  dropArea: HTMLElement;
}

export interface Question {
  text: string;
  images: string[];
  files: TextFile[];
}

interface Actions {
  onSend(question: Question): void;
  onStop(): void;
  /** The up arrow in an empty box. */
  onEditLast(): void;
  /** The tokens of a text. Null if they cannot be counted. */
  count(text: string): Promise<number | null>;
  /** The tokens of the files, after they have changed. */
  onFiles(tokens: number): void;
}

const pictureTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];
/** Browsers have several names for WAV. */
const soundTypes = ["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave", "audio/mpeg", "audio/mp3"];

/** What a model takes beside texts. */
export interface Takes {
  pictures: boolean;
  sounds: boolean;
}

/** The input box. While an answer runs, its button stops the answer. */
export class Composer {
  readonly #parts: Parts;
  readonly #actions: Actions;
  #images: string[] = [];
  #files: TextFile[] = [];
  #running = false;
  #ready = true;
  #takes: Takes = { pictures: false, sounds: false };

  constructor(parts: Parts, actions: Actions) {
    this.#parts = parts;
    this.#actions = actions;
    const { form, question, attach, files, dropArea } = parts;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#running) return actions.onStop();
      const asked = { text: question.value.trim(), images: this.#images, files: this.#files };
      if (asked.text === "" && asked.images.length + asked.files.length === 0) return;
      question.value = "";
      this.#images = [];
      this.#files = [];
      this.#show();
      actions.onSend(asked);
    });
    question.addEventListener("keydown", (event) => {
      if (event.key === "ArrowUp" && question.value === "" && !event.isComposing) {
        event.preventDefault();
        return actions.onEditLast();
      }
      // While an input method composes Chinese, Enter chooses a word. In Safari the composition has ended by then, and
      // only the key code 229 tells.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      if (!this.#running) form.requestSubmit();
    });
    question.addEventListener("input", () => this.#fit());
    question.addEventListener("paste", (event) => {
      const pasted = [...(event.clipboardData?.files ?? [])];
      if (pasted.length === 0) return;
      event.preventDefault();
      void this.#add(pasted);
    });
    attach.addEventListener("click", () => files.click());
    files.addEventListener("change", async () => {
      await this.#add([...(files.files ?? [])]);
      files.value = "";
    });
    dropArea.addEventListener("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      dropArea.classList.add("dropping");
    });
    dropArea.addEventListener("dragleave", () => dropArea.classList.remove("dropping"));
    dropArea.addEventListener("drop", (event) => {
      dropArea.classList.remove("dropping");
      const dropped = [...(event.dataTransfer?.files ?? [])];
      if (dropped.length === 0) return;
      event.preventDefault();
      void this.#add(dropped);
    });
  }

  /** An unanswered question goes back into the box, before what was written there since. */
  restore({ text, images, files }: Question): void {
    const { question } = this.#parts;
    question.value = [text, question.value].filter((each) => each.trim() !== "").join("\n");
    this.#images = [...images, ...this.#images];
    this.#files = [...files, ...this.#files];
    this.#show();
  }

  setRunning(running: boolean): void {
    this.#running = running;
    this.#drawSend();
  }

  /** Without a model nothing can be sent. */
  setReady(ready: boolean): void {
    this.#ready = ready;
    this.#drawSend();
  }

  #drawSend(): void {
    const { send } = this.#parts;
    send.textContent = word(this.#running ? "stop" : "send");
    send.disabled = !this.#running && !this.#ready;
  }

  /** What the model does not take leaves the box. */
  setTakes(takes: Takes): void {
    this.#takes = takes;
    this.#images = this.#images.filter((data) => (isSound(data) ? takes.sounds : takes.pictures));
    this.#show();
  }

  async #add(given: readonly File[]): Promise<void> {
    this.#tell("");
    for (const file of given) {
      try {
        if (pictureTypes.includes(file.type))
          await this.#addMedium(file, this.#takes.pictures, "seesNothing");
        else if (soundTypes.includes(file.type))
          await this.#addMedium(file, this.#takes.sounds, "hearsNothing");
        else await this.#addText(file);
      } catch (error) {
        this.#tell((error as Error).message);
      }
      this.#show();
    }
    this.#parts.question.focus();
  }

  async #addMedium(file: File, isTaken: boolean, refusal: "seesNothing" | "hearsNothing"): Promise<void> {
    if (!isTaken) throw new Error(word(refusal));
    this.#images.push(await base64Of(file));
  }

  async #addText(file: File): Promise<void> {
    const added: TextFile = { ...(await readTextFile(file)), tokens: null };
    this.#files.push(added);
    this.#show(added);
    added.tokens = await this.#actions.count(added.text);
  }

  #tell(problem: string): void {
    this.#parts.problem.textContent = problem;
  }

  /** `counting` is a file whose tokens are being counted. */
  #show(counting: TextFile | null = null): void {
    const { attached } = this.#parts;
    const removable = (list: unknown[], index: number, label: string, ...shown: (Node | string)[]) =>
      element(
        "li",
        ...shown,
        signButton("✕", label, () => {
          list.splice(index, 1);
          this.#show();
        }),
      );
    attached.replaceChildren(
      ...this.#images.map((data, index) =>
        removable(this.#images, index, word(isSound(data) ? "removeSound" : "removeImage"), medium(data)),
      ),
      ...this.#files.map((file, index) =>
        removable(
          this.#files,
          index,
          `${word("removeFile")}: ${file.name}`,
          styled("span", "file", file.name),
          element("small", file === counting ? "…" : tokensText(file)),
        ),
      ),
    );
    const tokens = this.#files.reduce((sum, file) => sum + (file.tokens ?? roughTokens(file.text)), 0);
    this.#actions.onFiles(tokens);
    this.#fit();
  }

  #fit(): void {
    const { question } = this.#parts;
    question.style.height = "auto";
    question.style.height = `${question.scrollHeight}px`;
  }
}
