/** A library that is loaded when it is first used. */
export class Library<Module> {
  readonly #load: () => Promise<Module>;
  #loaded: Module | null = null;
  #loading: Promise<Module> | null = null;

  constructor(load: () => Promise<Module>) {
    this.#load = load;
  }

  /** Calls `act` with the library: at once if it is there, otherwise later, or never if it cannot be loaded. */
  use(act: (module: Module) => void): void {
    if (this.#loaded !== null) {
      act(this.#loaded);
      return;
    }
    this.#loading ??= this.#load().then((loaded) => {
      this.#loaded = loaded;
      return loaded;
    });
    void this.#loading.then(act, () => {});
  }
}
