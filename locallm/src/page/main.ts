import {
  type ChatLine,
  chat,
  countTokens,
  hasKey,
  type LoadedModel,
  listModels,
  loadedAs,
  loadedModels,
  type ModelEntry,
  problemOf,
  rememberKey,
  ServerError,
} from "./api.ts";
import { choiceOf, choose } from "./choices.ts";
import { Composer, type Question } from "./composer.ts";
import {
  addVersion,
  type Conversation,
  contains,
  type Figures,
  type Message,
  newConversation,
  replaceMessage,
  sentMessages,
  showVersion,
  titleOf,
  versionsAt,
} from "./conversation.ts";
import { ConversationList } from "./conversation-list.ts";
import { Conversations } from "./conversations.ts";
import { button, find } from "./element.ts";
import { setUpLook } from "./look.ts";
import { type MessageActions, MessageView, type ToolResult } from "./message-view.ts";
import { ModelsDialog } from "./models-dialog.ts";
import { type Choice, Palette } from "./palette.ts";
import { Pulling } from "./pulling.ts";
import { SettingsDialog } from "./settings-dialog.ts";
import { TransferDialog } from "./transfer-dialog.ts";
import { firstModel, welcome } from "./welcome.ts";
import { showWindow } from "./window-meter.ts";
import { word } from "./words.ts";

/** The page at `/`. It shows one conversation at a time and offers the models of this server. */
const log = find("log");
const notice = find("notice");
const modelSelect = find("model", HTMLSelectElement);
const thinkBox = find("think", HTMLInputElement);

setUpLook(find("theme"), find("language"), () => {
  composer.setRunning(running !== null);
  list.show();
  showConversation();
});

/** An answer that is arriving, in the place of the message at `at` and all that follow. */
interface Running {
  readonly conversation: Conversation;
  readonly at: number;
  readonly view: MessageView;
  readonly controller: AbortController;
}

let running: Running | null = null;
let models: readonly ModelEntry[] = [];
let loaded: readonly LoadedModel[] = [];
/** False until the server has told its models. */
let knowsModels = false;
/** Tokens of the files in the input box. */
let fileTokens = 0;
/** Whether the log shows its end, and new text scrolls it. */
let follows = true;
/** The views of the shown messages, in order. */
let views: MessageView[] = [];
const kept = await Conversations.open();
let current = kept.list()[0] ?? newConversation("");

const composer = new Composer(
  {
    form: find("composer", HTMLFormElement),
    question: find("question", HTMLTextAreaElement),
    send: find("send", HTMLButtonElement),
    attached: find("attached"),
    problem: find("attach-problem"),
    attach: find("attach", HTMLButtonElement),
    files: find("files", HTMLInputElement),
    dropArea: find("main"),
  },
  {
    onSend: (question) => void ask(question),
    onStop: stop,
    onEditLast: editLast,
    count: async (text) => countTokens(current.model, text).catch(() => null),
    onFiles: (tokens) => {
      fileTokens = tokens;
      drawWindow();
    },
  },
);

const list = new ConversationList(
  { search: find("search", HTMLInputElement), list: find("conversations"), empty: find("no-conversations") },
  {
    all: () => kept.list(),
    current: () => current,
    onOpen: open,
    onRename: (conversation) => void keep(conversation),
    onRemove: (conversation) => void removeConversation(conversation),
  },
);

const pulling = new Pulling(
  (name) => void showModels(name).then(() => modelsDialog.refresh().catch((error) => tell(error))),
);

const modelsDialog = new ModelsDialog(
  {
    dialog: find("models", HTMLDialogElement),
    list: find("model-list"),
    catalogue: find("catalogue"),
    form: find("pull", HTMLFormElement),
    name: find("pull-name", HTMLInputElement),
    progress: find("pull-progress"),
    status: find("models-status"),
  },
  pulling,
  { onUse: (name) => chooseModel(name), onChange: () => void showModels() },
);
find("models").addEventListener("close", () => void readLoaded());

