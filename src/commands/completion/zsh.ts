import { lookUps, quote } from './posix.ts';
import type { Offer, Tables } from './tables.ts';

/** The completion script for zsh: works sourced, and as \`_petstore\` in a folder of fpath. */
export function toZsh(tables: Tables): string {
  return `#compdef petstore
# zsh completion for petstore, generated from its command tree.
# Load it with:  source <(petstore completion zsh)

${lookUps(tables)}

_petstore_commands() {
  case "$1" in
${tables.offers
  .filter(({ commands }) => commands.length > 0)
  .map(({ path, commands }) => `    ${quote(path)}) reply=(${describe(commands)}) ;;`)
  .join('\n')}
    *) reply=() ;;
  esac
}

_petstore_flags() {
  case "$1" in
${tables.offers
  .filter(({ flags }) => flags.length > 0)
  .map(({ path, flags }) => `    ${quote(path)}) reply=(${describe(flags)}) ;;`)
  .join('\n')}
    *) reply=() ;;
  esac
  reply+=(${describe(tables.globalFlags)})
}

_petstore_offer() {
  local -a found
  case "$1" in
    file) _files ;;
    profiles|categories)
      found=("\${(@f)$(petstore completion values "$1" $target 2>/dev/null)}")
      [[ -n $found ]] && compadd -a found ;;
    words\\ *) compadd -- \${=1#words } ;;
  esac
}

_petstore() {
  local at= flag= word REPLY
  local -a reply target
  for word in "\${(@Q)words[2,CURRENT-1]}"; do
    if [[ -n $flag ]]; then
      [[ $flag == --profile || $flag == --base-url ]] && target+=($flag $word)
      flag=
    elif [[ $word == -- ]]; then
      return
    elif [[ $word == --offline || $word == --profile=* || $word == --base-url=* ]]; then
      target+=($word)
    elif [[ $word == -* ]]; then
      _petstore_value "$at" "$word" && flag=$word
    elif _petstore_step "$at" "$word"; then
      at=$REPLY
    fi
  done
  if [[ -n $flag ]]; then
    _petstore_value "$at" "$flag" && _petstore_offer "$REPLY"
  elif [[ $words[CURRENT] == --*=* ]]; then
    _petstore_value "$at" "\${words[CURRENT]%%=*}" && compset -P '*=' && _petstore_offer "$REPLY"
  elif [[ $words[CURRENT] == -* ]]; then
    _petstore_flags "$at" && _describe -o flag reply
  else
    _petstore_commands "$at"
    if (( $#reply )); then
      _describe command reply
    else
      _petstore_operand "$at" && _petstore_offer "$REPLY"
    fi
  fi
}

if [[ $funcstack[1] == _petstore ]]; then
  _petstore "$@"
else
  compdef _petstore petstore
fi
`;
}

function describe(offers: readonly Offer[]): string {
  return offers.map(({ word, summary }) => quote(`${word}:${summary.replaceAll(':', '\\:')}`)).join(' ');
}
