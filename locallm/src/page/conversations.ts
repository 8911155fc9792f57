import type { Conversation } from "./conversation.ts";

/**
 * The conversations, which are stored in this browser's IndexedDB. If it is not available (in a private
 * window), they are lost when the page closes.
 */
export class Conversations {
  readonly #database: IDBDatabase | null;
  readonly #memory = new Map<string, Conversation>();

  private constructor(database: IDBDatabase | null) {
    this.#database = database;
  }

  static async open(): Promise<Conversations> {
    try {
      const opening = indexedDB.open("locallm", 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore("conversations", { keyPath: "id" });
      const database = await settled(opening);
      const conversations = new Conversations(database);
      for (const one of await settled<Conversation[]>(conversations.#table("readonly").getAll()))
        conversations.#memory.set(one.id, one);
      return conversations;
    } catch {
      return new Conversations(null);
    }
  }

  /** Newest first. */
  list(): Conversation[] {
    return [...this.#memory.values()].sort((a, b) => b.changedMs - a.changedMs);
  }

  /** Returns whether the conversation was stored on disk. */
  async keep(conversation: Conversation): Promise<boolean> {
    this.#memory.set(conversation.id, conversation);
    if (this.#database === null) return false;
    try {
      await settled(this.#table("readwrite").put(conversation));
      return true;
    } catch {
      return false;
    }
  }

  async remove(id: string): Promise<void> {
    this.#memory.delete(id);
    if (this.#database !== null) await settled(this.#table("readwrite").delete(id));
  }

  #table(mode: IDBTransactionMode): IDBObjectStore {
    return this.#database!.transaction("conversations", mode).objectStore("conversations");
  }
}

function settled<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
