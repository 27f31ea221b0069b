# bash completion for petstore. Load it with:  source <(petstore completion bash)
# It hands the line to petstore, because bash splits words at = and : and leaves the quotes in;
# petstore answers with the words as readline inserts them.

_petstore() {
  local LC_ALL=C line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :file ]]; then
      compopt -o default 2>/dev/null
      return 0
    fi
    COMPREPLY+=("$line")
  done < <(petstore __complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
}

complete -F _petstore petstore
