import { countText, sizeText } from "./amounts.ts";
import {
  deleteModel,
  type LoadedModel,
  listModels,
  load,
  loadedAs,
  loadedModels,
  type ModelEntry,
  problemOf,
  showModel,
} from "./api.ts";
import { catalogueList } from "./catalogue-list.ts";
import { titledBox } from "./code-box.ts";
import { button, element, styled } from "./element.ts";
import type { Pulling } from "./pulling.ts";
import { abilityText, timeText, word } from "./words.ts";

interface Parts {
  dialog: HTMLDialogElement;
  list: HTMLElement;
  catalogue: HTMLElement;
  form: HTMLFormElement;
  name: HTMLInputElement;
  progress: HTMLElement;
  status: HTMLElement;
}

interface Actions {
  onUse(name: string): void;
  /** A model was deleted. */
  onChange(): void;
}

/** The models of the server: what each is, which are loaded, and more to pull. */
export class ModelsDialog {
  readonly #parts: Parts;
  readonly #pulling: Pulling;
  readonly #actions: Actions;

  constructor(parts: Parts, pulling: Pulling, actions: Actions) {
    this.#parts = parts;
    this.#pulling = pulling;
    this.#actions = actions;
    parts.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const name = parts.name.value.trim();
      if (name !== "") void pulling.pull(name, [name]);
    });
  }

  async show(): Promise<void> {
    const { dialog, progress } = this.#parts;
    progress.replaceChildren(this.#pulling.place());
    dialog.showModal();
    await this.refresh();
  }

  /** Lists again what the server has, if the dialog is open. */
  async refresh(): Promise<void> {
    const { dialog, list, catalogue, status } = this.#parts;
    if (!dialog.open) return;
    try {
      const [models, loaded] = await Promise.all([listModels(), loadedModels()]);
      status.textContent = models.length === 0 ? word("noModels") : "";
      list.replaceChildren(...models.map((model) => this.#row(model, loadedAs(loaded, model))));
      catalogue.replaceChildren(await catalogueList(this.#pulling, new Set(models.map(({ name }) => name))));
    } catch (error) {
      status.textContent = problemOf(error);
      throw error;
    }
  }

  #row(model: ModelEntry, loaded: LoadedModel | null): HTMLElement {
    const { name } = model;
    const actions = styled(
      "div",
      "row",
      button("use", () => this.#use(name), ""),
    );
    if (model.remote_host === undefined)
      actions.append(
        loaded === null
          ? button("load", () => void this.#change(word("loading"), () => load(name)))
          : button("unload", () => void this.#change(word("unloading"), () => unload(model))),
      );
    actions.append(button("removeModel", () => void this.#remove(name)));
    return element(
      "li",
      styled("div", "about", element("strong", name), ...chips(model, loaded), modelFacts(model, loaded)),
      actions,
      this.#details(name),
    );
  }

  /** Licence and template, which are read when they are opened. */
  #details(name: string): HTMLElement {
    const box = element("details", element("summary", word("details")));
    box.addEventListener("toggle", async () => {
      if (!box.open || box.children.length > 1) return;
      try {
        const { license, template, system, parameters } = await showModel(name);
        const parts = { license, template, parametersOf: parameters, system };
        for (const [part, text] of Object.entries(parts) as [keyof typeof parts, string | undefined][]) {
          if (!text && part !== "license") continue;
          box.append(titledBox(text || word("noLicense"), word(part)));
        }
      } catch (error) {
        box.append(styled("p", "problem", problemOf(error)));
      }
    });
    return box;
  }

  #use(name: string): void {
    this.#parts.dialog.close();
    this.#actions.onUse(name);
  }

  async #change(meanwhile: string, change: () => Promise<void>): Promise<void> {
    this.#parts.status.textContent = meanwhile;
    try {
      await change();
      await this.refresh();
    } catch (error) {
      this.#parts.status.textContent = problemOf(error);
    }
  }

  async #remove(name: string): Promise<void> {
    if (!confirm(word("removeModelQuestion", { name }))) return;
    await this.#change("", () => deleteModel(name));
    this.#actions.onChange();
  }
}

/** Waits a few seconds for the model to leave; one that is answering leaves later. */
async function unload(model: ModelEntry): Promise<void> {
  await load(model.name, 0);
  for (let tries = 0; tries < 20 && loadedAs(await loadedModels(), model) !== null; tries++)
    await new Promise((resolve) => setTimeout(resolve, 250));
}

/** What the model can, and whether it is loaded. */
export function chips(model: ModelEntry, loaded: LoadedModel | null): HTMLElement[] {
  const abilities = (model.capabilities ?? []).map((ability) => styled("span", "chip", abilityText(ability)));
  return loaded === null ? abilities : [...abilities, styled("span", "chip on", word("loaded"))];
}

/** Its kind, size and window, and where it is loaded. */
export function modelFacts(
  { size, remote_host: host, details }: ModelEntry,
  loaded: LoadedModel | null,
): HTMLElement {
  const { family, parameter_size: parameters, quantization_level: type, context_length: length } = details;
  const facts = [
    [family, parameters, type].filter((each) => each).join(" "),
    host === undefined ? sizeText(size) : word("remote", { host }),
    length === undefined ? "" : word("window", { tokens: countText(length) }),
  ];
  if (loaded !== null)
    facts.push(
      word("loadedFacts", { device: loaded.device ?? "", memory: sizeText(loaded.size) }),
      until(loaded.expires_at),
    );
  return element("small", facts.filter((each) => each !== "").join(" · "));
}

function until(date: string): string {
  const end = new Date(date);
  // The server means "for ever" by a distant year.
  return end.getFullYear() > 2200 ? word("stays") : word("until", { time: timeText(end) });
}
