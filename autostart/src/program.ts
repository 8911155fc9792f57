/** A server that the operating system starts, restarts and stops. */
export interface Program {
  /** The name of the service, its user and its folders. */
  readonly name: string;
  readonly description: string;
  /** Absolute path of Node. */
  readonly node: string;
  /** Node's options, the absolute path of the script, and its arguments. */
  readonly parameters: readonly string[];
  /** Settings that a system service needs, because it has no user's folders. */
  readonly systemSettings: Readonly<Record<string, string>>;
  /** Whether it may use a GPU, for which it needs device files. */
  readonly usesGpu: boolean;
  /** The text of a new settings file. */
  readonly settings: string;
}

/** A settings file in which every setting is a comment until the user removes the `#`. */
export function programSettings(
  settings: readonly { readonly variable: string; readonly value: string; readonly meaning: string }[],
): string {
  const head = "# Settings of the service. Remove the # before a setting, then restart the service.\n";
  return settings.reduce(
    (text, { variable, value, meaning }) => `${text}\n# ${meaning}\n#${variable}=${value}\n`,
    head,
  );
}
