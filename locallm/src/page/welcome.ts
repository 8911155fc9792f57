import type { LoadedModel, ModelEntry } from "./api.ts";
import { catalogueList } from "./catalogue-list.ts";
import { button, element, styled } from "./element.ts";
import { chips, modelFacts } from "./models-dialog.ts";
import type { Pulling } from "./pulling.ts";
import { word } from "./words.ts";

/** What an empty conversation shows: what this is, which model answers, what it can, and three questions. */
export function welcome(
  model: ModelEntry,
  loaded: LoadedModel | null,
  onAsk: (question: string) => void,
): HTMLElement {
  const questions = (["firstQuestion", "secondQuestion", "thirdQuestion"] as const).map((name) =>
    button(name, () => onAsk(word(name)), "start"),
  );
  const isRemote = model.remote_host !== undefined;
  return styled(
    "div",
    "welcome",
    element("h2", word("welcomeTitle")),
    element("p", word(isRemote ? "welcomeRemote" : "welcome", { host: location.host })),
    styled("div", "card", element("strong", model.name), ...chips(model, loaded), modelFacts(model, loaded)),
    styled("div", "starts", ...questions),
    styled("p", "hint keyboard", word("keys")),
  );
}

/** What a server without models shows: the catalogue, and the progress of a pull. */
export async function firstModel(pulling: Pulling): Promise<HTMLElement> {
  const box = styled(
    "div",
    "welcome",
    element("h2", word("firstTitle")),
    element("p", word("welcome", { host: location.host })),
    element("p", word("noModels")),
    pulling.place(),
  );
  box.append(await catalogueList(pulling, new Set(), true));
  return box;
}
