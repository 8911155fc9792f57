import type { Conversation } from "./conversation.ts";
import { element, styled } from "./element.ts";
import { word } from "./words.ts";

/** The options of `/api/chat` that the page offers, with the ranges that the server checks and its own defaults. */
const options = [
  { name: "temperature", label: "temperatureLabel", min: 0, max: 2, usual: "0.8" },
  { name: "top_p", label: "topPLabel", min: 0, max: 1, usual: "0.9" },
  { name: "top_k", label: "topKLabel", min: 0, max: 1000, usual: "40" },
  { name: "min_p", label: "minPLabel", min: 0, max: 1, usual: "0" },
  { name: "repeat_penalty", label: "repeatPenaltyLabel", min: 0, max: 10, usual: "1" },
  { name: "num_predict", label: "longestAnswer", min: -1, max: 2_147_483_647, usual: "-1" },
  { name: "num_ctx", label: "contextWindow", min: 1, max: 2_147_483_647, usual: "2048" },
  { name: "seed", label: "seedLabel", min: -1, max: 9_007_199_254_740_991, usual: "-1" },
] as const;

const whole: ReadonlySet<string> = new Set(["top_k", "num_predict", "num_ctx", "seed"]);

interface Parts {
  dialog: HTMLDialogElement;
  form: HTMLFormElement;
  cancel: HTMLButtonElement;
  system: HTMLTextAreaElement;
  tools: HTMLTextAreaElement;
  toolsProblem: HTMLElement;
  options: HTMLElement;
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
      for (const input of parts.options.querySelectorAll("input"))
        if (input.value !== "") conversation.options[input.id] = Number(input.value);
      onSave(conversation);
    });
  }

  show(conversation: Conversation): void {
    const { dialog, system, tools, toolsProblem } = this.#parts;
    this.#conversation = conversation;
    system.value = conversation.system;
    tools.value = conversation.tools.length === 0 ? "" : JSON.stringify(conversation.tools, null, 2);
    toolsProblem.textContent = "";
    this.#parts.options.replaceChildren(...options.map((one) => field(one, conversation)));
    dialog.showModal();
  }
}

function field(
  { name, label, min, max, usual }: (typeof options)[number],
  conversation: Conversation,
): HTMLElement {
  const input = element("input");
  input.id = name;
  input.type = "number";
  input.min = String(min);
  input.max = String(max);
  input.step = whole.has(name) ? "1" : "any";
  input.placeholder = usual;
  input.value = String(conversation.options[name] ?? "");
  const range =
    max > 1e6
      ? word("atLeast", { min: String(min) })
      : word("between", { min: String(min), max: String(max) });
  // The browser would say it in its own language.
  input.addEventListener("input", () => {
    input.setCustomValidity("");
    if (!input.validity.valid) input.setCustomValidity(range);
  });
  const hint = element("small", `${word(name)} `, styled("span", "range", range));
  hint.id = `${name}-hint`;
  input.setAttribute("aria-describedby", hint.id);
  const title = element("span", `${word(label)} `, element("code", name));
  return element("div", element("label", title, input), hint);
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
