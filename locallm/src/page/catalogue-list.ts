import { countText, sizeText } from "./amounts.ts";
import { type Catalogue, type CatalogueModel, readCatalogue } from "./api.ts";
import { button, element, styled } from "./element.ts";
import type { Pulling } from "./pulling.ts";
import { abilityText, word } from "./words.ts";

/**
 * Models to begin with: those that fit this machine's memory first, and what the others need. Leaves out those that are
 * `here`, and with `forChat` those that cannot chat.
 */
export async function catalogueList(
  pulling: Pulling,
  here: ReadonlySet<string>,
  forChat = false,
): Promise<HTMLElement> {
  const { memory, models }: Catalogue = await readCatalogue();
  const offered = models.filter(
    ({ name, use }) => !here.has(name) && !here.has(`${name}:latest`) && !(forChat && use === "search"),
  );
  const fitting = offered.filter(({ fits }) => fits);
  const tooLarge = offered.filter(({ fits }) => !fits);
  const list = (some: readonly CatalogueModel[]) =>
    styled("ul", "catalogue", ...some.map((one) => row(one, pulling)));
  const box = styled(
    "div",
    "catalogue-box",
    styled("p", "hint", word("catalogueHint", { memory: sizeText(memory.available) })),
    list(fitting),
  );
  if (tooLarge.length > 0)
    box.append(
      element(
        "details",
        element("summary", word("tooLargeModels", { count: String(tooLarge.length) })),
        list(tooLarge),
      ),
    );
  return box;
}

function row(model: CatalogueModel, pulling: Pulling): HTMLElement {
  const {
    name,
    pull,
    size,
    parameter_size: parameters,
    context_length: length,
    license,
    needs,
    fits,
    use,
  } = model;
  const facts = [
    sizeText(size),
    word("parameters", { count: parameters }),
    word("window", { tokens: countText(length) }),
    license,
  ];
  if (!fits) facts.unshift(word("needs", { memory: sizeText(needs) }));
  const get = button("pull", () => void pulling.pull(name, pull), "");
  get.setAttribute("aria-label", `${word("pull")} ${name}`);
  const abilities = model.capabilities
    .filter((one) => one !== "completion" && one !== "embedding")
    .map(abilityText);
  return styled(
    "li",
    "offer",
    styled(
      "div",
      "about",
      element("strong", name),
      ...[word(use === "search" ? "searching" : use), ...abilities].map((text) =>
        styled("span", "chip", text),
      ),
      element("small", facts.join(" · ")),
    ),
    get,
  );
}
