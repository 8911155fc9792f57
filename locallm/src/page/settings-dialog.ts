import type { Conversation } from "./conversation.ts";
import { word } from "./words.ts";

const optionNames = ["temperature", "top_p", "num_predict", "num_ctx", "seed", "repeat_penalty"] as const;

interface Parts {
  dialog: HTMLDialogElement;
  form: HTMLFormElement;
  cancel: HTMLButtonElement;
  system: HTMLTextAreaElement;
  tools: HTMLTextAreaElement;
  toolsProblem: HTMLElement;
  /** Returns the number input for an option. */
  option(name: string): HTMLInputElement;
}

/** The dialog for the system message, options and tools of one conversation. */
export class SettingsDialog {
  readonly #parts: Parts;
  #conversation: Conversation | null = null;

  constructor(parts: Parts, onSave: (conversation: Conversation) => void) {
    this.#parts = parts;
    parts.cancel.addEventListener("click", () => parts.dialog.close());
    parts.form.addEventListener("submit", (event) => {
      const conversation = this.#conversation;
      const tools = readTools(parts.tools.value);
      if (conversation === null) return;
      if (tools === null) {
        event.preventDefault();
        parts.toolsProblem.textContent = word("toolsProblem");
        parts.tools.focus();
        return;
      }
      conversation.system = parts.system.value;
      conversation.tools = tools;
      conversation.options = {};
      for (const name of optionNames) {
        const { value } = parts.option(name);
        if (value !== "") conversation.options[name] = Number(value);
      }
      onSave(conversation);
    });
  }

  show(conversation: Conversation): void {
    const { dialog, system, tools, toolsProblem, option } = this.#parts;
    this.#conversation = conversation;
    system.value = conversation.system;
    tools.value = conversation.tools.length === 0 ? "" : JSON.stringify(conversation.tools, null, 2);
    toolsProblem.textContent = "";
    for (const name of optionNames) option(name).value = String(conversation.options[name] ?? "");
    dialog.showModal();
  }
}

/** Null if the text is not a JSON list. */
function readTools(text: string): unknown[] | null {
  if (text.trim() === "") return [];
  try {
    const tools: unknown = JSON.parse(text);
    return Array.isArray(tools) ? tools : null;
  } catch {
    return null;
  }
}