const settings = new SettingsDialog(
  {
    dialog: find("settings", HTMLDialogElement),
    form: find("settings-form", HTMLFormElement),
    cancel: find("settings-cancel", HTMLButtonElement),
    system: find("system", HTMLTextAreaElement),
    tools: find("tools", HTMLTextAreaElement),
    toolsProblem: find("tools-problem"),
    options: find("options"),
  },
  (conversation) => {
    void keep(conversation);
    drawWindow();
  },
);

const transfer = new TransferDialog(
  {
    dialog: find("transfer", HTMLDialogElement),
    markdown: find("export-markdown", HTMLButtonElement),
    json: find("export-json", HTMLButtonElement),
    all: find("export-all", HTMLButtonElement),
    choose: find("import", HTMLButtonElement),
    files: find("import-files", HTMLInputElement),
    status: find("transfer-status"),
    empty: find("transfer-empty"),
  },
  { current: () => current, all: () => kept.list(), onImport: importAll },
);

const palette = new Palette(
  {
    dialog: find("palette", HTMLDialogElement),
    input: find("palette-input", HTMLInputElement),
    list: find("palette-list"),
  },
  paletteChoices,
);

connectButtons();
composer.setRunning(false);
composer.setReady(current.model !== "");
list.show();
showConversation();
kept.follow(
  (id) => running?.conversation.id === id,
  (changed) => {
    list.show();
    if (changed.has(current.id)) showConversation();
  },
);
await showModels();
// Somebody may be typing elsewhere by now.
if (document.activeElement === document.body) find("question").focus();

