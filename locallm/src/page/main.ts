import {
  type ChatLine,
  capabilitiesOf,
  chat,
  hasKey,
  listModels,
  type ModelEntry,
  problemOf,
  rememberKey,
  ServerError,
} from "./api.ts";
import { choiceOf, choose } from "./choices.ts";
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
import { button, MessageView, type ToolResult } from "./message-view.ts";
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

/** An answer that is arriving. */
interface Running {
  readonly conversation: Conversation;
  readonly view: MessageView;
  readonly controller: AbortController;
}

let running: Running | null = null;
let capabilities: readonly string[] = [];
/** Whether the log shows its end, and new text scrolls it. */
let follows = true;
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
  { onSend: (question) => void ask(question), onStop: stop },
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
kept.follow(
  (id) => running?.conversation.id === id,
  (changed) => {
    showList();
    if (changed.has(current.id)) showConversation();
  },
);
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
  onClick("close-side", closeSide);
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
    if (event.key !== "Escape" || event.isComposing || document.querySelector("dialog[open]") !== null)
      return;
    if (side.classList.contains("open")) closeSide();
    else stop();
  });
  log.addEventListener("scroll", () => {
    follows = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  });
}

function stop(): void {
  running?.controller.abort();
}

/** On a narrow screen the list covers the page. */
function closeSide(): void {
  const side = find("side");
  if (!side.classList.contains("open")) return;
  side.classList.remove("open");
  find("open-side").focus();
}

function startNew(): void {
  stop();
  current = newConversation(current.model);
  closeSide();
  showList();
  showConversation();
  find("question").focus();
}

async function showModels(): Promise<void> {
  try {
    const list = (await listModels()).filter(chats);
    modelSelect.replaceChildren(...list.map(({ name }) => new Option(name)));
    modelSelect.disabled = list.length === 0;
    notice.textContent = list.length === 0 ? word("noModels") : "";
    const names = list.map(({ name }) => name);
    const chosen =
      names.find((name) => name === current.model) ??
      names.find((name) => name === choiceOf("model")) ??
      names[0];
    if (chosen !== undefined) await chooseModel(chosen);
  } catch (error) {
    tell(error);
  }
}

/** Whether the model answers messages. Embedding models and rerankers do not. */
function chats({ capabilities: found }: ModelEntry): boolean {
  return found === undefined || found.includes("completion");
}

async function chooseModel(name: string): Promise<void> {
  modelSelect.value = name;
  current.model = name;
  choose("model", name);
  let found: readonly string[] = [];
  try {
    found = await capabilitiesOf(name);
  } catch (error) {
    tell(error);
  }
  if (current.model !== name) return;
  capabilities = found;
  composer.setTakesImages(capabilities.includes("vision"));
  find("think-label").hidden = !capabilities.includes("thinking");
}

