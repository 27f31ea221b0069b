# bash completion for petstore. Load it with:  source <(petstore completion bash)
# It asks petstore for all that may stand in the place, and quotes what comes back.

_petstore() {
  local at part line quote= kept= last=-1 continues=
  local -a words=()
  COMPREPLY=()
  # bash splits words at = and : too, and they are joined again.
  for ((at = 1; at <= COMP_CWORD; at++)); do
    part=${COMP_WORDS[at]}
    if [[ $part == [=:]* && $last != -1 ]]; then
      words[last]+=$part
      # readline replaces only what follows.
      kept=${words[last]} continues=1
    elif [[ $continues ]]; then
      words[last]+=$part continues=
    else
      words[++last]=$part kept=
    fi
  done
  [[ ${words[last]#"$kept"} == [\"\']* ]] && quote=${words[last]:${#kept}:1}
  for ((at = 0; at <= last; at++)); do
    case ${words[at]} in
      \'*) words[at]=${words[at]//\'/} ;;
      \"*) words[at]=${words[at]//[\"\\]/} ;;
      *) words[at]=${words[at]//\\/} ;;
    esac
  done
  kept=${kept//\\/}
  [[ $kept && $quote ]] && words[last]=$kept${words[last]:${#kept}+1}
  while IFS= read -r line; do
    if [[ $line == :file ]]; then
      compopt -o default 2>/dev/null
      return 0
    fi
    line=${line%%$'\t'*}
    line=${line:${#kept}}
    case $quote in
      \') line=${line//\'/\'\\\'\'} ;;
      \")
        line=${line//\\/\\\\}
        line=${line//\"/\\\"}
        line=${line//\$/\\\$}
        line=${line//\`/\\\`}
        # Between double quotes an interactive bash takes ! for its history, with or without a backslash.
        line=${line//!/\"\'!\'\"}
        ;;
      *)
        printf -v line %q "$line"
        line=${line//\\,/,}
        ;;
    esac
    COMPREPLY+=("$line")
  done < <(petstore __complete -- "${words[@]}" 2>/dev/null)
  # A value follows, without a space.
  [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
  # readline closes the quote of a single match, unless its last character is that quote.
  if [[ $quote && ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *"$quote" ]]; then COMPREPLY[0]+=$quote; fi
}

complete -F _petstore petstore
