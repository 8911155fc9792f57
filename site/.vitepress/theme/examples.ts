import {
  defineComponent,
  Fragment,
  h,
  nextTick,
  onMounted,
  onUnmounted,
  ref,
  shallowRef,
  Teleport,
  watch,
} from "vue";
import Credentials from "./credentials.ts";
import { callsOf, type ExampleCall } from "./curl.ts";
import Sender from "./sender.ts";
import { findService, key, product } from "./service.ts";

/** Only what reads or asks: an example that changes an account is for the reader's own command line. */
const isHarmless = ({ method, path }: ExampleCall) =>
  method === "GET" || /^\/v1\/data\/(?:query|estimate)$/.test(path) || isAnswered(path);
const isAnswered = (path: string) =>
  /^\/api\/(?:chat|generate|embed|embeddings|tokenize|detokenize|show|rerank)$/.test(path) ||
  /^\/v1\/(?:chat\/completions|completions|embeddings|responses|messages|messages\/count_tokens|rerank)$/.test(
    path,
  );

interface Block {
  readonly place: HTMLElement;
  readonly calls: readonly ExampleCall[];
}

/** Makes the examples of a page ones that can be sent, and puts the reader's key into them. */
export default defineComponent(() => {
  const blocks = shallowRef<readonly Block[]>([]);
  const top = shallowRef<HTMLElement>();
  const isReady = ref(false);
  const written = new Map<Text, string>();

  onMounted(async () => {
    await nextTick();
    const found = [...document.querySelectorAll<HTMLElement>(".vp-doc div.language-sh")];
    if (found.length === 0) return;
    await findService();
    if (product.value === undefined || !location.pathname.includes(`/${product.value}/`)) return;
    const { value: name } = product;
    blocks.value = found.flatMap((block) => {
      const calls = callsOf(block.querySelector("pre")?.textContent ?? "", name);
      if (calls.length === 0 || !calls.every(isHarmless)) return [];
      const place = document.createElement("div");
      block.after(place);
      return { place, calls };
    });
    if (blocks.value.length > 0 && document.querySelector(".http-reference") === null) {
      top.value = document.createElement("div");
      blocks.value[0]!.place.before(top.value);
    }
    isReady.value = true;
    writeKey();
  });
  watch(key, writeKey);
  onUnmounted(() => {
    for (const { place } of blocks.value) place.remove();
    top.value?.remove();
  });

  /** Examples name the key by a variable or a placeholder; with a key of the reader they hold it. */
  function writeKey(): void {
    if (!isReady.value || product.value !== "dataq") return;
    for (const code of document.querySelectorAll(".vp-doc pre code")) {
      const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
      for (
        let node = walker.nextNode() as Text | null;
        node !== null;
        node = walker.nextNode() as Text | null
      ) {
        const text = written.get(node) ?? node.data;
        if (!placeholder.test(text)) continue;
        written.set(node, text);
        node.data = key.value === "" ? text : text.replace(placeholder, key.value);
      }
    }
  }

  return () =>
    h(Fragment, [
      ...(top.value === undefined ? [] : [h(Teleport, { to: top.value }, h(Credentials))]),
      ...blocks.value.map(({ place, calls }) =>
        h(Teleport, { to: place }, h(Sender, { calls: () => calls })),
      ),
    ]);
});

const placeholder = /\$\{?(?:KEY|DATAQ_API_KEY)\b\}?|dq_(?:live|test)_…|<API_KEY>/;