function showList(): void {
  const list = find("conversations");
  list.replaceChildren(
    ...kept.list().map((one) => {
      const open = button("untitled", () => {
        stop();
        current = one;
        closeSide();
        showList();
        showConversation();
        const hasModel = [...modelSelect.options].some(({ value }) => value === one.model);
        const model = hasModel ? one.model : modelSelect.value;
        if (model !== "") void chooseModel(model);
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
  if (one.id === current.id) stop();
  await kept.remove(one.id);
  if (one.id === current.id) return startNew();
  showList();
  find("new").focus();
}

function showConversation(): void {
  const views = current.messages.map((message) => new MessageView(message, current.model));
  const arriving = running?.conversation === current ? [running.view.root] : [];
  if (views.length + arriving.length === 0) {
    const welcome = element("p", word("welcome", { host: location.host }));
    welcome.className = "welcome";
    log.replaceChildren(welcome);
    return;
  }
  log.replaceChildren(...views.map(({ root }) => root), ...arriving);
  for (const [index, view] of views.entries()) finish(view, index);
  follows = true;
  followEnd();
}

function followEnd(): void {
  if (follows) log.scrollTop = log.scrollHeight;
}

function finish(view: MessageView, index: number): void {
  const conversation = current;
  const isLast = index === conversation.messages.length - 1 && running?.conversation !== conversation;
  view.finish({
    askAgain: isLast ? () => void askAgain(conversation) : null,
    sendResults: isLast ? (results) => void sendResults(conversation, results) : null,
  });
}

async function ask(question: Question): Promise<void> {
  const conversation = current;
  if (conversation.model === "") {
    composer.restore(question);
    notice.textContent = word("noModels");
    return;
  }
  const { text, images } = question;
  const isNew = !kept.has(conversation.id);
  conversation.messages.push({ role: "user", content: text, ...(images.length > 0 && { images }) });
  // The question survives a reload before the first word of the answer.
  void keep(conversation);
  if ((await answer(conversation)) || conversation !== current) return;
  conversation.messages.pop();
  composer.restore(question);
  if (isNew) await kept.remove(conversation.id);
  else await keep(conversation);
  showList();
  showConversation();
}

/** Asks for another answer to the last question, or for the first one if there is none. */
async function askAgain(conversation: Conversation): Promise<void> {
  if (running !== null) return;
  const before = conversation.messages.at(-1)?.role === "assistant" ? conversation.messages.pop() : undefined;
  if (await answer(conversation)) return;
  if (before !== undefined) conversation.messages.push(before);
  if (conversation === current) showConversation();
}

async function sendResults(conversation: Conversation, results: readonly ToolResult[]): Promise<void> {
  if (running !== null) return;
  for (const { toolName, content } of results)
    conversation.messages.push({ role: "tool", content, tool_name: toolName });
  void keep(conversation);
  if (!(await answer(conversation)) && conversation === current) showConversation();
}

/** How often an answer is stored while it arrives. */
const storeEveryMs = 1000;

/** Streams the next answer into the conversation. Returns whether anything arrived. */
async function answer(conversation: Conversation): Promise<boolean> {
  const message: Message = { role: "assistant", content: "" };
  const view = new MessageView(message, conversation.model, followEnd);
  const controller = new AbortController();
  const own: Running = { conversation, view, controller };
  running = own;
  composer.setRunning(true);
  notice.textContent = word("loading");
  showConversation();
  // The pressed button is gone, and the keyboard must not start again at the top of the page.
  if (document.activeElement === document.body) log.focus();
  let problem: unknown = null;
  try {
    const { model, options, tools } = conversation;
    const think = capabilities.includes("thinking") ? thinkBox.checked : null;
    const request = { model, options, tools, think, messages: sentMessages(conversation) };
    let storedMs = performance.now();
    for await (const line of chat(request, controller.signal)) {
      if (running === own) notice.textContent = "";
      addPiece(message, line, conversation);
      view.update();
      if (performance.now() - storedMs < storeEveryMs || !kept.has(conversation.id)) continue;
      storedMs = performance.now();
      void kept.keep(conversation, { ...message, note: word("stopped") });
    }
  } catch (error) {
    problem = error;
    message.note = controller.signal.aborted ? word("stopped") : problemOf(error);
  }
  if (running === own) {
    running = null;
    composer.setRunning(false);
    notice.textContent = "";
  }
  if (hasContent(message)) {
    conversation.messages.push(message);
    // A conversation that was deleted meanwhile stays deleted.
    if (kept.has(conversation.id)) await keep(conversation);
    if (conversation === current) finish(view, conversation.messages.length - 1);
    followEnd();
  } else view.root.remove();
  if (problem !== null && !controller.signal.aborted) {
    // Perhaps the model was removed.
    if (problem instanceof ServerError && problem.status === 404) await showModels();
    tell(problem);
  }
  return hasContent(message);
}

function hasContent({ content, thinking, tool_calls: calls }: Message): boolean {
  return content !== "" || Boolean(thinking) || calls !== undefined;
}

function addPiece(message: Message, line: ChatLine, { options }: Conversation): void {
  const { content, thinking, tool_calls: calls } = line.message ?? { content: "" };
  message.content += content;
  if (thinking) message.thinking = (message.thinking ?? "") + thinking;
  if (calls) message.tool_calls = [...(message.tool_calls ?? []), ...calls];
  if (!line.done) return;
  const seconds = (line.eval_duration ?? 0) / 1e9;
  const tokens = line.eval_count ?? 0;
  const notes = [word("speed", { tokens: String(tokens), rate: (tokens / (seconds || 1)).toFixed(1) })];
  if (line.done_reason === "length") notes.push(word((options["num_predict"] ?? -1) > 0 ? "limit" : "full"));
  message.note = notes.join(" · ");
}

async function keep(conversation: Conversation): Promise<void> {
  const isStored = await kept.keep(conversation);
  // An error is more important.
  if (!isStored && notice.textContent === "") notice.textContent = word("notSaved");
  showList();
}

function tell(error: unknown): void {
  notice.textContent = problemOf(error);
  if (!(error instanceof ServerError) || error.status !== 401) return;
  find("key-problem").textContent = hasKey() ? error.message : "";
  find("key", HTMLDialogElement).showModal();
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
