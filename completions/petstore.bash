# bash completion for petstore, generated from its command tree.
# Load it with:  source <(petstore completion bash)

# The path that the word $2 leads to from the path $1; fails where it leads nowhere.
_petstore_step() {
  case "$1/$2" in
    '/pets'|'/pet') REPLY='pets' ;;
    '/completion') REPLY='completion' ;;
    '/help') REPLY='help' ;;
    'pets/list'|'pets/ls') REPLY='pets list' ;;
    *) return 1 ;;
  esac
}

# What the flag $2 of the command $1 takes; fails where it takes nothing.
_petstore_value() {
  case "$1/$2" in
    */--profile) REPLY='profiles' ;;
    */--base-url) REPLY='free' ;;
    */--output|*/-o) REPLY='words table json jsonl csv tsv yaml ids' ;;
    */--fields) REPLY='free' ;;
    */--sort) REPLY='free' ;;
    */--color) REPLY='words auto always never' ;;
    */--timeout) REPLY='free' ;;
    */--retries) REPLY='free' ;;
    */--header|*/-H) REPLY='free' ;;
    */--ca-cert) REPLY='file' ;;
    */--client-cert) REPLY='file' ;;
    */--client-key) REPLY='file' ;;
    'pets list/--status') REPLY='words available pending sold' ;;
    'pets list/--limit') REPLY='free' ;;
    *) return 1 ;;
  esac
}

# What the operands of the command $1 take.
_petstore_operand() {
  case "$1" in
    'completion') REPLY='words bash zsh fish powershell' ;;
    *) REPLY=free ;;
  esac
}

_petstore_commands() {
  case "$1" in
    '') REPLY='pets completion help' ;;
    'pets') REPLY='list' ;;
    *) REPLY= ;;
  esac
}

_petstore_flags() {
  case "$1" in
    'pets list') REPLY='--status --limit' ;;
    'completion') REPLY='--install' ;;
    *) REPLY= ;;
  esac
  REPLY="$REPLY --profile --base-url --offline --output --json --fields --sort --no-header --quiet --verbose --color --timeout --retries --header --ca-cert --client-cert --client-key --allow-insecure-http --yes --no-input --version --help"
}

_petstore_offer_lines() {
  local line
  while IFS= read -r line; do
    [[ $line == "$cur"* ]] && COMPREPLY+=("$(printf '%q' "$line")")
  done
}

_petstore_offer() {
  case "$1" in
    file) compopt -o default 2>/dev/null; COMPREPLY=() ;;
    profiles|categories) _petstore_offer_lines < <(petstore completion values "$1" 2>/dev/null) ;;
    words\ *) COMPREPLY=($(compgen -W "${1#words }" -- "$cur")) ;;
  esac
}

_petstore() {
  local cur=${COMP_WORDS[COMP_CWORD]} path= flag= word REPLY i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -n $flag ]]; then
      [[ $word == = ]] || flag=
    elif [[ $word == -- ]]; then
      return
    elif [[ $word == -* ]]; then
      _petstore_value "$path" "$word" && flag=$word
    elif _petstore_step "$path" "$word"; then
      path=$REPLY
    fi
  done
  [[ $cur == = ]] && cur=
  if [[ -n $flag ]]; then
    _petstore_value "$path" "$flag" && _petstore_offer "$REPLY"
  elif [[ $cur == -* ]]; then
    _petstore_flags "$path" && COMPREPLY=($(compgen -W "$REPLY" -- "$cur"))
  else
    _petstore_commands "$path"
    if [[ -n $REPLY ]]; then
      COMPREPLY=($(compgen -W "$REPLY" -- "$cur"))
    else
      _petstore_operand "$path" && _petstore_offer "$REPLY"
    fi
  fi
}

complete -F _petstore petstore
