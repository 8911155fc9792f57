import type { Command } from "commander";
import { commandsOf } from "./manual.ts";

/** What may follow the words so far: `""` is the command itself, `keys create` a command below one. */
interface Place {
  readonly words: string;
  readonly candidates: readonly { readonly value: string; readonly meaning: string }[];
}

/**
 * Completion scripts of a program, from the descriptions that `--help` prints. They complete verbs and options, and
 * call nothing, so Tab is quick. Where they know nothing the shell offers files.
 */
export function completions(
  program: Command,
): Readonly<Record<"bash" | "zsh" | "fish" | "powershell", string>> {
  const name = program.name();
  const places = placesOf(program, "");
  return {
    bash: bash(name, places),
    zsh: zsh(name, places),
    fish: fish(name, places),
    powershell: powershell(name, places),
  };
}

function placesOf(command: Command, words: string): Place[] {
  const help = command.createHelp();
  const below = commandsOf(command);
  const candidates = [
    ...below.map((each) => ({ value: each.name(), meaning: each.description() })),
    ...help.visibleOptions(command).map((option) => ({
      value: option.long ?? option.short ?? "",
      meaning: option.description,
    })),
  ];
  return [
    { words, candidates },
    ...below.flatMap((each) => placesOf(each, words === "" ? each.name() : `${words} ${each.name()}`)),
  ];
}

/** Finds the longest known place in the words before the cursor; the same in each shell. */
function bash(name: string, places: readonly Place[]): string {
  const cases = places.map(
    ({ words, candidates }) =>
      `    ${quoted(words)}) found=${quoted(candidates.map(({ value }) => value).join(" "))} ;;`,
  );
  return `# bash completion of ${name}
_${name}_after() {
  local found=
  case $1 in
${cases.join("\n")}
    *) return 1 ;;
  esac
  printf '%s\\n' "$found"
}
_${name}() {
  local place= word next current=\${COMP_WORDS[COMP_CWORD]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next=\${place:+$place }$word
    _${name}_after "$next" >/dev/null && place=$next
  done
  mapfile -t COMPREPLY < <(compgen -W "$(_${name}_after "$place")" -- "$current")
}
complete -o default -F _${name} ${name}
`;
}

function zsh(name: string, places: readonly Place[]): string {
  const cases = places.map(({ words, candidates }) => {
    const items = candidates.map(({ value, meaning }) =>
      quoted(`${value.replaceAll(":", "\\:")}:${meaning}`),
    );
    return `    ${quoted(words)}) found=(${items.join(" ")}) ;;`;
  });
  return `#compdef ${name}
_${name}_after() {
  case $1 in
${cases.join("\n")}
    *) return 1 ;;
  esac
}
_${name}() {
  local place= word next
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next=\${place:+$place }$word
    _${name}_after "$next" && place=$next
  done
  _${name}_after "$place"
  _describe ${name} found || _files
}
if [[ \${funcstack[1]} == _${name} ]]; then
  _${name} "$@"
else
  compdef _${name} ${name}
fi
`;
}

function fish(name: string, places: readonly Place[]): string {
  const lines = places.flatMap(({ words, candidates }) =>
    candidates.map(
      ({ value, meaning }) =>
        `complete -c ${name} -n ${fishQuoted(`test (__${name}_place) = ${words === "" ? "''" : `'${words}'`}`)} -a ${fishQuoted(value)} -d ${fishQuoted(meaning)}`,
    ),
  );
  const known = places.map(({ words }) => fishQuoted(words)).join(" ");
  return `# fish completion of ${name}
function __${name}_place
    set -l place ''
    for word in (commandline -opc)[2..]
        set -l next (string trim -- "$place $word")
        contains -- "$next" ${known}; and set place $next
    end
    printf '%s\\n' "$place"
end
${lines.join("\n")}
`;
}

function powershell(name: string, places: readonly Place[]): string {
  const rows = places.map(({ words, candidates }) => {
    const items = candidates.map(
      ({ value, meaning }) => `@(${psQuoted(value)}, ${psQuoted(meaning === "" ? value : meaning)})`,
    );
    return `        ${psQuoted(words)} = @(${items.map((item) => `,${item}`).join("; ")})`;
  });
  return `# PowerShell completion of ${name}
Register-ArgumentCompleter -Native -CommandName ${name} -ScriptBlock {
    param($word, $ast, $position)
    $places = @{
${rows.join("\n")}
    }
    $place = ''
    foreach ($element in $ast.CommandElements | Select-Object -Skip 1) {
        if ($element.Extent.EndOffset -ge $position) { break }
        $next = "$place $element".Trim()
        if ($places.ContainsKey($next)) { $place = $next }
    }
    $places[$place] | Where-Object { $_[0] -like "$word*" } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_[0], $_[0], 'ParameterValue', $_[1])
    }
}
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function psQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
