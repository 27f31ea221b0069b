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

# What stands before the cursor, as the shell will read it: words, and the word that goes on in cur. Where a quote is open,
# it is in open. What readline leaves alone of cur is in kept: it replaces only what follows a quote, a : or a =.
_petstore_read() {
  local LC_ALL=C line=\${COMP_LINE:0:COMP_POINT} escapable='"\\$\`' char begun= i
  for ((i = 0; i < \${#line}; i++)); do
    char=\${line:i:1}
    if [[ -n $open && $char == "$open" ]]; then
      open= kept=$cur
    elif [[ $open != "'" && $char == \\\\ ]]; then
      i=$((i + 1)) begun=1
      [[ $open == \\" && $escapable != *"\${line:i:1}"* ]] && cur+=$char
      cur+=\${line:i:1}
    elif [[ -n $open ]]; then
      cur+=$char
    elif [[ $char == \\" || $char == \\' ]]; then
      open=$char kept=$cur begun=1
    elif [[ $char == [[:space:]] ]]; then
      [[ -n $begun ]] && words+=("$cur")
      cur= kept= begun=
    else
      cur+=$char begun=1
      [[ $COMP_WORDBREAKS == *"$char"* ]] && kept=$cur
    fi
  done
}

# Offers each line of stdin, after the flag that given holds, where the current word may become it.
_petstore_add() {
  local word
  while IFS= read -r word; do
    word=$given$word
    [[ $word == "$cur"* ]] || continue
    _petstore_quote "\${word#"$kept"}"
    COMPREPLY+=("$REPLY")
  done
  # readline closes the quote of a single match, but not where the last character looks as if it did.
  [[ -n $open && \${#COMPREPLY[@]} == 1 && \${COMPREPLY[0]} == *"$open" ]] && COMPREPLY[0]+=$open
  return 0
}

# The text $1 as it is written inside the open quote, or outside of any.
_petstore_quote() {
  local char i
  if [[ -z $open ]]; then
    printf -v REPLY %q "$1"
    return
  fi
  REPLY=
  for ((i = 0; i < \${#1}; i++)); do
    char=\${1:i:1}
    case $open$char in
      \\'\\') REPLY+="'\\\\''" ;;
      \\"[\\"\\\\\\$\\\`]) REPLY+=\\\\$char ;;
      *) REPLY+=$char ;;
    esac
  done
}

_petstore_offer() {
  local list=\${1#words } newline=$'\\n'
  case $1 in
    file) compopt -o default 2>/dev/null || _petstore_add < <(compgen -f -- "\${cur#"$given"}") ;;
    profiles|categories) _petstore_add < <(petstore completion values "$1" \${target[@]+"\${target[@]}"} 2>/dev/null) ;;
    words\\ *) _petstore_add <<< "\${list// /$newline}" ;;
  esac
}

_petstore() {
  local cur= kept= open= given= path= flag= word REPLY
  local -a words target
  words=() target=() COMPREPLY=()
  _petstore_read
  for word in "\${words[@]:1}"; do
    if [[ -n $flag ]]; then
      [[ $flag == --profile || $flag == --base-url ]] && target+=("$flag" "$word")
      flag=
    elif [[ $word == -- ]]; then
      return
    elif [[ $word == --offline || $word == --profile=* || $word == --base-url=* ]]; then
      target+=("$word")
    elif [[ $word == -* ]]; then
      _petstore_value "$path" "$word" && flag=$word
    elif _petstore_step "$path" "$word"; then
      path=$REPLY
    fi
  done
  if [[ -z $flag && $cur == --*=* ]]; then
    flag=\${cur%%=*} given=\${cur%%=*}=
  fi
  if [[ -n $flag ]]; then
    _petstore_value "$path" "$flag" && _petstore_offer "$REPLY"
  elif [[ $cur == -* ]]; then
    _petstore_flags "$path" && _petstore_offer "words $REPLY"
  else
    _petstore_commands "$path"
    if [[ -n $REPLY ]]; then
      _petstore_offer "words $REPLY"
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
