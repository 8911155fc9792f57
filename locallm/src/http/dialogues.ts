import { createDialogue, type Dialogue, type DialogueTraits } from "../dialogue/dialogue.ts";
import type { Templates } from "../dialogue/template-work.ts";
import type { Model } from "../library/model.ts";
import { headerOf, modelTemplate, type TemplateSource } from "../library/model-details.ts";
import type { Store } from "../library/store.ts";
import { LocallmError } from "../wire/errors.ts";

const capacity = 32;
/** Lists need all models at once. */
const traitsCapacity = 4096;
const noTraits: DialogueTraits = { tools: false, thinking: false, insert: false };

/** These errors do not go away, so lists do not try again. */
const templateErrors: ReadonlySet<string> = new Set(["template_invalid", "template_over_budget"]);

/** For weights without a template: the messages, separated by blank lines. */
const bare =
  "{% for message in messages %}{{ message.content }}{% if not loop.last %}\n\n{% endif %}{% endfor %}";

/** The dialogue of each model, read once per manifest and cached. */
export class Dialogues {
  readonly #store: Store;
  readonly #templates: Templates;
  readonly #byDigest = new Map<string, Promise<Dialogue>>();
  readonly #traits = new Map<string, DialogueTraits>();

  constructor(store: Store, templates: Templates) {
    this.#store = store;
    this.#templates = templates;
  }

  /**
   * With `template` (a request's own, in Go's language) in place of the model's. Throws `template_invalid` and
   * `template_over_budget`, and what reading the model throws.
   */
  async of(model: Model, template?: string): Promise<Dialogue> {
    if (template !== undefined) return await this.#read(model, { language: "go", text: template });
    const known = this.#byDigest.get(model.digest);
    if (known !== undefined) return await known;
    const reading = this.#read(model, null);
    this.#byDigest.set(model.digest, reading);
    const oldest = this.#byDigest.keys().next().value;
    if (this.#byDigest.size > capacity && oldest !== undefined) this.#byDigest.delete(oldest);
    reading.catch(() => this.#byDigest.delete(model.digest));
    return await reading;
  }

  /**
   * What the model's template supports: nothing if it cannot be read, or is not read before `late`. Throws what
   * reading the model throws.
   */
  async traits(model: Model, late?: Promise<void>): Promise<DialogueTraits> {
    const known = this.#traits.get(model.digest);
    if (known !== undefined) return known;
    const reading = this.#readTraits(model);
    if (late === undefined) return await reading;
    reading.catch(() => {});
    return await Promise.race([reading, late.then(() => noTraits)]);
  }

  async #readTraits(model: Model): Promise<DialogueTraits> {
    const traits = await this.of(model).then(
      (dialogue) => dialogue.traits,
      (error: unknown) => {
        if (error instanceof LocallmError && templateErrors.has(error.code)) return noTraits;
        throw error;
      },
    );
    if (this.#traits.size >= traitsCapacity) this.#traits.clear();
    this.#traits.set(model.digest, traits);
    return traits;
  }

  async #read(model: Model, template: TemplateSource | null): Promise<Dialogue> {
    const header = await headerOf(this.#store, model);
    const [path] = model.modelPaths;
    const special = path === undefined ? null : await this.#store.headers.specialTokens(path);
    const source = {
      template: template ?? modelTemplate(model, header) ?? { language: "jinja", text: bare },
      bosText: special?.bosText ?? "",
      eosText: special?.eosText ?? "",
    };
    return await createDialogue(source, this.#templates);
  }
}
