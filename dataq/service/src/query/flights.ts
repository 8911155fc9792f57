/**
 * Simultaneous calls with the same question: the first asks the source, the others wait and then look in the cache.
 * If the first fails, the cache is empty, and one of the others asks next.
 */
export class Flights {
  readonly #landings = new Map<string, Promise<void>>();

  join(
    key: string,
  ):
    | { readonly isLeader: true; readonly land: () => void }
    | { readonly isLeader: false; readonly landed: (signal: AbortSignal) => Promise<void> } {
    const running = this.#landings.get(key);
    if (running) return { isLeader: false, landed: (signal) => untilEither(running, signal) };
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#landings.set(key, promise);
    return {
      isLeader: true,
      land: () => {
        this.#landings.delete(key);
        resolve();
      },
    };
  }
}

function untilEither(landing: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave, { once: true });
    void landing.then(() => {
      signal.removeEventListener("abort", leave);
      resolve();
    });
  });
}
