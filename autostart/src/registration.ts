/** A program and its arguments. */
export type Command = readonly [program: string, ...parameters: string[]];

/** The files and commands that register a program with the system's service manager. */
export interface Registration {
  readonly manager: "systemd" | "launchd" | "the Task Scheduler";
  /** The file that describes the service to its manager. */
  readonly unit: RegistrationFile;
  /** Further files that are removed with the service. */
  readonly beside: readonly RegistrationFile[];
  /**
   * Created once. A later installation keeps the user's changes, and removing the service leaves the file.
   */
  readonly settings: RegistrationFile;
  readonly folders: readonly string[];
  readonly install: readonly Command[];
  /** Ends with status 0 if the service runs. */
  readonly status: Command;
  /** Before the unit is removed. */
  readonly remove: readonly Command[];
  /** After the unit is removed. */
  readonly forget: readonly Command[];
  /** The command that shows the log. */
  readonly logs: string;
  /** What a user should know after the installation. */
  readonly advice: readonly string[];
}

export interface RegistrationFile {
  readonly path: string;
  readonly text: string;
  readonly encoding: "utf8" | "utf16le";
  readonly mode: number;
}

/** The machine and user for which a program is registered; tests describe others. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly userName: string;
  /** -1 where the system has none. */
  readonly uid: number;
  /** Groups that may use a GPU and exist here: `render` and `video`. */
  readonly gpuGroups: readonly string[];
}

export type Scope = "user" | "system";
