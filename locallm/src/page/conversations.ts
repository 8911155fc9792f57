import { type Conversation, type Message, newId } from "./conversation.ts";

const tableName = "conversations";

/**
 * The conversations, which are stored in this browser's IndexedDB. If it is not available (in a private
 * window), they are lost when the page closes. Pages in other tabs tell each other what they stored.
 */
export class Conversations {
  readonly #database: IDBDatabase | null;
  readonly #memory = new Map<string, Conversation>();
  /** `changedMs` of each conversation in the database, as far as this page knows. */
  readonly #seen = new Map<string, number>();
  readonly #otherTabs = new BroadcastChannel("locallm");
  /** One conversation is stored after the other, because the first may get a new ID. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(database: IDBDatabase | null) {
    this.#database = database;
  }

  static async open(): Promise<Conversations> {
    try {
      const opening = indexedDB.open("locallm", 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore(tableName, { keyPath: "id" });
      const conversations = new Conversations(await settled(opening));
      await conversations.#read(() => false);
      return conversations;
    } catch {
      return new Conversations(null);
    }
  }

  /**
   * Calls `onChange` with the IDs of the conversations that another tab stored or removed. One that is busy here stays
   * as it is.
   */
  follow(isBusy: (id: string) => boolean, onChange: (changed: ReadonlySet<string>) => void): void {
    this.#otherTabs.onmessage = () => void this.#read(isBusy).then(onChange, () => {});
  }

  /** Newest first. */
  list(): Conversation[] {
    return [...this.#memory.values()].sort((a, b) => b.changedMs - a.changedMs);
  }

  has(id: string): boolean {
    return this.#memory.has(id);
  }

  /**
   * Returns whether the conversation was stored on disk. If another tab stored something else under its ID, it gets
   * a new one, so that neither is lost. `unfinished` are the messages with one that is still arriving.
   */
  async keep(conversation: Conversation, unfinished: Message[] | null = null): Promise<boolean> {
    if (unfinished === null) conversation.changedMs = Date.now();
    return this.#keep(conversation, unfinished);
  }

  /** Keeps a conversation from a file with the time that it has, so that the list has the file's order. */
  add(conversation: Conversation): Promise<boolean> {
    return this.#keep(conversation, null);
  }

  async #keep(conversation: Conversation, unfinished: Message[] | null): Promise<boolean> {
    this.#memory.set(conversation.id, conversation);
    if (this.#database === null) return false;
    const copy = { ...conversation, messages: unfinished ?? conversation.messages };
    const isStored = this.#last.then(() => this.#store(conversation, copy));
    this.#last = isStored;
    if (unfinished === null) void isStored.then(() => this.#otherTabs.postMessage("changed"));
    return isStored;
  }

  async #store(conversation: Conversation, copy: Conversation): Promise<boolean> {
    const before = this.#seen.get(conversation.id);
    // Removed meanwhile.
    if (!this.has(conversation.id)) return true;
    try {
      const transaction = this.#database!.transaction(tableName, "readwrite");
      const table = transaction.objectStore(tableName);
      const stored = await settled<Conversation | undefined>(table.get(conversation.id));
      if (stored !== undefined && stored.changedMs !== before) {
        this.#memory.delete(stored.id);
        this.#put(stored);
        conversation.id = newId();
        this.#memory.set(conversation.id, conversation);
      }
      this.#seen.set(conversation.id, copy.changedMs);
      table.put({ ...copy, id: conversation.id });
      // A full storage is noticed at the end of the transaction only.
      await completed(transaction);
      return true;
    } catch {
      if (before === undefined) this.#seen.delete(conversation.id);
      else this.#seen.set(conversation.id, before);
      return false;
    }
  }

  async remove(id: string): Promise<void> {
    this.#forget(id);
    if (this.#database === null) return;
    try {
      const transaction = this.#database.transaction(tableName, "readwrite");
      transaction.objectStore(tableName).delete(id);
      await completed(transaction);
      this.#otherTabs.postMessage("changed");
    } catch {}
  }

  async #read(isBusy: (id: string) => boolean): Promise<ReadonlySet<string>> {
    const table = this.#database!.transaction(tableName, "readonly").objectStore(tableName);
    const stored = await settled<Conversation[]>(table.getAll());
    const removed = [...this.#seen.keys()].filter(
      (id) => !isBusy(id) && !stored.some((one) => one.id === id),
    );
    const changed = stored.filter((one) => !isBusy(one.id) && this.#seen.get(one.id) !== one.changedMs);
    for (const id of removed) this.#forget(id);
    for (const one of changed) this.#put(one);
    return new Set([...removed, ...changed.map(({ id }) => id)]);
  }

  #forget(id: string): void {
    this.#memory.delete(id);
    this.#seen.delete(id);
  }

  /** Changes the object that the page may show already, instead of replacing it. */
  #put(stored: Conversation): void {
    const known = this.#memory.get(stored.id);
    this.#memory.set(stored.id, known === undefined ? stored : Object.assign(known, stored));
    this.#seen.set(stored.id, stored.changedMs);
  }
}

function settled<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function completed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}
