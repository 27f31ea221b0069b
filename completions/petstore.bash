# bash completion for petstore, generated from its command tree.
# Load it with:  source <(petstore completion bash)

# The path that the word $2 leads to from the path $1; fails where it leads nowhere.
_petstore_step() {
  case "$1/$2" in
    '/pets'|'/pet') REPLY='pets' ;;
    '/categories'|'/category') REPLY='categories' ;;
    '/orders'|'/order') REPLY='orders' ;;
    '/inventory') REPLY='inventory' ;;
    '/api') REPLY='api' ;;
    '/serve') REPLY='serve' ;;
    '/smoke') REPLY='smoke' ;;
    '/config') REPLY='config' ;;
    '/profile') REPLY='profile' ;;
    '/doctor') REPLY='doctor' ;;
    '/completion') REPLY='completion' ;;
    '/help') REPLY='help' ;;
    'pets/list'|'pets/ls') REPLY='pets list' ;;
    'pets/get') REPLY='pets get' ;;
    'pets/create') REPLY='pets create' ;;
    'pets/update') REPLY='pets update' ;;
    'pets/delete'|'pets/rm') REPLY='pets delete' ;;
    'categories/list'|'categories/ls') REPLY='categories list' ;;
    'categories/get') REPLY='categories get' ;;
    'categories/create') REPLY='categories create' ;;
    'categories/update') REPLY='categories update' ;;
    'categories/delete'|'categories/rm') REPLY='categories delete' ;;
    'orders/list'|'orders/ls') REPLY='orders list' ;;
    'orders/get') REPLY='orders get' ;;
    'orders/create') REPLY='orders create' ;;
    'orders/update') REPLY='orders update' ;;
    'orders/complete') REPLY='orders complete' ;;
    'orders/delete'|'orders/rm') REPLY='orders delete' ;;
    'inventory/list'|'inventory/ls') REPLY='inventory list' ;;
    'inventory/get') REPLY='inventory get' ;;
    'inventory/set') REPLY='inventory set' ;;
    'inventory/adjust') REPLY='inventory adjust' ;;
    'inventory/create') REPLY='inventory create' ;;
    'inventory/delete'|'inventory/rm') REPLY='inventory delete' ;;
    'inventory/diff') REPLY='inventory diff' ;;
    'inventory/apply') REPLY='inventory apply' ;;
    'inventory/export') REPLY='inventory export' ;;
    'inventory/runs') REPLY='inventory runs' ;;
    'inventory/resume') REPLY='inventory resume' ;;
    'inventory/undo') REPLY='inventory undo' ;;
    'api/operations'|'api/ls') REPLY='api operations' ;;
    'api/spec') REPLY='api spec' ;;
    'api/bind') REPLY='api bind' ;;
    'api/unbind') REPLY='api unbind' ;;
    'api/request') REPLY='api request' ;;
    'api/try') REPLY='api try' ;;
    'config/init') REPLY='config init' ;;
    'config/list'|'config/ls') REPLY='config list' ;;
    'config/get') REPLY='config get' ;;
    'config/set') REPLY='config set' ;;
    'config/unset') REPLY='config unset' ;;
    'config/path') REPLY='config path' ;;
    'config/explain') REPLY='config explain' ;;
    'profile/list'|'profile/ls') REPLY='profile list' ;;
    'profile/create') REPLY='profile create' ;;
    'profile/use') REPLY='profile use' ;;
    'profile/show') REPLY='profile show' ;;
    'profile/delete'|'profile/rm') REPLY='profile delete' ;;
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
    'pets list/--category') REPLY='categories' ;;
    'pets list/--limit') REPLY='free' ;;
    'pets create/--confirm') REPLY='profiles' ;;
    'pets create/--name') REPLY='free' ;;
    'pets create/--category') REPLY='categories' ;;
    'pets create/--status') REPLY='words available pending sold' ;;
    'pets create/--from') REPLY='file' ;;
    'pets update/--confirm') REPLY='profiles' ;;
    'pets update/--name') REPLY='free' ;;
    'pets update/--category') REPLY='categories' ;;
    'pets update/--status') REPLY='words available pending sold' ;;
    'pets delete/--confirm') REPLY='profiles' ;;
    'categories list/--limit') REPLY='free' ;;
    'categories create/--confirm') REPLY='profiles' ;;
    'categories create/--name') REPLY='free' ;;
    'categories create/--description') REPLY='free' ;;
    'categories create/--from') REPLY='file' ;;
    'categories update/--confirm') REPLY='profiles' ;;
    'categories update/--name') REPLY='free' ;;
    'categories update/--description') REPLY='free' ;;
    'categories delete/--confirm') REPLY='profiles' ;;
    'orders list/--pet') REPLY='free' ;;
    'orders list/--limit') REPLY='free' ;;
    'orders create/--confirm') REPLY='profiles' ;;
    'orders create/--pet') REPLY='free' ;;
    'orders create/--quantity') REPLY='free' ;;
    'orders create/--ship-date') REPLY='free' ;;
    'orders create/--from') REPLY='file' ;;
    'orders update/--confirm') REPLY='profiles' ;;
    'orders update/--pet') REPLY='free' ;;
    'orders update/--quantity') REPLY='free' ;;
    'orders update/--ship-date') REPLY='free' ;;
    'orders complete/--confirm') REPLY='profiles' ;;
    'orders delete/--confirm') REPLY='profiles' ;;
    'inventory list/--status') REPLY='words available pending sold' ;;
    'inventory list/--below') REPLY='free' ;;
    'inventory list/--limit') REPLY='free' ;;
    'inventory set/--confirm') REPLY='profiles' ;;
    'inventory adjust/--confirm') REPLY='profiles' ;;
    'inventory create/--confirm') REPLY='profiles' ;;
    'inventory delete/--confirm') REPLY='profiles' ;;
    'inventory diff/--format') REPLY='words csv json jsonl' ;;
    'inventory diff/--delimiter') REPLY='free' ;;
    'inventory diff/--map') REPLY='free' ;;
    'inventory diff/--on-duplicate') REPLY='words error first last' ;;
    'inventory diff/--shard') REPLY='free' ;;
    'inventory diff/--concurrency') REPLY='free' ;;
    'inventory diff/--rate') REPLY='free' ;;
    'inventory diff/--max-retry-wait') REPLY='free' ;;
    'inventory apply/--confirm') REPLY='profiles' ;;
    'inventory apply/--format') REPLY='words csv json jsonl' ;;
    'inventory apply/--delimiter') REPLY='free' ;;
    'inventory apply/--map') REPLY='free' ;;
    'inventory apply/--on-duplicate') REPLY='words error first last' ;;
    'inventory apply/--shard') REPLY='free' ;;
    'inventory apply/--max-changes') REPLY='free' ;;
    'inventory apply/--max-delta') REPLY='free' ;;
    'inventory apply/--concurrency') REPLY='free' ;;
    'inventory apply/--rate') REPLY='free' ;;
    'inventory apply/--max-retry-wait') REPLY='free' ;;
    'inventory apply/--max-errors') REPLY='free' ;;
    'inventory apply/--rejects') REPLY='file' ;;
    'inventory apply/--events') REPLY='file' ;;
    'inventory apply/--progress') REPLY='words auto bar plain json none' ;;
    'inventory resume/--confirm') REPLY='profiles' ;;
    'inventory resume/--concurrency') REPLY='free' ;;
    'inventory resume/--rate') REPLY='free' ;;
    'inventory resume/--max-retry-wait') REPLY='free' ;;
    'inventory resume/--max-errors') REPLY='free' ;;
    'inventory resume/--rejects') REPLY='file' ;;
    'inventory resume/--events') REPLY='file' ;;
    'inventory resume/--progress') REPLY='words auto bar plain json none' ;;
    'inventory undo/--confirm') REPLY='profiles' ;;
    'inventory undo/--concurrency') REPLY='free' ;;
    'inventory undo/--rate') REPLY='free' ;;
    'inventory undo/--max-retry-wait') REPLY='free' ;;
    'inventory undo/--max-errors') REPLY='free' ;;
    'inventory undo/--rejects') REPLY='file' ;;
    'inventory undo/--events') REPLY='file' ;;
    'inventory undo/--progress') REPLY='words auto bar plain json none' ;;
    'api bind/--map') REPLY='free' ;;
    'api request/--confirm') REPLY='profiles' ;;
    'api request/--field'|'api request/-f') REPLY='free' ;;
    'api request/--input') REPLY='file' ;;
    'api try/--confirm') REPLY='profiles' ;;
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
    'smoke/--fail-on') REPLY='words warn flaky' ;;
    'smoke/--stability') REPLY='words stable all' ;;
    'smoke/--samples') REPLY='free' ;;
    'smoke/--max-latency') REPLY='free' ;;
    'smoke/--tls-min-days') REPLY='free' ;;
    'smoke/--report') REPLY='free' ;;
    'config init/--name') REPLY='free' ;;
    'config init/--concurrency') REPLY='free' ;;
    'config init/--rate') REPLY='free' ;;
    'config init/--token-file') REPLY='file' ;;
    'config init/--token-command') REPLY='free' ;;
    'config init/--auth-header') REPLY='free' ;;
    'config init/--auth-scheme') REPLY='free' ;;
    'config init/--protected') REPLY='words true false' ;;
    'profile create/--concurrency') REPLY='free' ;;
    'profile create/--rate') REPLY='free' ;;
    'profile create/--token-file') REPLY='file' ;;
    'profile create/--token-command') REPLY='free' ;;
    'profile create/--auth-header') REPLY='free' ;;
    'profile create/--auth-scheme') REPLY='free' ;;
    'profile create/--protected') REPLY='words true false' ;;
    *) return 1 ;;
  esac
}

