import { createDialogue, type Dialogue, type DialogueTraits } from "../dialogue/dialogue.ts";
import type { Templates } from "../dialogue/template-work.ts";
import type { Model } from "../library/model.ts";
import { headerOf, modelTemplate, type TemplateSource } from "../library/model-details.ts";
import { RecentlyUsed } from "../library/recently-used.ts";
import type { Store } from "../library/store.ts";
import type { Clock } from "../scheduler/clock.ts";
import { CoolDown } from "../scheduler/cool-down.ts";
import { LocallmError } from "../wire/errors.ts";

const capacity = 32;
/** Large, because a list needs the traits of all models. */
const traitsCapacity = 4096;
const noTraits: DialogueTraits = { tools: false, thinking: false, insert: false };

function isOverBudget(error: unknown): boolean {
  return error instanceof LocallmError && error.code === "template_over_budget";
}

/** Permanent errors: lists do not retry after them. */
const templateErrors: ReadonlySet<string> = new Set(["template_invalid", "template_over_budget"]);

/** The template for models without one: the messages, separated by blank lines. */
const bare =
  "{% for message in messages %}{{ message.content }}{% if not loop.last %}\n\n{% endif %}{% endfor %}";

/** The dialogue of each model, read once per manifest and cached. */
export class Dialogues {
  readonly #store: Store;
  readonly #templates: Templates;
  readonly #byDigest = new RecentlyUsed<string, Promise<Dialogue>>(capacity);
  readonly #traits = new RecentlyUsed<string, DialogueTraits>(traitsCapacity);
  /**
   * Models whose template recently exceeded its budget. Without this pause, each request would use up the
   * budget again.
   */
  readonly #coolDown: CoolDown;

  constructor(store: Store, templates: Templates, clock: Clock) {
    this.#store = store;
    this.#templates = templates;
    this.#coolDown = new CoolDown(clock);
  }

  /**
   * `template` (from the request, a Go template) replaces the model's template. Throws `template_invalid`,
   * `template_over_budget`, and the errors of reading the model.
   */
  async of(model: Model, template?: string): Promise<Dialogue> {
    if (template !== undefined) return await this.#read(model, { language: "go", text: template });
    const known = this.#byDigest.get(model.digest);
    if (known !== undefined) return await known;
    const failure = this.#coolDown.error(model.digest);
    if (failure !== undefined) throw failure;
    const reading = this.#read(model, null);
    this.#byDigest.set(model.digest, reading);
    reading.then(
      () => this.#coolDown.clear(model.digest),
      (error: unknown) => {
        this.#byDigest.delete(model.digest);
        if (isOverBudget(error)) this.#coolDown.fail(model.digest, error);
      },
    );
    return await reading;
  }

  /**
   * Returns what the model's template supports. Returns nothing if the template is invalid or not read before
   * `late` resolves. Throws the errors of reading the model.
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
      // The request's own template decides where a suffix goes.
      infill: template === null ? (special?.infill ?? null) : null,
    };
    return await createDialogue(source, this.#templates);
  }
}
