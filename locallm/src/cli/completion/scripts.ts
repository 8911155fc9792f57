/**
 * The completion script of each shell. Each script passes the line up to the cursor to `locallm __complete`,
 * which prints either `:files` or one candidate per line, followed by a tab and a description.
 */
export const scripts = {
  // Does not need the bash-completion package. Bash splits words at the colon of model:tag and at =, so only the
  // text after the last of them is replaced.
  bash: `# source <(locallm completion bash)
_locallm() {
  local line=\${COMP_LINE:0:COMP_POINT} value meaning
  local current=\${line##*[[:space:]]} kept=
  case $current in
    *:*) [[ $COMP_WORDBREAKS == *:* ]] && kept=\${current%"\${current##*:}"} ;;
  esac
  COMPREPLY=()
  while IFS=$'\\t' read -r value meaning; do
    if [[ $value == :files ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("\${value#"$kept"}")
    fi
  done < <(locallm __complete "$line" 2>/dev/null)
}
complete -F _locallm locallm
`,
  zsh: `#compdef locallm
# source <(locallm completion zsh), or this file as _locallm in a folder of fpath
_locallm() {
  local -a found
  local value meaning
  while IFS=$'\\t' read -r value meaning; do
    if [[ $value == :files ]]; then
      _files
      return
    fi
    found+=("\${value//:/\\\\:}\${meaning:+:$meaning}")
  done < <(locallm __complete "\${(j: :)words[1,CURRENT]}" 2>/dev/null)
  _describe 'locallm' found
}
if [[ \${funcstack[1]} == _locallm ]]; then
  _locallm "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _locallm locallm
fi
`,
  fish: `# locallm completion fish | source
function __locallm_complete
    for line in (locallm __complete (commandline -cp | string collect) 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (commandline -ct)
        else
            printf '%s\\n' $line
        end
    end
end
complete -c locallm -f -a '(__locallm_complete)'
`,
  powershell: `# locallm completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName locallm -ScriptBlock {
    param($word, $ast, $position)
    $length = $position - $ast.Extent.StartOffset
    $line = $ast.Extent.Text.PadRight($length).Substring(0, $length)
    locallm __complete "$line" 2>$null | ForEach-Object {
        $value, $meaning = $_ -split "\`t", 2
        if ($value -eq ':files') {
            Get-ChildItem -Path "$word*" -Name | ForEach-Object {
                [System.Management.Automation.CompletionResult]::new($_)
            }
        }
        else {
            if (-not $meaning) { $meaning = $value }
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $meaning)
        }
    }
}
`,
} as const;