# What the operands of the command $1 take.
_petstore_operand() {
  case "$1" in
    'inventory diff') REPLY='file' ;;
    'inventory apply') REPLY='file' ;;
    'api bind') REPLY='file' ;;
    'api request') REPLY='words GET HEAD OPTIONS POST PUT PATCH DELETE' ;;
    'api try') REPLY='words listPets createPet getPet updatePet deletePet listCategories createCategory getCategory updateCategory deleteCategory listOrders createOrder getOrder updateOrder deleteOrder listInventory createInventory getInventory updateInventory deleteInventory' ;;
    'config get') REPLY='words base-url output timeout retries concurrency rate color token-file token-command auth-header auth-scheme ca-cert client-cert client-key protected' ;;
    'config set') REPLY='words base-url output timeout retries concurrency rate color token-file token-command auth-header auth-scheme ca-cert client-cert client-key protected' ;;
    'config unset') REPLY='words base-url output timeout retries concurrency rate color token-file token-command auth-header auth-scheme ca-cert client-cert client-key protected' ;;
    'config path') REPLY='words config state offline-store' ;;
    'profile use') REPLY='profiles' ;;
    'profile show') REPLY='profiles' ;;
    'profile delete') REPLY='profiles' ;;
    'completion') REPLY='words bash zsh fish powershell' ;;
    'help') REPLY='words pets categories orders inventory api serve smoke config profile doctor completion help environment exit-codes formats' ;;
    *) REPLY=free ;;
  esac
}

