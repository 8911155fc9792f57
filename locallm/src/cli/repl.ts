import { appendFile, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { makeFolder } from "../library/durable.ts";
import { abilitiesAnswer, progressLine, showAnswer } from "../wire/api/answers.ts";
import { LocallmError } from "../wire/errors.ts";
import { isOptionName, optionRules, parseOptionText } from "../wire/options.ts";
import { type Client, ServerError } from "./client.ts";
import { listModels } from "./commands/list.ts";
import { overview } from "./commands/show.ts";
import { type Conversation, readFormat, readSwitch } from "./conversation.ts";
import { lineEndSign, markNoPastes, markPastes, PastedLines } from "./pasted-lines.ts";
import { type Senses, sensesOf } from "./picture-paths.ts";
import { plain } from "./text.ts";

const setHelp = `/set parameter NAME VALUE   set an option, such as temperature 0.5
/set system TEXT            set the system message
/set format json            answer in JSON, or by a JSON schema in place of "json"; /set noformat ends it
/set think, /set nothink    turn thinking on or off
/set verbose, /set quiet    show statistics after each answer, or not
/set wordwrap, /set nowordwrap  break lines between words, or not
/set history, /set nohistory  remember what is typed, or not`;

const help = `${setHelp}
/show info|license|modelfile|parameters|system|template
/list                       list the models on this machine
/load MODEL                 talk to another model
/save MODEL                 save the model with these settings and this conversation
/clear                      forget the conversation
/bye                        quit (also Ctrl-D)
"""                         begin or end a message of several lines; pasted lines are one message`;

/** Questions and answers on a terminal until the user quits. Ctrl-C stops an answer, not the program. */
export async function converse(conversation: Conversation, client: Client): Promise<void> {
  const repl = new Repl(conversation, client);
  await repl.run();
}

const historyPath = join(homedir(), ".locallm", "history");
const historyLines = 500;

class Repl {
  #conversation: Conversation;
  #client: Client;
  #keepsHistory = true;
  #answering: AbortController | null = null;

  constructor(conversation: Conversation, client: Client) {
    this.#conversation = conversation;
    this.#client = client;
  }

  async run(): Promise<void> {
    const history = (await readHistory()).reverse();
    const input = new PastedLines(process.stdin);
    process.stdout.write(markPastes);
    const terminal = createInterface({
      input,
      output: process.stdout,
      terminal: true,
      history,
      historySize: historyLines,
      prompt: ">>> ",
    });
    terminal.on("SIGINT", () => {
      if (this.#answering !== null) {
        this.#answering.abort();
        return;
      }
      terminal.write(null, { ctrl: true, name: "e" });
      terminal.write(null, { ctrl: true, name: "u" });
      process.stdout.write("\nPress Ctrl-D or type /bye to quit.\n");
      terminal.prompt();
    });
    // Also keep these lines out of the history of the arrow keys.
    terminal.on("history", (lines: string[]) => {
      if (!this.#keepsHistory) lines.shift();
    });
    const lines = new TypedLines(terminal);
    try {
      for (let text = await this.#read(lines); text !== null; text = await this.#read(lines)) {
        if (text.trim() === "") continue;
        if (text.trim() === "/bye" || text.trim() === "/exit") break;
        await this.#obey(text);
      }
    } finally {
      terminal.close();
      input.close();
      process.stdout.write(markNoPastes);
    }
  }

  /** One question or command; null at the end of input. */
  async #read(lines: TypedLines): Promise<string | null> {
    const first = await lines.next(">>> ");
    if (first === null) return null;
    let text = first;
    const opened = /^(\/set\s+system\s+)?"""/.exec(first);
    if (opened !== null) {
      text = first.slice(opened[0].length);
      while (!text.endsWith('"""')) {
        const line = await lines.next("... ");
        if (line === null) return null;
        text += `\n${line}`;
      }
      text = (opened[1] ?? "") + text.slice(0, -3);
    } else if (this.#keepsHistory) await remember(first);
    return text.replaceAll(lineEndSign, "\n");
  }

  async #obey(text: string): Promise<void> {
    try {
      if (text.startsWith("/")) await this.#command(text.trim());
      else await this.#ask(text);
    } catch (error) {
      if (!(error instanceof ServerError || error instanceof LocallmError)) throw error;
      console.log(plain(`Error: ${error.message}`));
    }
  }

  async #ask(text: string): Promise<void> {
    this.#answering = new AbortController();
    try {
      await this.#conversation.ask(text, this.#answering.signal);
      process.stdout.write("\n");
    } finally {
      this.#answering = null;
    }
  }

  async #command(text: string): Promise<void> {
    const [command = "", first = "", ...rest] = text.split(/\s+/);
    const { settings } = this.#conversation;
    switch (command) {
      case "/?":
      case "/help":
        console.log(help);
        break;
      case "/list":
        console.log(await listModels(this.#client));
        break;
      case "/clear":
        this.#conversation.turns = [];
        console.log("Cleared the conversation.");
        break;
      case "/set":
        this.#set(first, rest, text);
        break;
      case "/show":
        await this.#show(first);
        break;
      case "/load":
        if (first === "") {
          console.log("Usage: /load MODEL");
          break;
        }
        settings.senses = await this.#senses(first);
        settings.model = first;
        this.#conversation.turns = [];
        console.log(plain(`Switched to ${first}.`));
        break;
      case "/save":
        if (first === "") {
          console.log("Usage: /save MODEL");
          break;
        }
        await this.#save(first);
        break;
      default:
        console.log(plain(`Unknown command ${command}. Type /? for help.`));
    }
  }

  #set(what: string, rest: string[], text: string): void {
    const { settings } = this.#conversation;
    const value = text.split(/\s+/).slice(2).join(" ");
    switch (what) {
      case "parameter":
        this.#setParameter(rest);
        return;
      case "system":
        settings.system = /^\/set\s+system\s+(.*)$/s.exec(text)?.[1]?.replace(/^"(.*)"$/s, "$1") ?? null;
        break;
      case "format":
        settings.format = value === "" ? "json" : readFormat(value);
        break;
      case "noformat":
        settings.format = null;
        break;
      case "think":
        settings.think = value === "" ? true : readSwitch(value);
        break;
      case "nothink":
        settings.think = false;
        break;
      case "verbose":
      case "quiet":
        settings.verbose = what === "verbose";
        break;
      case "history":
      case "nohistory":
        this.#keepsHistory = what === "history";
        break;
      case "wordwrap":
      case "nowordwrap":
        settings.wordWrap = what === "wordwrap";
        break;
      case "":
        console.log(setHelp);
        return;
      default:
        console.log(plain(`Unknown setting ${what}. Type /set for help.`));
        return;
    }
    console.log("Set.");
  }

  /** Fails if there is no such model. */
  async #senses(model: string): Promise<Senses> {
    const { capabilities } = await this.#client.json("/api/show", abilitiesAnswer, { body: { model } });
    return sensesOf(capabilities);
  }

  #setParameter([name = "", ...values]: string[]): void {
    if (!isOptionName(name)) {
      const known = Object.keys(optionRules).join(", ");
      console.log(
        name === "" ? `Parameters: ${known}` : plain(`Unknown parameter ${name}. Parameters: ${known}`),
      );
      return;
    }
    const isList = optionRules[name].type === "strings";
    this.#conversation.settings.options[name] = isList ? values : parseOptionText(name, values.join(" "));
    console.log("Set.");
  }

  async #show(what: string): Promise<void> {
    const { model, system, options } = this.#conversation.settings;
    const shown = await this.#client.json("/api/show", showAnswer, { body: { model } });
    const own = Object.entries(options).map(([name, value]) => `${name.padEnd(30)} ${JSON.stringify(value)}`);
    const texts: Record<string, string | undefined> = {
      info: overview(shown, false),
      license: shown.license,
      modelfile: shown.modelfile,
      parameters: [
        ...(shown.parameters === undefined ? [] : ["Model:", shown.parameters]),
        ...(own.length === 0 ? [] : ["Set in this conversation:", ...own]),
      ].join("\n"),
      system: system ?? shown.system,
      template: shown.template,
    };
    if (what !== "" && !(what in texts)) {
      console.log(plain(`Cannot show ${what}. Type /? for help.`));
      return;
    }
    const text = texts[what === "" ? "info" : what];
    console.log(plain(text === undefined || text === "" ? `${model} has no ${what}.` : text));
  }

  async #save(model: string): Promise<void> {
    const { model: from, system, options } = this.#conversation.settings;
    const messages = this.#conversation.turns;
    const body = {
      model,
      from,
      stream: false,
      parameters: options,
      ...(system === null ? {} : { system }),
      ...(messages.length === 0 ? {} : { messages }),
    };
    await this.#client.json("/api/create", progressLine, { body });
    console.log(plain(`Saved as ${model}.`));
  }
}