function connectButtons(): void {
  const side = find("side");
  const onClick = (id: string, act: () => void) => find(id).addEventListener("click", act);
  onClick("new", startNew);
  onClick("open-side", () => {
    side.classList.add("open");
    find("close-side").focus();
  });
  onClick("close-side", closeSide);
  onClick("open-models", showModelsDialog);
  onClick("open-settings", () => settings.show(current));
  onClick("key-cancel", () => find("key", HTMLDialogElement).close());
  onClick("open-transfer", () => transfer.show());
  onClick("open-palette", () => palette.show());
  modelSelect.addEventListener("change", () => chooseModel(modelSelect.value));
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

function paletteChoices(): Choice[] {
  const command = (label: string, run: () => void) => ({ kind: word("command"), label, run });
  return [
    command(word("newConversation"), startNew),
    command(word("settings"), () => settings.show(current)),
    command(word("models"), showModelsDialog),
    command(word("transfer"), () => transfer.show()),
    command(find("theme").textContent, () => find("theme").click()),
    command(find("language").textContent, () => find("language").click()),
    command(word("key"), askForKey),
    command(word("guides"), () => window.open("/docs", "_blank", "noopener")),
    ...models.map(({ name }) => ({
      kind: word("model").toLowerCase(),
      label: name,
      run: () => chooseModel(name),
    })),
    ...kept.list().map((one) => ({
      kind: word("conversation"),
      label: titleOf(one) || word("untitled"),
      run: () => open(one),
      matches: (text: string) => contains(one, text),
    })),
  ];
}

function showModelsDialog(): void {
  modelsDialog.show().catch((error) => tell(error));
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
  say("");
  current = newConversation(current.model || modelSelect.value);
  closeSide();
  list.show();
  showConversation();
  find("question").focus();
}

function open(one: Conversation): void {
  stop();
  say("");
  current = one;
  closeSide();
  list.show();
  showConversation();
  const hasModel = models.some(({ name }) => name === one.model);
  const model = hasModel ? one.model : modelSelect.value;
  if (model !== "") chooseModel(model);
}

async function importAll(conversations: readonly Conversation[]): Promise<void> {
  for (const one of conversations) await kept.add(one);
  list.show();
  if (conversations[0] !== undefined) open(conversations[0]);
}

/** Lists the models again. `wanted` is chosen if it is there. */
async function showModels(wanted: string | null = null): Promise<void> {
  try {
    models = (await listModels()).filter(chats);
    knowsModels = true;
    await readLoaded();
  } catch (error) {
    tell(error, () => void showModels(wanted));
    return;
  }
  modelSelect.replaceChildren(...models.map(({ name }) => new Option(name)));
  if (models.length === 0) modelSelect.append(new Option(word("noModel"), ""));
  modelSelect.disabled = models.length === 0;
  say("");
  const names = models.map(({ name }) => name);
  const chosen =
    names.find((name) => name === wanted || name === `${wanted}:latest`) ??
    names.find((name) => name === current.model) ??
    names.find((name) => name === choiceOf("model")) ??
    names[0];
  if (chosen !== undefined) chooseModel(chosen);
  else {
    current.model = "";
    composer.setReady(false);
    find("think-label").hidden = true;
    showConversation();
  }
}

/** A model of this list is asked questions; others make vectors or rank. */
function chats({ capabilities: found }: ModelEntry): boolean {
  return found === undefined || found.includes("completion");
}

async function readLoaded(): Promise<void> {
  loaded = await loadedModels().catch(() => []);
  drawWindow();
}

function chooseModel(name: string): void {
  modelSelect.value = name;
  current.model = name;
  choose("model", name);
  composer.setReady(true);
  composer.setTakes({ pictures: can("vision"), sounds: can("audio") });
  find("think-label").hidden = !can("thinking");
  drawWindow();
  if (shownMessages().length === 0) {
    showConversation();
    return;
  }
  for (const [index, view] of views.entries()) finish(view, index);
}

function can(ability: string): boolean {
  return currentModel()?.capabilities?.includes(ability) ?? false;
}

function currentModel(): ModelEntry | undefined {
  return models.find(({ name }) => name === current.model);
}

async function removeConversation(one: Conversation): Promise<void> {
  if (!confirm(word("removeQuestion"))) return;
  if (one.id === current.id) stop();
  await kept.remove(one.id);
  if (one.id === current.id) return startNew();
  list.show();
  find("new").focus();
}

/** The messages that are shown: those before the answer that is arriving, or all. */
function shownMessages(): readonly Message[] {
  return running?.conversation === current ? current.messages.slice(0, running.at) : current.messages;
}

function showConversation(): void {
  const messages = shownMessages();
  views = messages.map((message) => new MessageView(message, current.model));
  const arriving = running?.conversation === current ? [running.view.root] : [];
  drawWindow();
  if (views.length + arriving.length === 0) {
    showWelcome();
    return;
  }
  log.replaceChildren(...views.map(({ root }) => root), ...arriving);
  for (const [index, view] of views.entries()) finish(view, index);
  follows = true;
  followEnd();
}

function showWelcome(): void {
  const model = currentModel();
  if (model !== undefined) {
    const use = loadedAs(loaded, model);
    log.replaceChildren(welcome(model, use, (text) => void ask({ text, images: [], files: [] })));
  } else if (knowsModels && models.length === 0)
    void firstModel(pulling).then(
      (box) => models.length === 0 && log.replaceChildren(box),
      (error) => tell(error),
    );
  else log.replaceChildren();
}

function drawWindow(): void {
  const last = current.messages.findLast(({ figures }) => figures !== undefined)?.figures;
  const model = currentModel();
  const own = model === undefined ? null : loadedAs(loaded, model)?.context_length;
  const use = {
    used: (last?.promptTokens ?? 0) + (last?.tokens ?? 0),
    added: fileTokens,
    window: current.options["num_ctx"] ?? own ?? null,
  };
  showWindow(find("window"), use, (tokens) => {
    current.options["num_ctx"] = tokens;
    void keep(current);
    drawWindow();
  });
}

function followEnd(): void {
  if (follows) log.scrollTop = log.scrollHeight;
}

function finish(view: MessageView, index: number): void {
  const conversation = current;
  const message = conversation.messages[index];
  if (message === undefined) return;
  const actions: MessageActions = {};
  if (running?.conversation !== conversation) {
    const { role, ended, tool_calls: calls = [], content } = message;
    const isLast = index === conversation.messages.length - 1;
    const versions = versionsAt(conversation.messages, index);
    actions.versions = { ...versions, show: (shown) => void changeVersion(conversation, index, shown) };
    if (role === "user") actions.edit = (text) => void editQuestion(conversation, index, text);
    if (role === "assistant" || isLast) {
      const at = role === "assistant" ? index : index + 1;
      actions.askAgain = () => void answer(conversation, at);
      actions.askOther = {
        models: models.map(({ name }) => name).filter((name) => name !== conversation.model),
        ask(name) {
          chooseModel(name);
          void answer(conversation, at);
        },
      };
    }
    if (isLast && role === "assistant" && ended !== undefined && content !== "" && calls.length === 0)
      actions.goOn = () => void answer(conversation, index, message);
    if (isLast && calls.length > 0)
      actions.sendResults = (results) => void sendResults(conversation, results);
  }
  view.finish(actions);
}

function editLast(): void {
  const last = shownMessages().findLastIndex(({ role }) => role === "user");
  views[last]?.edit();
}

async function changeVersion(conversation: Conversation, at: number, shown: number): Promise<void> {
  if (running !== null) return;
  conversation.messages = showVersion(conversation.messages, at, shown);
  showConversation();
  await keep(conversation);
}

async function ask({ text, images, files }: Question): Promise<void> {
  const conversation = current;
  if (conversation.model === "") {
    composer.restore({ text, images, files });
    say(word("noModels"));
    return;
  }
  const isNew = !kept.has(conversation.id);
  const before = conversation.messages;
  const question: Message = {
    role: "user",
    content: text,
    ...(images.length > 0 && { images }),
    ...(files.length > 0 && { files }),
  };
  conversation.messages = [...before, question];
  // The question survives a reload before the first word of the answer.
  void keep(conversation);
  // Without an answer the question is in the box again, and trying again sends it from there.
  const again = () => find("composer", HTMLFormElement).requestSubmit();
  if ((await answer(conversation, before.length + 1, null, again)) || conversation !== current) return;
  conversation.messages = before;
  composer.restore({ text, images, files });
  if (isNew) await kept.remove(conversation.id);
  else await keep(conversation);
  list.show();
  showConversation();
}

/** Asks a changed question. The old one and what followed stay as another version. */
async function editQuestion(conversation: Conversation, at: number, text: string): Promise<void> {
  if (running !== null) return;
  const before = conversation.messages;
  conversation.messages = addVersion(before, at, { ...before[at]!, content: text });
  const again = () => void editQuestion(conversation, at, text);
  if (await answer(conversation, at + 1, null, again)) return;
  conversation.messages = before;
  if (conversation === current) showConversation();
}

async function sendResults(conversation: Conversation, results: readonly ToolResult[]): Promise<void> {
  if (running !== null) return;
  const given = results.map(
    ({ toolName, content }): Message => ({
      role: "tool",
      content,
      tool_name: toolName,
    }),
  );
  conversation.messages = [...conversation.messages, ...given];
  void keep(conversation);
  await answer(conversation, conversation.messages.length);
}

/** How often an answer is stored while it arrives. */
const storeEveryMs = 1000;

/**
 * Streams an answer into the place `at` of the conversation. What stood there stays as another version, unless it is
 * `begun`, an answer that is continued. Returns whether anything arrived. `again` is what trying again does if the
 * server does not answer.
 */
async function answer(
  conversation: Conversation,
  at: number,
  begun: Message | null = null,
  again: () => void = () => void answer(conversation, at, begun),
): Promise<boolean> {
  if (running !== null) return false;
  const { figures: _, ended: __, note: ___, fork: ____, ...start } = begun ?? ({ content: "" } as Message);
  const message: Message = { ...start, role: "assistant", model: conversation.model };
  const view = new MessageView(message, conversation.model, followEnd);
  const controller = new AbortController();
  const own: Running = { conversation, at, view, controller };
  const earlier = conversation.messages.slice(0, at);
  const sent = begun === null ? earlier : [...earlier, message];
  const placed = (shown: Message) =>
    begun === null
      ? addVersion(conversation.messages, at, shown)
      : replaceMessage(conversation.messages, at, shown);
  const lengthBefore = message.content.length;
  running = own;
  composer.setRunning(true);
  say(loaded.some(({ name }) => name === conversation.model) ? "" : word("loading"));
  if (conversation === current) showConversation();
  // The pressed button is gone, and the keyboard must not start again at the top of the page.
  if (document.activeElement === document.body) log.focus();
  let problem: unknown = null;
  try {
    const { model, options, tools } = conversation;
    const think = can("thinking") ? thinkBox.checked : null;
    const messages = sentMessages({ ...conversation, messages: sent });
    const startedMs = performance.now();
    let firstMs = 0;
    let storedMs = startedMs;
    for await (const line of chat({ model, options, tools, think, messages }, controller.signal)) {
      if (running === own) say("");
      if (firstMs === 0) firstMs = performance.now() - startedMs;
      addPiece(message, line, conversation, firstMs);
      view.update();
      if (performance.now() - storedMs < storeEveryMs || !kept.has(conversation.id)) continue;
      storedMs = performance.now();
      void kept.keep(conversation, placed({ ...message, ended: "stopped" }));
    }
  } catch (error) {
    problem = error;
    message.ended = controller.signal.aborted ? "stopped" : "failed";
    if (!controller.signal.aborted) message.note = problemOf(error);
  }
  if (running === own) {
    running = null;
    composer.setRunning(false);
    say("");
  }
  const arrived = hasContent(message) && (begun === null || message.content.length > lengthBefore);
  if (arrived) {
    conversation.messages = placed({ ...message });
    await readLoaded();
    // A conversation that was deleted meanwhile stays deleted.
    if (kept.has(conversation.id)) await keep(conversation);
  } else view.root.remove();
  // Earlier messages get their buttons back.
  if (conversation === current) showAfter(own, arrived);
  if (problem !== null && !controller.signal.aborted) {
    // Perhaps the model was removed.
    if (problem instanceof ServerError && problem.status === 404) await showModels();
    tell(problem, again);
  }
  return arrived;
}

/** Shows the conversation after an answer, without moving what is read. */
function showAfter({ at, view }: Running, arrived: boolean): void {
  if (!arrived) {
    showConversation();
    return;
  }
  for (const [index, earlier] of views.entries()) finish(earlier, index);
  views = [...views.slice(0, at), view];
  finish(view, at);
  followEnd();
}

function hasContent({ content, thinking, tool_calls: calls }: Message): boolean {
  return content !== "" || Boolean(thinking) || calls !== undefined;
}

function addPiece(message: Message, line: ChatLine, { options }: Conversation, firstMs: number): void {
  const { content, thinking, tool_calls: calls } = line.message ?? { content: "" };
  message.content += content;
  if (thinking) message.thinking = (message.thinking ?? "") + thinking;
  if (calls) message.tool_calls = [...(message.tool_calls ?? []), ...calls];
  if (!line.done) return;
  message.figures = figuresOf(line, firstMs);
  if (line.done_reason === "length") message.ended = (options["num_predict"] ?? -1) > 0 ? "limit" : "full";
}

function figuresOf(line: ChatLine, firstMs: number): Figures {
  return {
    tokens: line.eval_count ?? 0,
    seconds: (line.eval_duration ?? 0) / 1e9,
    firstMs: Math.round(firstMs),
    promptTokens: line.prompt_eval_count ?? 0,
    reusedTokens: line.prompt_cached_count ?? 0,
    ...(line.draft_n ? { guessedTokens: line.draft_n, acceptedTokens: line.draft_n_accepted ?? 0 } : {}),
    droppedMessages: line.truncated?.messages ?? 0,
    droppedTokens: line.truncated?.tokens ?? 0,
  };
}

async function keep(conversation: Conversation): Promise<void> {
  const isStored = await kept.keep(conversation);
  // An error is more important.
  if (!isStored && notice.textContent === "") say(word("notSaved"));
  list.show();
}

function say(text: string): void {
  notice.className = "";
  notice.textContent = text;
}

/** Shows the error. A server that does not answer may do so when it is asked `again`. */
function tell(error: unknown, again: () => void = () => void showModels()): void {
  say(problemOf(error));
  notice.className = "problem";
  if (error instanceof ServerError && error.status === 0) notice.append(" ", button("tryAgain", again, ""));
  if (error instanceof ServerError && error.status === 401) askForKey(error);
}

function askForKey(error?: ServerError): void {
  find("key-problem").textContent = error !== undefined && hasKey() ? error.message : "";
  find("key", HTMLDialogElement).showModal();
}
