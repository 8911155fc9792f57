import "./welcome.css";
import { answerOf, problemOf } from "./answers.ts";
import { setTheme } from "./theme.ts";
import { words } from "./words.ts";

/** The script of the page for visitors: questions without an account, the sum of prices, the theme. */
const forms = [...document.querySelectorAll<HTMLFormElement>("form[data-operation]")];
const first = JSON.parse(document.querySelector("#answers")?.textContent ?? "{}");
for (const form of forms) {
  const operation = form.dataset["operation"]!;
  const box = form.querySelector<HTMLElement>(".answer")!;
  const field = form.querySelector<HTMLInputElement | HTMLTextAreaElement>("[name=text]")!;
  if (first[operation] !== undefined) box.replaceChildren(...answerOf(first[operation], field.value));
  for (const chip of form.querySelectorAll<HTMLButtonElement>("[data-question]"))
    chip.addEventListener("click", () => {
      field.value = chip.dataset["question"]!;
      form.requestSubmit();
    });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void ask(form, operation, field.value.trim(), box);
  });
}

/** Only the last question of a form is answered on the page. */
const asked = new WeakMap<HTMLFormElement, AbortController>();

async function ask(form: HTMLFormElement, operation: string, text: string, box: HTMLElement): Promise<void> {
  if (text === "") return;
  asked.get(form)?.abort();
  const controller = new AbortController();
  asked.set(form, controller);
  wait(form, box, operation === "legal_laws" ? words().searching : words().checking);
  try {
    const response = await fetch("/v1/try", {
      method: "POST",
      headers: { "content-type": "application/json", "accept-language": document.documentElement.lang },
      body: JSON.stringify({ operation, text }),
      signal: controller.signal,
    });
    const body = await response.json();
    box.replaceChildren(...(response.ok ? answerOf(body, text) : [problemOf(body)]));
  } catch {
    if (controller.signal.aborted) return;
    box.replaceChildren(problemOf({}));
  }
  box.removeAttribute("aria-busy");
}

/** The answer before stays for whoever still reads it, but nobody takes it for the new one. */
function wait(form: HTMLFormElement, box: HTMLElement, text: string): void {
  box.setAttribute("aria-busy", "true");
  const old = [...box.children].filter((each) => each.className !== "waiting");
  for (const each of old) each.toggleAttribute("inert", true);
  const waiting = document.createElement("p");
  waiting.className = "waiting";
  waiting.textContent = text;
  box.replaceChildren(waiting, ...old);
  box.scrollTop = 0;
  // On a small screen the answer begins below the window.
  if (box.getBoundingClientRect().top > innerHeight / 2) form.scrollIntoView();
}

const tokensPerYuan = 50_000;
const sum = document.querySelector("#sum");
const calls = [...document.querySelectorAll<HTMLInputElement>("input[data-tokens]")];

function addUp(): void {
  const tokens = calls.reduce((all, { value, dataset }) => {
    const count = Math.min(100_000_000, Math.max(0, Math.floor(Number(value)) || 0));
    return all + count * Number(dataset["tokens"]);
  }, 0);
  if (sum)
    sum.textContent = words().sum(
      (tokens / tokensPerYuan).toLocaleString("en", yuan),
      tokens.toLocaleString("en"),
    );
}
const yuan = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
for (const input of calls) input.addEventListener("input", addUp);
addUp();

document.querySelector("#theme")?.addEventListener("click", setTheme);