/** The lines that the user types, including those typed while an answer is printed. */
class TypedLines {
  #terminal: Interface;
  #lines: string[] = [];
  #isClosed = false;
  #wake: (() => void) | null = null;

  constructor(terminal: Interface) {
    this.#terminal = terminal;
    terminal.on("line", (line) => {
      this.#lines.push(line);
      this.#wake?.();
    });
    terminal.on("close", () => {
      this.#isClosed = true;
      this.#wake?.();
    });
  }

  /** Null when the input has ended. */
  async next(prompt: string): Promise<string | null> {
    if (this.#lines.length === 0 && !this.#isClosed) {
      this.#terminal.setPrompt(prompt);
      this.#terminal.prompt();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#lines.shift() ?? null;
  }
}

/** Returns the newest lines, oldest first, and truncates the file to them. */
async function readHistory(): Promise<string[]> {
  const saved = await readFile(historyPath, "utf8").catch(() => "");
  const lines = saved.split("\n").filter((line) => line !== "");
  const kept = lines.slice(-historyLines);
  if (kept.length < lines.length) {
    await writeFile(historyPath, `${kept.join("\n")}\n`, { mode: 0o600 }).catch(() => {});
  }
  return kept;
}

async function remember(line: string): Promise<void> {
  if (line.trim() === "") return;
  await makeFolder(dirname(historyPath)).catch(() => {});
  await appendFile(historyPath, `${line}\n`, { mode: 0o600 }).catch(() => {});
}
