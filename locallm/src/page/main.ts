import { type ChatLine, capabilitiesOf, chat, listModels, rememberKey, ServerError } from "./api.ts";
import { Composer, type Question } from "./composer.ts";
import {
  asMarkdown,
  type Conversation,
  type Message,
  newConversation,
  sentMessages,
  titleOf,
} from "./conversation.ts";
import { Conversations } from "./conversations.ts";
import { setUpLook } from "./look.ts";
import { element } from "./markdown.ts";
import { button, MessageView } from "./message-view.ts";
import { ModelsDialog } from "./models-dialog.ts";
import { SettingsDialog } from "./settings-dialog.ts";
import { word } from "./words.ts";

/** The page at `/`. It shows one conversation at a time and offers the models of this server. */
const log = find("log");
const notice = find("notice");
const modelSelect = find("model", HTMLSelectElement);
const thinkBox = find("think", HTMLInputElement);

setUpLook(find("theme"), find("language"), () => {
  composer.setRunning(running !== null);
  showList();
  showConversation();
});

let running: AbortController | null = null;
let capabilities: readonly string[] = [];
const kept = await Conversations.open();
let current = kept.list()[0] ?? newConversation("");

const composer = new Composer(
  {
    form: find("composer", HTMLFormElement),
    question: find("question", HTMLTextAreaElement),
    send: find("send", HTMLButtonElement),
    images: find("images"),
    attach: find("attach", HTMLButtonElement),
    files: find("files", HTMLInputElement),
  },
  { onSend: (question) => void ask(question), onStop: () => running?.abort() },
);

const models = new ModelsDialog(
  {
    dialog: find("models", HTMLDialogElement),
    rows: find("model-rows"),
    form: find("pull", HTMLFormElement),
    name: find("pull-name", HTMLInputElement),
    pullButton: find("pull-button", HTMLButtonElement),
    stopButton: find("pull-stop", HTMLButtonElement),
    progress: find("pull-progress", HTMLProgressElement),
    status: find("pull-status"),
  },
  () => void showModels(),
);

const settings = new SettingsDialog(
  {
    dialog: find("settings", HTMLDialogElement),
    form: find("settings-form", HTMLFormElement),
    cancel: find("settings-cancel", HTMLButtonElement),
    system: find("system", HTMLTextAreaElement),
    tools: find("tools", HTMLTextAreaElement),
    toolsProblem: find("tools-problem"),
    option: (name) => find(name, HTMLInputElement),
  },
  (conversation) => void keep(conversation),
);

connectButtons();
composer.setRunning(false);
showList();
showConversation();
await showModels();
find("question").focus();

function connectButtons(): void {
  const side = find("side");
  const onClick = (id: string, act: () => void) => find(id).addEventListener("click", act);
  onClick("new", startNew);
  onClick("open-side", () => {
    side.classList.add("open");
    find("close-side").focus();
  });
  onClick("close-side", () => side.classList.remove("open"));
  onClick("open-models", () => void models.show().catch(tell));
  onClick("open-settings", () => settings.show(current));
  onClick("open-export", () => find("export", HTMLDialogElement).showModal());
  onClick("export-markdown", () => download("md", asMarkdown(current)));
  onClick("export-json", () => download("json", JSON.stringify(current, null, 2)));
  modelSelect.addEventListener("change", () => void chooseModel(modelSelect.value));
  find("key-form").addEventListener("submit", () => {
    rememberKey(find("key-value", HTMLInputElement).value);
    void showModels();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || document.querySelector("dialog[open]") !== null) return;
    if (side.classList.contains("open")) side.classList.remove("open");
    else running?.abort();
  });
}

function startNew(): void {
  running?.abort();
  current = newConversation(current.model);
  find("side").classList.remove("open");
  showList();
  showConversation();
  find("question").focus();
}

async function showModels(): Promise<void> {
  try {
    const list = await listModels();
    modelSelect.replaceChildren(...list.map(({ name }) => new Option(name)));
    modelSelect.disabled = list.length === 0;
    notice.textContent = list.length === 0 ? word("noModels") : "";
    const names = list.map(({ name }) => name);
    const chosen =
      names.find((name) => name === current.model) ??
      names.find((name) => name === localStorage.getItem("model")) ??
      names[0];
    if (chosen !== undefined) await chooseModel(chosen);
  } catch (error) {
    tell(error);
  }
}

async function chooseModel(name: string): Promise<void> {
  modelSelect.value = name;
  current.model = name;
  localStorage.setItem("model", name);
  try {
    capabilities = await capabilitiesOf(name);
  } catch (error) {
    capabilities = [];
    tell(error);
  }
  composer.setTakesImages(capabilities.includes("vision"));
  find("think-label").hidden = !capabilities.includes("thinking");
}

function showList(): void {
  const list = find("conversations");
  list.replaceChildren(
    ...kept.list().map((one) => {
      const open = button("untitled", () => {
        running?.abort();
        current = one;
        find("side").classList.remove("open");
        showList();
        showConversation();
        if (one.model !== "" && [...modelSelect.options].some(({ value }) => value === one.model))
          void chooseModel(one.model);
      });
      open.classList.add("open");
      open.textContent = titleOf(one) || word("untitled");
      const remove = button("remove", () => void removeConversation(one));
      remove.textContent = "✕";
      remove.setAttribute("aria-label", `${word("remove")}: ${open.textContent}`);
      const item = element("li", open, remove);
      if (one.id === current.id) item.setAttribute("aria-current", "true");
      return item;
    }),
  );
}

