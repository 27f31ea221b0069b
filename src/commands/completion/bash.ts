import { lookUps, quote } from './posix.ts';
import type { Offer, Tables } from './tables.ts';

/** The completion script for bash 3.2 and later; needs no bash-completion package. */
export function toBash(tables: Tables): string {
  return `# bash completion for petstore, generated from its command tree.
# Load it with:  source <(petstore completion bash)

${lookUps(tables)}

_petstore_commands() {
  case "$1" in
${tables.offers
  .filter(({ commands }) => commands.length > 0)
  .map(({ path, commands }) => `    ${quote(path)}) REPLY=${quote(wordsOf(commands))} ;;`)
  .join('\n')}
    *) REPLY= ;;
  esac
}

_petstore_flags() {
  case "$1" in
${tables.offers
  .filter(({ flags }) => flags.length > 0)
  .map(({ path, flags }) => `    ${quote(path)}) REPLY=${quote(wordsOf(flags))} ;;`)
  .join('\n')}
    *) REPLY= ;;
  esac
  REPLY="$REPLY ${wordsOf(tables.globalFlags)}"
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
    profiles|categories) _petstore_offer_lines < <(petstore completion values "$1" "\${target[@]}" 2>/dev/null) ;;
    words\\ *) COMPREPLY=($(compgen -W "\${1#words }" -- "$cur")) ;;
  esac
}

_petstore() {
  local cur=\${COMP_WORDS[COMP_CWORD]} path= flag= word REPLY i
  local -a target=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
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
`;
}

function wordsOf(offers: readonly Offer[]): string {
  return offers.map(({ word }) => word).join(' ');
}
