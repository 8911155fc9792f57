/** Removes paths, because clients see the error and must not learn paths of this machine. */
export function withoutPaths(line: string): string {
  return line.replace(/(?:[A-Za-z]:)?[/\\][^\s'"]*[/\\]([^\s'"/\\]+)/g, "$1");
}