_petstore_commands() {
  case "$1" in
    '') REPLY='pets categories orders inventory api serve smoke config profile doctor completion help' ;;
    'pets') REPLY='list get create update delete' ;;
    'categories') REPLY='list get create update delete' ;;
    'orders') REPLY='list get create update complete delete' ;;
    'inventory') REPLY='list get set adjust create delete diff apply export runs resume undo' ;;
    'api') REPLY='operations spec bind unbind request try' ;;
    'config') REPLY='init list get set unset path explain' ;;
    'profile') REPLY='list create use show delete' ;;
    *) REPLY= ;;
  esac
}

_petstore_flags() {
  case "$1" in
    'pets list') REPLY='--status --category --limit' ;;
    'pets create') REPLY='--dry-run --confirm --name --category --status --from' ;;
    'pets update') REPLY='--dry-run --confirm --name --category --status' ;;
    'pets delete') REPLY='--dry-run --confirm' ;;
    'categories list') REPLY='--limit' ;;
    'categories create') REPLY='--dry-run --confirm --name --description --from' ;;
    'categories update') REPLY='--dry-run --confirm --name --description' ;;
    'categories delete') REPLY='--dry-run --confirm' ;;
    'orders list') REPLY='--pet --complete --open --limit' ;;
    'orders create') REPLY='--dry-run --confirm --pet --quantity --ship-date --complete --no-complete --from' ;;
    'orders update') REPLY='--dry-run --confirm --pet --quantity --ship-date --complete --no-complete' ;;
    'orders complete') REPLY='--dry-run --confirm' ;;
    'orders delete') REPLY='--dry-run --confirm' ;;
    'inventory list') REPLY='--status --below --limit' ;;
    'inventory set') REPLY='--dry-run --confirm' ;;
    'inventory adjust') REPLY='--dry-run --confirm' ;;
    'inventory create') REPLY='--dry-run --confirm' ;;
    'inventory delete') REPLY='--dry-run --confirm' ;;
    'inventory diff') REPLY='--format --delimiter --map --skip-invalid --on-duplicate --allow-empty --shard --concurrency --rate --max-retry-wait' ;;
    'inventory apply') REPLY='--dry-run --confirm --format --delimiter --map --skip-invalid --on-duplicate --allow-empty --shard --blind --create-missing --max-changes --max-delta --allow-zero --restart --concurrency --rate --max-retry-wait --max-errors --fail-fast --verify --rejects --events --progress --force' ;;
    'inventory resume') REPLY='--dry-run --confirm --concurrency --rate --max-retry-wait --max-errors --fail-fast --verify --rejects --events --progress --force' ;;
    'inventory undo') REPLY='--dry-run --confirm --concurrency --rate --max-retry-wait --max-errors --fail-fast --verify --rejects --events --progress --force' ;;
    'api bind') REPLY='--map --dry-run' ;;
    'api request') REPLY='--dry-run --confirm --field --input --include' ;;
    'api try') REPLY='--dry-run --confirm' ;;
    'serve') REPLY='--port --host --data --save --empty --pets --seed --latency --error-rate --rate-limit --sunset --read-only --log --ready-file' ;;
    'smoke') REPLY='--wait --write --confirm --only --skip --fail-on --stability --samples --max-latency --tls-min-days --report --force --dry-run' ;;
    'config init') REPLY='--name --concurrency --rate --token-file --token-command --auth-header --auth-scheme --protected' ;;
    'profile create') REPLY='--use --concurrency --rate --token-file --token-command --auth-header --auth-scheme --protected' ;;
    'completion') REPLY='--install' ;;
    *) REPLY= ;;
  esac
  REPLY="$REPLY --profile --base-url --offline --output --json --fields --sort --no-header --quiet --verbose --color --timeout --retries --header --ca-cert --client-cert --client-key --allow-insecure-http --yes --no-input --version --help"
}

