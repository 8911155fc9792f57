import { useData, useRouter, withBase } from "vitepress";
import { defineComponent, h, nextTick, onMounted, onUnmounted, ref, shallowRef, watch } from "vue";
import { find, type Hit, type Section } from "./find.ts";
import { useWords } from "./words.ts";

/** The search of the site, in the language of the page. It takes the place of the theme's own, which needs `eval`. */
export default defineComponent(() => {
  const { lang } = useData();
  const router = useRouter();
  const word = useWords();
  const dialog = ref<HTMLDialogElement>();
  const question = ref("");
  const sections = shallowRef<readonly Section[]>([]);
  const hits = shallowRef<readonly Hit[]>([]);
  const chosen = ref(0);
  const isFailed = ref(false);
  let loaded = "";

  async function open(): Promise<void> {
    if (dialog.value?.open) return;
    dialog.value?.showModal();
    const name = lang.value === "zh-CN" ? "search-zh.json" : "search-en.json";
    if (loaded === name) return;
    try {
      const answer = await fetch(withBase(`/${name}`));
      if (!answer.ok) throw new Error(`${answer.status}`);
      sections.value = await answer.json();
      loaded = name;
      isFailed.value = false;
    } catch {
      isFailed.value = true;
    }
  }

  watch([question, sections], () => {
    hits.value = find(sections.value, question.value);
    chosen.value = 0;
  });

  function go(hit: Hit | undefined): void {
    if (hit === undefined) return;
    dialog.value?.close();
    void router.go(withBase(`/${hit.section.address}`));
  }

  async function onKey(event: KeyboardEvent): Promise<void> {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && hits.value.length > 0) {
      event.preventDefault();
      chosen.value = (chosen.value + step + hits.value.length) % hits.value.length;
      await nextTick();
      dialog.value?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      go(hits.value[chosen.value]);
    }
  }

  function onShortcut(event: KeyboardEvent): void {
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    if ((event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !isTyping)) {
      event.preventDefault();
      void open();
    }
  }
  onMounted(() => addEventListener("keydown", onShortcut));
  onUnmounted(() => removeEventListener("keydown", onShortcut));

  const result = (hit: Hit, index: number) =>
    h(
      "a",
      {
        id: `hit-${index}`,
        role: "option",
        href: withBase(`/${hit.section.address}`),
        "aria-selected": index === chosen.value,
        onClick: (event: MouseEvent) => {
          event.preventDefault();
          go(hit);
        },
      },
      [
        h("strong", hit.section.heading || hit.section.page),
        hit.section.heading === "" ? null : h("small", hit.section.page),
        h(
          "span",
          hit.passage.map((piece, place) => (place % 2 === 1 ? h("mark", piece) : piece)),
        ),
      ],
    );

  return () =>
    h("div", { class: "site-search" }, [
      h("button", { type: "button", onClick: open }, [
        h("span", { class: "glass", "aria-hidden": "true" }),
        h("span", { class: "label" }, word("search")),
        h("kbd", "Ctrl K"),
      ]),
      h(
        "dialog",
        {
          ref: dialog,
          "aria-label": word("searchFor"),
          onClick: (event: MouseEvent) => event.target === dialog.value && dialog.value?.close(),
        },
        [
          h("input", {
            type: "search",
            role: "combobox",
            autofocus: true,
            placeholder: word("searchFor"),
            "aria-label": word("searchFor"),
            "aria-expanded": hits.value.length > 0,
            "aria-controls": "hits",
            "aria-activedescendant": hits.value.length > 0 ? `hit-${chosen.value}` : undefined,
            value: question.value,
            onInput: (event: InputEvent) => (question.value = (event.target as HTMLInputElement).value),
            onKeydown: onKey,
          }),
          h("div", { id: "hits", role: "listbox", "aria-label": word("search") }, hits.value.map(result)),
          h("p", { class: ["hint", { keys: hint() === word("searchHint") }], role: "status" }, hint()),
        ],
      ),
    ]);

  function hint(): string {
    if (isFailed.value) return word("searchFailed");
    return word(question.value.trim() !== "" && hits.value.length === 0 ? "nothingFound" : "searchHint");
  }
});