async function removeConversation(one: Conversation): Promise<void> {
  if (!confirm(word("removeQuestion"))) return;
  await kept.remove(one.id);
  if (one.id === current.id) startNew();
  else showList();
}

function showConversation(): void {
  const views = current.messages.map((message) => new MessageView(message, current.model));
  if (views.length === 0) {
    const welcome = element("p", word("welcome"));
    welcome.className = "welcome";
    log.replaceChildren(welcome);
    return;
  }
  log.replaceChildren(...views.map(({ root }) => root));
  for (const [index, view] of views.entries()) finish(view, index);
  log.scrollTop = log.scrollHeight;
}

function finish(view: MessageView, index: number): void {
  const conversation = current;
  const isLast = index === conversation.messages.length - 1;
  const message = conversation.messages[index]!;
  view.finish({
    regenerate: isLast && message.role === "assistant" ? () => void regenerate() : null,
    sendResult: isLast
      ? (toolName, result) => {
          conversation.messages.push({ role: "tool", content: result, tool_name: toolName });
          showConversation();
          void answer();
        }
      : null,
  });
}

async function ask(question: Question): Promise<void> {
  if (current.model === "") {
    composer.restore(question);
    notice.textContent = word("noModels");
    return;
  }
  const { text, images } = question;
  current.messages.push({ role: "user", content: text, ...(images.length > 0 && { images }) });
  showConversation();
  if (await answer()) return;
  current.messages.pop();
  showConversation();
  composer.restore(question);
}

async function regenerate(): Promise<void> {
  if (running !== null) return;
  const removed = current.messages.pop()!;
  showConversation();
  if (await answer()) return;
  current.messages.push(removed);
  showConversation();
}

/** Streams the next answer into the conversation. Returns whether anything arrived. */
async function answer(): Promise<boolean> {
  const conversation = current;
  const message: Message = { role: "assistant", content: "" };
  const view = new MessageView(message, conversation.model);
  const controller = new AbortController();
  running = controller;
  composer.setRunning(true);
  notice.textContent = word("loading");
  log.append(view.root);
  try {
    const { model, options, tools } = conversation;
    const think = capabilities.includes("thinking") ? thinkBox.checked : null;
    const request = { model, options, tools, think, messages: sentMessages(conversation) };
    for await (const line of chat(request, controller.signal)) {
      notice.textContent = "";
      addPiece(message, line);
      const follows = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
      view.update();
      if (follows) log.scrollTop = log.scrollHeight;
    }
  } catch (error) {
    if (controller.signal.aborted) message.note = word("stopped");
    else {
      tell(error);
      if (!hasContent(message)) view.root.remove();
      else message.note = (error as Error).message;
    }
  } finally {
    if (running === controller) {
      running = null;
      composer.setRunning(false);
    }
    if (controller.signal.aborted) notice.textContent = "";
  }
  if (!hasContent(message)) {
    view.root.remove();
    return controller.signal.aborted && conversation !== current;
  }
  conversation.messages.push(message);
  await keep(conversation);
  if (conversation === current) {
    finish(view, conversation.messages.length - 1);
    log.scrollTop = log.scrollHeight;
  }
  return true;
}

function hasContent({ content, thinking, tool_calls: calls }: Message): boolean {
  return content !== "" || Boolean(thinking) || calls !== undefined;
}

function addPiece(message: Message, line: ChatLine): void {
  const { content, thinking, tool_calls: calls } = line.message ?? { content: "" };
  message.content += content;
  if (thinking) message.thinking = (message.thinking ?? "") + thinking;
  if (calls) message.tool_calls = [...(message.tool_calls ?? []), ...calls];
  if (!line.done) return;
  const seconds = (line.eval_duration ?? 0) / 1e9;
  const tokens = line.eval_count ?? 0;
  const notes = [word("speed", { tokens: String(tokens), rate: (tokens / (seconds || 1)).toFixed(1) })];
  if (line.done_reason === "length") notes.push(word(isLimited() ? "limit" : "full"));
  message.note = notes.join(" · ");
}

function isLimited(): boolean {
  return (current.options["num_predict"] ?? -1) > 0;
}

async function keep(conversation: Conversation): Promise<void> {
  conversation.changedMs = Date.now();
  if (!(await kept.keep(conversation))) notice.textContent = word("notSaved");
  showList();
}

function tell(error: unknown): void {
  const { status, message } = error instanceof ServerError ? error : { status: 0, message: String(error) };
  notice.textContent = status === 0 ? word("unreachable") : message;
  if (status === 401) find("key", HTMLDialogElement).showModal();
}

function download(ending: string, text: string): void {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = `${(titleOf(current) || "locallm").replaceAll(/[\\/:*?"<>|]/g, " ")}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function find(id: string): HTMLElement;
function find<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind;
function find(id: string, kind: new () => HTMLElement = HTMLElement): HTMLElement {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`#${id} is not in the page`);
  return found;
}