# What stands before the cursor, as the shell will read it: words, and the word that goes on in cur. Where a quote is open,
# it is in open. What readline leaves alone of cur is in kept: it replaces only what follows a quote, a : or a =.
_petstore_read() {
  local LC_ALL=C line=${COMP_LINE:0:COMP_POINT} escapable='"\$`' char begun= i
  for ((i = 0; i < ${#line}; i++)); do
    char=${line:i:1}
    if [[ -n $open && $char == "$open" ]]; then
      open= kept=$cur
    elif [[ $open != "'" && $char == \\ ]]; then
      i=$((i + 1)) begun=1
      [[ $open == \" && $escapable != *"${line:i:1}"* ]] && cur+=$char
      cur+=${line:i:1}
    elif [[ -n $open ]]; then
      cur+=$char
    elif [[ $char == \" || $char == \' ]]; then
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
    _petstore_quote "${word#"$kept"}"
    COMPREPLY+=("$REPLY")
  done
  # readline closes the quote of a single match, but not where the last character looks as if it did.
  [[ -n $open && ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *"$open" ]] && COMPREPLY[0]+=$open
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
  for ((i = 0; i < ${#1}; i++)); do
    char=${1:i:1}
    case $open$char in
      \'\') REPLY+="'\\''" ;;
      \"[\"\\\$\`]) REPLY+=\\$char ;;
      *) REPLY+=$char ;;
    esac
  done
}

_petstore_offer() {
  local list=${1#words } newline=$'\n'
  case $1 in
    file) compopt -o default 2>/dev/null || _petstore_add < <(compgen -f -- "${cur#"$given"}") ;;
    profiles|categories) _petstore_add < <(petstore completion values "$1" ${target[@]+"${target[@]}"} 2>/dev/null) ;;
    words\ *) _petstore_add <<< "${list// /$newline}" ;;
  esac
}

_petstore() {
  local cur= kept= open= given= path= flag= word REPLY
  local -a words target
  words=() target=() COMPREPLY=()
  _petstore_read
  for word in "${words[@]:1}"; do
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
    flag=${cur%%=*} given=${cur%%=*}=
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
