import { capabilitiesOf, listModels, type ModelEntry, problemOf, pull } from "./api.ts";
import { element } from "./markdown.ts";
import { word } from "./words.ts";

interface Parts {
  dialog: HTMLDialogElement;
  rows: HTMLElement;
  form: HTMLFormElement;
  name: HTMLInputElement;
  pullButton: HTMLButtonElement;
  stopButton: HTMLButtonElement;
  progress: HTMLProgressElement;
  status: HTMLElement;
}

/**
 * Lists the models of the server and pulls a model with a progress bar. A pull continues while the dialog is
 * closed.
 */
export class ModelsDialog {
  readonly #parts: Parts;
  readonly #onChange: (pulled: string | null) => void;
  #running: AbortController | null = null;

  constructor(parts: Parts, onChange: (pulled: string | null) => void) {
    this.#parts = parts;
    this.#onChange = onChange;
    parts.form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#pull(parts.name.value.trim());
    });
    parts.stopButton.addEventListener("click", () => this.#running?.abort());
  }

  async show(): Promise<void> {
    const { dialog, status } = this.#parts;
    if (this.#running === null) status.textContent = "";
    dialog.showModal();
    try {
      await this.#list();
    } catch (error) {
      status.className = "problem";
      status.textContent = problemOf(error);
      throw error;
    }
  }

  async #list(): Promise<void> {
    const models = await listModels();
    const rows = models.map(({ name, size }) =>
      element("tr", element("td", name), element("td", sizeText(size)), element("td")),
    );
    this.#parts.rows.replaceChildren(...rows);
    await Promise.all(models.map((model, index) => this.#tellAbilities(model, rows[index]!)));
  }

  async #tellAbilities({ name }: ModelEntry, row: HTMLElement): Promise<void> {
    row.lastElementChild!.textContent = (await capabilitiesOf(name).catch(() => [])).join(", ");
  }

  async #pull(model: string): Promise<void> {
    const { pullButton, stopButton, progress, status } = this.#parts;
    if (this.#running !== null || model === "") return;
    this.#running = new AbortController();
    pullButton.disabled = true;
    stopButton.hidden = false;
    progress.hidden = false;
    progress.removeAttribute("value");
    status.className = "";
    try {
      for await (const line of pull(model, this.#running.signal)) {
        if (line.total !== undefined && line.total > 0) {
          progress.max = line.total;
          progress.value = line.completed ?? 0;
          status.textContent = `${line.status ?? ""} ${sizeText(line.completed ?? 0)} / ${sizeText(line.total)}`;
        } else status.textContent = line.status ?? "";
      }
      status.textContent = word("pulled", { name: model });
      await this.#list();
      this.#onChange(model);
    } catch (error) {
      status.className = "problem";
      status.textContent = this.#running.signal.aborted ? word("stopped") : problemOf(error);
    } finally {
      this.#running = null;
      pullButton.disabled = false;
      stopButton.hidden = true;
      progress.hidden = true;
    }
  }
}

function sizeText(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes >= 1e6 ? `${Math.round(bytes / 1e6)} MB` : `${Math.round(bytes / 1e3)} kB`;
}
