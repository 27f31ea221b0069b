# PowerShell completion for petstore, generated from its command tree.
# Load it with:  petstore completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName petstore -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)

  $steps = @{
    '/pets' = 'pets'
    '/pet' = 'pets'
    '/categories' = 'categories'
    '/category' = 'categories'
    '/orders' = 'orders'
    '/order' = 'orders'
    '/inventory' = 'inventory'
    '/api' = 'api'
    '/serve' = 'serve'
    '/smoke' = 'smoke'
    '/config' = 'config'
    '/profile' = 'profile'
    '/doctor' = 'doctor'
    '/completion' = 'completion'
    '/help' = 'help'
    'pets/list' = 'pets list'
    'pets/ls' = 'pets list'
    'pets/get' = 'pets get'
    'pets/create' = 'pets create'
    'pets/update' = 'pets update'
    'pets/delete' = 'pets delete'
    'pets/rm' = 'pets delete'
    'categories/list' = 'categories list'
    'categories/ls' = 'categories list'
    'categories/get' = 'categories get'
    'categories/create' = 'categories create'
    'categories/update' = 'categories update'
    'categories/delete' = 'categories delete'
    'categories/rm' = 'categories delete'
    'orders/list' = 'orders list'
    'orders/ls' = 'orders list'
    'orders/get' = 'orders get'
    'orders/create' = 'orders create'
    'orders/update' = 'orders update'
    'orders/complete' = 'orders complete'
    'orders/delete' = 'orders delete'
    'orders/rm' = 'orders delete'
    'inventory/list' = 'inventory list'
    'inventory/ls' = 'inventory list'
    'inventory/get' = 'inventory get'
    'inventory/set' = 'inventory set'
    'inventory/adjust' = 'inventory adjust'
    'inventory/create' = 'inventory create'
    'inventory/delete' = 'inventory delete'
    'inventory/rm' = 'inventory delete'
    'inventory/diff' = 'inventory diff'
    'inventory/apply' = 'inventory apply'
    'inventory/export' = 'inventory export'
    'inventory/runs' = 'inventory runs'
    'inventory/resume' = 'inventory resume'
    'inventory/undo' = 'inventory undo'
    'api/operations' = 'api operations'
    'api/ls' = 'api operations'
    'api/spec' = 'api spec'
    'api/bind' = 'api bind'
    'api/unbind' = 'api unbind'
    'api/request' = 'api request'
    'api/try' = 'api try'
    'config/init' = 'config init'
    'config/list' = 'config list'
    'config/ls' = 'config list'
    'config/get' = 'config get'
    'config/set' = 'config set'
    'config/unset' = 'config unset'
    'config/path' = 'config path'
    'config/explain' = 'config explain'
    'profile/list' = 'profile list'
    'profile/ls' = 'profile list'
    'profile/create' = 'profile create'
    'profile/use' = 'profile use'
    'profile/show' = 'profile show'
    'profile/delete' = 'profile delete'
    'profile/rm' = 'profile delete'
  }
  $commands = @{
    '' = @(@('pets', 'List, get, create, update and delete pets'), @('categories', 'List, get, create, update and delete categories'), @('orders', 'List, get, create, update, complete and delete orders'), @('inventory', 'List, get, set and adjust stock counts, or apply a whole file of them'), @('api', 'List the operations, bind to a service''s own description, send requests of your own'), @('serve', 'Serve the pet store from memory, on this machine'), @('smoke', 'Check a deployment'), @('config', 'Read and change the config; explain where settings come from'), @('profile', 'List, create, use, show and delete profiles of services'), @('doctor', 'Check config, permissions and the way to the service'), @('completion', 'Print the completion script of a shell, or install it'), @('help', 'Show help for a command or a topic'))
    'pets' = @(@('list', 'List pets'), @('get', 'Get one or several pets'), @('create', 'Create a pet, or many from a file'), @('update', 'Change a pet'), @('delete', 'Delete pets, after asking'))
    'categories' = @(@('list', 'List categories'), @('get', 'Get one or several categories'), @('create', 'Create a category, or many from a file'), @('update', 'Change a category'), @('delete', 'Delete categories that have no pets, after asking'))
    'orders' = @(@('list', 'List orders'), @('get', 'Get one or several orders'), @('create', 'Create an order, or many from a file'), @('update', 'Change an order'), @('complete', 'Mark orders as complete'), @('delete', 'Delete orders, after asking'))
    'inventory' = @(@('list', 'List inventory entries'), @('get', 'Get the inventory entries of one or several pets'), @('set', 'Set the stock count of a pet'), @('adjust', 'Add to or take from the stock count of a pet'), @('create', 'Create the inventory entry of a pet'), @('delete', 'Delete inventory entries, after asking'), @('diff', 'Show what apply would change'), @('apply', 'Set stock counts to those of a file'), @('export', 'Print all counts as CSV, ready for apply'), @('runs', 'List past runs, the newest first'), @('resume', 'Go on where a run stopped'), @('undo', 'Set back what a run changed'))
    'api' = @(@('operations', 'List the operations of the service and where each comes from'), @('spec', 'Print the OpenAPI 3.0.3 document of the service'), @('bind', 'Follow a service''s own OpenAPI description'), @('unbind', 'Go back to the built-in contract'), @('request', 'Send a request of your own making'), @('try', 'Try an operation: answer questions, look at the request, send it'))
    'config' = @(@('init', 'Set up: ask for a service, make a profile for it and use it'), @('list', 'List what the config file holds'), @('get', 'Print one value of the config'), @('set', 'Set a value in the config file'), @('unset', 'Take a value out of the config file'), @('path', 'Show where config, state and the embedded store lie'), @('explain', 'Show every setting, its value and where it came from'))
    'profile' = @(@('list', 'List the profiles and mark the active one'), @('create', 'Make a profile for a service'), @('use', 'Make a profile the active one'), @('show', 'Show what a profile holds'), @('delete', 'Delete a profile and the contract bound to it'))
  }
  $flags = @{
    'pets list' = @(@('--status', 'only pets of this status'), @('--category', 'only pets of this category'), @('--limit', 'show at most n (default: all)'))
    'pets create' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'), @('--name', 'its name'), @('--category', 'its category'), @('--status', 'its status (default: available)'), @('--from', 'create one for each record of this file (JSON, JSON lines), in its order'))
    'pets update' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'), @('--name', 'its name'), @('--category', 'its category'), @('--status', 'its status'))
    'pets delete' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'))
    'categories list' = @(,@('--limit', 'show at most n (default: all)'))
    'categories create' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'), @('--name', 'its name'), @('--description', 'its description'), @('--from', 'create one for each record of this file (JSON, JSON lines), in its order'))
    'categories update' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'), @('--name', 'its name'), @('--description', 'its description'))
    'categories delete' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'))
    'orders list' = @(@('--pet', 'only orders of this pet'), @('--complete', 'only orders that are complete'), @('--open', 'only orders that are not complete'), @('--limit', 'show at most n (default: all)'))
    'orders create' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'), @('--pet', 'the pet that is ordered'), @('--quantity', 'how many are ordered'), @('--ship-date', 'when it ships: RFC 3339, or YYYY-MM-DD for its first moment in UTC'), @('--complete', 'the order is fulfilled'), @('--no-complete', 'the order is not fulfilled yet'), @('--from', 'create one for each record of this file (JSON, JSON lines), in its order'))
    'orders update' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'), @('--pet', 'the pet that is ordered'), @('--quantity', 'how many are ordered'), @('--ship-date', 'when it ships: RFC 3339, or YYYY-MM-DD for its first moment in UTC'), @('--complete', 'the order is fulfilled'), @('--no-complete', 'the order is not fulfilled yet'))
    'orders complete' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'))
    'orders delete' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'))
    'inventory list' = @(@('--status', 'only entries of pets of this status'), @('--below', 'only entries with a quantity under n'), @('--limit', 'show at most n (default: all)'))
    'inventory set' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'))
    'inventory adjust' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'))
    'inventory create' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'))
    'inventory delete' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'))
    'inventory diff' = @(@('--format', 'format of the input (default: by its name or its text)'), @('--delimiter', 'character between the cells of a CSV (default: by its header)'), @('--map', 'column that holds petId, quantity or expected, where its name is another'), @('--skip-invalid', 'go on without the rows that are invalid'), @('--on-duplicate', 'which of several rows for one pet counts (default error)'), @('--allow-empty', 'accept an input without rows'), @('--shard', 'take only part i of n of the pets, to share a file between machines'), @('--concurrency', 'requests in flight at a time (default 8)'), @('--rate', 'send at most n requests a second, retries included'), @('--max-retry-wait', 'stop when the service asks to wait longer (default 120s)'))
    'inventory apply' = @(@('--dry-run', 'show the plan and write nothing'), @('--confirm', 'name of the profile, where it is protected'), @('--format', 'format of the input (default: by its name or its text)'), @('--delimiter', 'character between the cells of a CSV (default: by its header)'), @('--map', 'column that holds petId, quantity or expected, where its name is another'), @('--skip-invalid', 'go on without the rows that are invalid'), @('--on-duplicate', 'which of several rows for one pet counts (default error)'), @('--allow-empty', 'accept an input without rows'), @('--shard', 'take only part i of n of the pets, to share a file between machines'), @('--blind', 'read no current counts: send every row; cannot be undone'), @('--create-missing', 'create the entry of a pet that has none'), @('--max-changes', 'refuse a plan that changes more rows'), @('--max-delta', 'refuse a plan that changes one count by more'), @('--allow-zero', 'let more than half of the rows go to 0'), @('--restart', 'start anew, not where an unfinished run of the same input stopped'), @('--concurrency', 'requests in flight at a time (default 8)'), @('--rate', 'send at most n requests a second, retries included'), @('--max-retry-wait', 'stop when the service asks to wait longer (default 120s)'), @('--max-errors', 'stop when so many rows have failed (default 100)'), @('--fail-fast', 'stop at the first row that fails'), @('--verify', 'read every count back at the end'), @('--rejects', 'write rows that failed to this file (default <input>.rejects.<ext>)'), @('--events', 'write a JSON line for the outcome of every row'), @('--progress', 'how progress is shown'), @('--force', 'replace the files of --rejects and --events'))
    'inventory resume' = @(@('--dry-run', 'show the plan and write nothing'), @('--confirm', 'name of the profile, where it is protected'), @('--concurrency', 'requests in flight at a time (default 8)'), @('--rate', 'send at most n requests a second, retries included'), @('--max-retry-wait', 'stop when the service asks to wait longer (default 120s)'), @('--max-errors', 'stop when so many rows have failed (default 100)'), @('--fail-fast', 'stop at the first row that fails'), @('--verify', 'read every count back at the end'), @('--rejects', 'write rows that failed to this file (default <input>.rejects.<ext>)'), @('--events', 'write a JSON line for the outcome of every row'), @('--progress', 'how progress is shown'), @('--force', 'replace the files of --rejects and --events'))
    'inventory undo' = @(@('--dry-run', 'show the plan and write nothing'), @('--confirm', 'name of the profile, where it is protected'), @('--concurrency', 'requests in flight at a time (default 8)'), @('--rate', 'send at most n requests a second, retries included'), @('--max-retry-wait', 'stop when the service asks to wait longer (default 120s)'), @('--max-errors', 'stop when so many rows have failed (default 100)'), @('--fail-fast', 'stop at the first row that fails'), @('--verify', 'read every count back at the end'), @('--rejects', 'write rows that failed to this file (default <input>.rejects.<ext>)'), @('--events', 'write a JSON line for the outcome of every row'), @('--progress', 'how progress is shown'), @('--force', 'replace the files of --rejects and --events'))
    'api bind' = @(@('--map', 'say which operation of the description is meant; may be given again'), @('--dry-run', 'show what would be bound and store nothing'))
    'api request' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'), @('--field', 'add a query parameter or a field of the body; may be given again'), @('--input', 'send this file as the body; - reads it from stdin'), @('--include', 'print the status line and the headers too'))
    'api try' = @(@('--dry-run', 'print the request and send nothing'), @('--confirm', 'name of the profile, where it is protected'))
    'serve' = @(@('--port', 'port to listen on (default 4010); 0 takes a free one'), @('--host', 'address to listen on (default 127.0.0.1)'), @('--data', 'serve the shop that this file holds'), @('--save', 'save to the file of --data after writes and at the end; made where it is missing'), @('--empty', 'begin with an empty shop'), @('--pets', 'begin with a made-up shop of n pets'), @('--seed', 'number that the made-up shop and the faults follow from (default 1)'), @('--latency', 'wait this long before each answer'), @('--error-rate', 'answer this share of requests, 0 to 1, with 503'), @('--rate-limit', 'answer requests beyond this rate with 429 and Retry-After'), @('--sunset', 'when getPet ends, YYYY-MM-DD, in its Sunset header'), @('--read-only', 'answer every write with 405'), @('--log', 'one line per request on stderr'), @('--ready-file', 'write the URL to this file when the server accepts; removed at the end'))
    'smoke' = @(@('--wait', 'first wait up to this long for the service to answer below 500'), @('--write', 'also create, change and delete records of its own, and clean up'), @('--confirm', 'name of the profile, where it is protected and --write is given'), @('--only', 'run only these checks, as op or op/get*; may be given again'), @('--skip', 'leave these checks out; may be given again'), @('--fail-on', 'fail on warn or flaky too; may be given again'), @('--stability', 'all: count failures of beta and experimental operations too'), @('--samples', 'time this many calls of each GET (default 5)'), @('--max-latency', 'fail above this, as 300ms or 300ms,max: p50, p95 (default) or max'), @('--tls-min-days', 'fail when the certificate expires sooner (default 7)'), @('--report', 'junit=<file>, tap=<file>, json=<file> or github; may be given again'), @('--force', 'let a report replace a file that is not a report'), @('--dry-run', 'list the checks, send nothing'))
    'config init' = @(@('--name', 'name of the profile (default: default)'), @('--concurrency', 'requests in flight at a time, in bulk work'), @('--rate', 'requests a second at most, in bulk work'), @('--token-file', 'file that holds the token'), @('--token-command', 'command that prints the token, run without a shell'), @('--auth-header', 'header that carries the token'), @('--auth-scheme', 'word before the token; empty for the bare token'), @('--protected', 'whether every write asks for the profile''s name'))
    'profile create' = @(@('--use', 'make it the active one'), @('--concurrency', 'requests in flight at a time, in bulk work'), @('--rate', 'requests a second at most, in bulk work'), @('--token-file', 'file that holds the token'), @('--token-command', 'command that prints the token, run without a shell'), @('--auth-header', 'header that carries the token'), @('--auth-scheme', 'word before the token; empty for the bare token'), @('--protected', 'whether every write asks for the profile''s name'))
    'completion' = @(,@('--install', 'put the script where the shell looks for it; asks first'))
  }
  $globalFlags = @(@('--profile', 'use this profile'), @('--base-url', 'call the service at this address'), @('--offline', 'use the embedded store, no service'), @('--output', 'one of table, json, jsonl, csv, tsv, yaml, ids'), @('--json', 'short for -o json'), @('--fields', 'columns to show, in this order; help lists them'), @('--sort', 'sort by a field; -field for descending'), @('--no-header', 'leave out the header row'), @('--quiet', 'show no notices on stderr'), @('--verbose', 'one line per request on stderr; -vv adds headers'), @('--color', 'auto, always or never'), @('--timeout', 'deadline of a whole call, retries included (default 30s)'), @('--retries', 'retry a request at most n times (default 4)'), @('--header', 'add a header to every request'), @('--ca-cert', 'trust these authorities too (PEM)'), @('--client-cert', 'certificate to show to the service (PEM)'), @('--client-key', 'its private key (PEM)'), @('--allow-insecure-http', 'send the token over plain http too'), @('--yes', 'answer yes to confirmations'), @('--no-input', 'never ask'), @('--version', 'show the version'), @('--help', 'show help'))
  # -o and -O would be one key where keys ignore case.
  $values = New-Object System.Collections.Hashtable ([StringComparer]::Ordinal)
  $values['*/--profile'] = 'profiles'
  $values['*/--base-url'] = 'free'
  $values['*/--output'] = 'words table json jsonl csv tsv yaml ids'
  $values['*/-o'] = 'words table json jsonl csv tsv yaml ids'
  $values['*/--fields'] = 'free'
  $values['*/--sort'] = 'free'
  $values['*/--color'] = 'words auto always never'
  $values['*/--timeout'] = 'free'
  $values['*/--retries'] = 'free'
  $values['*/--header'] = 'free'
  $values['*/-H'] = 'free'
  $values['*/--ca-cert'] = 'file'
  $values['*/--client-cert'] = 'file'
  $values['*/--client-key'] = 'file'
  $values['pets list/--status'] = 'words available pending sold'
  $values['pets list/--category'] = 'categories'
  $values['pets list/--limit'] = 'free'
  $values['pets create/--confirm'] = 'profiles'
  $values['pets create/--name'] = 'free'
  $values['pets create/--category'] = 'categories'
  $values['pets create/--status'] = 'words available pending sold'
  $values['pets create/--from'] = 'file'
  $values['pets update/--confirm'] = 'profiles'
  $values['pets update/--name'] = 'free'
  $values['pets update/--category'] = 'categories'
  $values['pets update/--status'] = 'words available pending sold'
  $values['pets delete/--confirm'] = 'profiles'
  $values['categories list/--limit'] = 'free'
  $values['categories create/--confirm'] = 'profiles'
  $values['categories create/--name'] = 'free'
  $values['categories create/--description'] = 'free'
  $values['categories create/--from'] = 'file'
  $values['categories update/--confirm'] = 'profiles'
  $values['categories update/--name'] = 'free'
  $values['categories update/--description'] = 'free'
  $values['categories delete/--confirm'] = 'profiles'
  $values['orders list/--pet'] = 'free'
  $values['orders list/--limit'] = 'free'
  $values['orders create/--confirm'] = 'profiles'
  $values['orders create/--pet'] = 'free'
  $values['orders create/--quantity'] = 'free'
  $values['orders create/--ship-date'] = 'free'
  $values['orders create/--from'] = 'file'
  $values['orders update/--confirm'] = 'profiles'
  $values['orders update/--pet'] = 'free'
  $values['orders update/--quantity'] = 'free'
  $values['orders update/--ship-date'] = 'free'
  $values['orders complete/--confirm'] = 'profiles'
  $values['orders delete/--confirm'] = 'profiles'
  $values['inventory list/--status'] = 'words available pending sold'
  $values['inventory list/--below'] = 'free'
  $values['inventory list/--limit'] = 'free'
  $values['inventory set/--confirm'] = 'profiles'
  $values['inventory adjust/--confirm'] = 'profiles'
  $values['inventory create/--confirm'] = 'profiles'
  $values['inventory delete/--confirm'] = 'profiles'
  $values['inventory diff/--format'] = 'words csv json jsonl'
  $values['inventory diff/--delimiter'] = 'free'
  $values['inventory diff/--map'] = 'free'
  $values['inventory diff/--on-duplicate'] = 'words error first last'
  $values['inventory diff/--shard'] = 'free'
  $values['inventory diff/--concurrency'] = 'free'
  $values['inventory diff/--rate'] = 'free'
  $values['inventory diff/--max-retry-wait'] = 'free'
  $values['inventory apply/--confirm'] = 'profiles'
  $values['inventory apply/--format'] = 'words csv json jsonl'
  $values['inventory apply/--delimiter'] = 'free'
  $values['inventory apply/--map'] = 'free'
  $values['inventory apply/--on-duplicate'] = 'words error first last'
  $values['inventory apply/--shard'] = 'free'
  $values['inventory apply/--max-changes'] = 'free'
  $values['inventory apply/--max-delta'] = 'free'
  $values['inventory apply/--concurrency'] = 'free'
  $values['inventory apply/--rate'] = 'free'
  $values['inventory apply/--max-retry-wait'] = 'free'
  $values['inventory apply/--max-errors'] = 'free'
  $values['inventory apply/--rejects'] = 'file'
  $values['inventory apply/--events'] = 'file'
  $values['inventory apply/--progress'] = 'words auto bar plain json none'
  $values['inventory resume/--confirm'] = 'profiles'
  $values['inventory resume/--concurrency'] = 'free'
  $values['inventory resume/--rate'] = 'free'
  $values['inventory resume/--max-retry-wait'] = 'free'
  $values['inventory resume/--max-errors'] = 'free'
  $values['inventory resume/--rejects'] = 'file'
  $values['inventory resume/--events'] = 'file'
  $values['inventory resume/--progress'] = 'words auto bar plain json none'
  $values['inventory undo/--confirm'] = 'profiles'
  $values['inventory undo/--concurrency'] = 'free'
  $values['inventory undo/--rate'] = 'free'
  $values['inventory undo/--max-retry-wait'] = 'free'
  $values['inventory undo/--max-errors'] = 'free'
  $values['inventory undo/--rejects'] = 'file'
  $values['inventory undo/--events'] = 'file'
  $values['inventory undo/--progress'] = 'words auto bar plain json none'
  $values['api bind/--map'] = 'free'
  $values['api request/--confirm'] = 'profiles'
  $values['api request/--field'] = 'free'
  $values['api request/-f'] = 'free'
  $values['api request/--input'] = 'file'
  $values['api try/--confirm'] = 'profiles'
  $values['serve/--port'] = 'free'
  $values['serve/--host'] = 'free'
  $values['serve/--data'] = 'file'
  $values['serve/--pets'] = 'free'
  $values['serve/--seed'] = 'free'
  $values['serve/--latency'] = 'free'
  $values['serve/--error-rate'] = 'free'
  $values['serve/--rate-limit'] = 'free'
  $values['serve/--sunset'] = 'free'
  $values['serve/--ready-file'] = 'file'
  $values['smoke/--wait'] = 'free'
  $values['smoke/--confirm'] = 'profiles'
  $values['smoke/--only'] = 'free'
  $values['smoke/--skip'] = 'free'
  $values['smoke/--fail-on'] = 'words warn flaky'
  $values['smoke/--stability'] = 'words stable all'
  $values['smoke/--samples'] = 'free'
  $values['smoke/--max-latency'] = 'free'
  $values['smoke/--tls-min-days'] = 'free'
  $values['smoke/--report'] = 'free'
  $values['config init/--name'] = 'free'
  $values['config init/--concurrency'] = 'free'
  $values['config init/--rate'] = 'free'
  $values['config init/--token-file'] = 'file'
  $values['config init/--token-command'] = 'free'
  $values['config init/--auth-header'] = 'free'
  $values['config init/--auth-scheme'] = 'free'
  $values['config init/--protected'] = 'words true false'
  $values['profile create/--concurrency'] = 'free'
  $values['profile create/--rate'] = 'free'
  $values['profile create/--token-file'] = 'file'
  $values['profile create/--token-command'] = 'free'
  $values['profile create/--auth-header'] = 'free'
  $values['profile create/--auth-scheme'] = 'free'
  $values['profile create/--protected'] = 'words true false'
  $operands = @{
    'inventory diff' = 'file'
    'inventory apply' = 'file'
    'api bind' = 'file'
    'api request' = 'words GET HEAD OPTIONS POST PUT PATCH DELETE'
    'api try' = 'words listPets createPet getPet updatePet deletePet listCategories createCategory getCategory updateCategory deleteCategory listOrders createOrder getOrder updateOrder deleteOrder listInventory createInventory getInventory updateInventory deleteInventory'
    'config get' = 'words base-url output timeout retries concurrency rate color token-file token-command auth-header auth-scheme ca-cert client-cert client-key protected'
    'config set' = 'words base-url output timeout retries concurrency rate color token-file token-command auth-header auth-scheme ca-cert client-cert client-key protected'
    'config unset' = 'words base-url output timeout retries concurrency rate color token-file token-command auth-header auth-scheme ca-cert client-cert client-key protected'
    'config path' = 'words config state offline-store'
    'profile use' = 'profiles'
    'profile show' = 'profiles'
    'profile delete' = 'profiles'
    'completion' = 'words bash zsh fish powershell'
    'help' = 'words pets categories orders inventory api serve smoke config profile doctor completion help environment exit-codes formats'
  }

  $path = ''
  $flag = ''
  $target = @()
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
    ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { "$_" } })
  foreach ($word in $words) {
    if ($flag) {
      if ($flag -eq '--profile' -or $flag -eq '--base-url') { $target += $flag, $word }
      $flag = ''
    }
    elseif ($word -eq '--') { return }
    elseif ($word -match '^--(offline$|profile=|base-url=)') { $target += $word }
    elseif ($word.StartsWith('-')) {
      if ($values.ContainsKey("$path/$word") -or $values.ContainsKey("*/$word")) { $flag = $word }
    }
    elseif ($steps.ContainsKey("$path/$word")) { $path = $steps["$path/$word"] }
  }

  $given = ''
  $begun = $wordToComplete
  if (-not $flag -and $begun -match '^(--[\w-]+)=(.*)$') {
    $flag = $Matches[1]
    $given = "$flag="
    $begun = $Matches[2]
  }
  $begun = $begun -replace '^["'']', ''

  $spec = ''
  $offers = @()
  if ($flag) {
    $spec = if ($values.ContainsKey("$path/$flag")) { $values["$path/$flag"] } else { "$($values["*/$flag"])" }
  }
  elseif ($begun.StartsWith('-')) { $offers = @($flags[$path]) + $globalFlags }
  elseif ($commands.ContainsKey($path)) { $offers = $commands[$path] }
  elseif ($operands.ContainsKey($path)) { $spec = $operands[$path] }

  foreach ($offer in $offers) {
    if ($offer -and $offer[0].StartsWith($begun)) {
      [System.Management.Automation.CompletionResult]::new($offer[0], $offer[0], 'ParameterValue', $offer[1])
    }
  }

  $found = @()
  if ($spec.StartsWith('words ')) { $found = @($spec.Substring(6).Split(' ')) }
  elseif ($spec -eq 'profiles' -or $spec -eq 'categories') {
    $found = @(petstore completion values $spec @target 2>$null)
  }
  foreach ($value in $found) {
    if ($value -and $value.StartsWith($begun)) {
      $text = if ($value -match '^[\w./:+-]+$') { $value } else { "'" + $value.Replace("'", "''") + "'" }
      [System.Management.Automation.CompletionResult]::new($given + $text, $value, 'ParameterValue', $value)
    }
  }
}
