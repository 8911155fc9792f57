import { defineComponent, h, type PropType, ref } from "vue";
import type { ExampleCall } from "./curl.ts";
import { isCharged, maySend, product, send } from "./service.ts";
import { useWords } from "./words.ts";

interface Shown {
  readonly title: string;
  readonly isGood: boolean;
  text: string;
}

/** More is not shown: a page that draws megabytes stands still. */
const mostShown = 200_000;

/** A button that sends calls, one after the other, and their answers. What costs something says its price first. */
export default defineComponent({
  props: { calls: { type: Function as PropType<() => readonly ExampleCall[]>, required: true } },
  setup(props) {
    const word = useWords();
    const answers = ref<Shown[]>([]);
    const isSending = ref(false);
    const price = ref<number>();
    let stop: AbortController | undefined;

    async function press(): Promise<void> {
      const calls = props.calls();
      answers.value = [];
      isSending.value = true;
      stop = new AbortController();
      try {
        if (price.value === undefined && calls.some(isCharged)) return await ask(calls);
        price.value = undefined;
        for (const call of calls) if (!(await show(call))) break;
      } catch (error) {
        if (!stop.signal.aborted)
          answers.value.push({ title: word("notSent"), isGood: false, text: String(error) });
      } finally {
        isSending.value = false;
      }
    }

    /** The prices of all calls together; a refusal is shown as the answer. */
    async function ask(calls: readonly ExampleCall[]): Promise<void> {
      let sum = 0;
      for (const call of calls.filter(isCharged)) {
        const answer = await send({ ...call, path: "/v1/data/estimate" }, stop!.signal);
        if (!answer.ok) return void (await read(answer));
        sum += (await answer.json()).tokens;
      }
      price.value = sum;
    }

    async function show(call: ExampleCall): Promise<boolean> {
      const answer = await send(call, stop!.signal);
      await read(answer);
      return answer.ok;
    }

    async function read(answer: Response): Promise<void> {
      answers.value.push({
        title: `${answer.status} ${answer.statusText}`.trim(),
        isGood: answer.ok,
        text: "",
      });
      const shown = answers.value.at(-1)!;
      const pieces = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      for (
        let piece = await pieces?.read();
        piece !== undefined && !piece.done;
        piece = await pieces?.read()
      ) {
        shown.text += piece.value;
        if (shown.text.length <= mostShown) continue;
        shown.text = `${shown.text.slice(0, mostShown)}\n…`;
        await pieces?.cancel();
        break;
      }
      if (answer.headers.get("content-type")?.includes("json")) shown.text = indented(shown.text);
    }

    const label = () =>
      price.value === undefined
        ? word("send")
        : word("sendFor").replace("{tokens}", price.value.toLocaleString("en"));

    return () =>
      product.value === undefined
        ? null
        : h("div", { class: "sender" }, [
            h(
              "button",
              { type: "button", disabled: isSending.value || !maySend.value, onClick: press },
              label(),
            ),
            isSending.value
              ? h("button", { type: "button", class: "quiet", onClick: () => stop?.abort() }, word("stop"))
              : answers.value.length > 0
                ? h(
                    "button",
                    { type: "button", class: "quiet", onClick: () => (answers.value = []) },
                    word("hide"),
                  )
                : null,
            maySend.value ? null : h("span", { class: "hint" }, word("needsKey")),
            h(
              "div",
              { "aria-live": "polite" },
              answers.value.map(({ title, isGood, text }) =>
                h("figure", [
                  h("figcaption", { class: isGood ? "good" : "bad" }, title),
                  text === "" ? null : h("pre", { tabindex: 0, "aria-label": title }, text),
                ]),
              ),
            ),
          ]);
  },
});

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
