/** A file or a link in an archive. Folders follow from the paths of the files. */
export type Entry =
  | { readonly bytes: Buffer; readonly isProgram: boolean }
  /** Relative to the folder of the link. */
  | { readonly link: string };

/** What is unpacked, by its path below the archive's one folder. Paths have forward slashes. */
export type Tree = Map<string, Entry>;

export function text(content: string, isProgram = false): Entry {
  return { bytes: Buffer.from(content), isProgram };
}

/** In the same order on every system, whatever its language. */
export function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

/** All folders above these paths, the upper ones first. */
export function foldersOf(paths: Iterable<string>): string[] {
  const found = new Set<string>();
  for (const path of paths)
    for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) found.add(path.slice(0, at));
  return [...found].sort();
}
