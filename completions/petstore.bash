# bash completion for petstore, generated from its command tree.
# Load it with:  source <(petstore completion bash)

# The path that the word $2 leads to from the path $1; fails where it leads nowhere.
_petstore_step() {
  case "$1/$2" in
    '/pets'|'/pet') REPLY='pets' ;;
    '/api') REPLY='api' ;;
    '/serve') REPLY='serve' ;;
    '/smoke') REPLY='smoke' ;;
    '/completion') REPLY='completion' ;;
    '/help') REPLY='help' ;;
    'pets/list'|'pets/ls') REPLY='pets list' ;;
    'api/operations'|'api/ls') REPLY='api operations' ;;
    'api/spec') REPLY='api spec' ;;
    'api/bind') REPLY='api bind' ;;
    'api/unbind') REPLY='api unbind' ;;
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
    'api bind/--map') REPLY='free' ;;
    'serve/--port') REPLY='free' ;;
    'serve/--host') REPLY='free' ;;
    'serve/--data') REPLY='file' ;;
    'serve/--pets') REPLY='free' ;;
    'serve/--seed') REPLY='free' ;;
    'serve/--latency') REPLY='free' ;;
    'serve/--error-rate') REPLY='free' ;;
    'serve/--rate-limit') REPLY='free' ;;
    'serve/--sunset') REPLY='free' ;;
    'serve/--ready-file') REPLY='file' ;;
    'smoke/--wait') REPLY='free' ;;
    'smoke/--confirm') REPLY='profiles' ;;
    'smoke/--only') REPLY='free' ;;
    'smoke/--skip') REPLY='free' ;;
    'smoke/--fail-on') REPLY='free' ;;
    'smoke/--stability') REPLY='words stable all' ;;
    'smoke/--samples') REPLY='free' ;;
    'smoke/--max-latency') REPLY='free' ;;
    'smoke/--tls-min-days') REPLY='free' ;;
    'smoke/--report') REPLY='free' ;;
    *) return 1 ;;
  esac
}

# What the operands of the command $1 take.
_petstore_operand() {
  case "$1" in
    'api bind') REPLY='file' ;;
    'completion') REPLY='words bash zsh fish powershell' ;;
    *) REPLY=free ;;
  esac
}

_petstore_commands() {
  case "$1" in
    '') REPLY='pets api serve smoke completion help' ;;
    'pets') REPLY='list' ;;
    'api') REPLY='operations spec bind unbind' ;;
    *) REPLY= ;;
  esac
}

_petstore_flags() {
  case "$1" in
    'pets list') REPLY='--status --limit' ;;
    'api bind') REPLY='--map --dry-run' ;;
    'serve') REPLY='--port --host --data --save --empty --pets --seed --latency --error-rate --rate-limit --sunset --read-only --log --ready-file' ;;
    'smoke') REPLY='--wait --write --confirm --only --skip --fail-on --stability --samples --max-latency --tls-min-days --report --force --dry-run' ;;
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
    profiles|categories) _petstore_offer_lines < <(petstore completion values "$1" "${target[@]}" 2>/dev/null) ;;
    words\ *) COMPREPLY=($(compgen -W "${1#words }" -- "$cur")) ;;
  esac
}

_petstore() {
  local cur=${COMP_WORDS[COMP_CWORD]} path= flag= word REPLY i
  local -a target=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -n $flag ]]; then
      [[ $word == = ]] && continue
      [[ $flag == --profile || $flag == --base-url ]] && target+=("$flag" "$word")
      flag=
    elif [[ $word == -- ]]; then
      return
    elif [[ $word == --offline ]]; then
      target+=("$word")
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
