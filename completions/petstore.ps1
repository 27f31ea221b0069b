# PowerShell completion for petstore, generated from its command tree.
# Load it with:  petstore completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName petstore -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)

  $steps = @{
    '/pets' = 'pets'
    '/pet' = 'pets'
    '/api' = 'api'
    '/serve' = 'serve'
    '/smoke' = 'smoke'
    '/completion' = 'completion'
    '/help' = 'help'
    'pets/list' = 'pets list'
    'pets/ls' = 'pets list'
    'api/operations' = 'api operations'
    'api/ls' = 'api operations'
    'api/spec' = 'api spec'
    'api/bind' = 'api bind'
    'api/unbind' = 'api unbind'
  }
  $commands = @{
    '' = @(@('pets', 'List, get, create, update and delete pets'), @('api', 'List the operations, bind to a service''s own description, send requests of your own'), @('serve', 'Serve the pet store from memory, on this machine'), @('smoke', 'Check a deployment'), @('completion', 'Print the completion script of a shell, or install it'), @('help', 'Show help for a command or a topic'))
    'pets' = @(,@('list', 'List pets'))
    'api' = @(@('operations', 'List the operations of the service and where each comes from'), @('spec', 'Print the OpenAPI 3.0.3 document of the service'), @('bind', 'Follow a service''s own OpenAPI description'), @('unbind', 'Go back to the built-in contract'))
  }
  $flags = @{
    'pets list' = @(@('--status', 'only pets of this status'), @('--limit', 'at most so many (default: all)'))
    'api bind' = @(@('--map', 'say which operation is meant; may be repeated'), @('--dry-run', 'show what would be bound and store nothing'))
    'serve' = @(@('--port', 'port to listen on (default 4010); 0 takes a free one'), @('--host', 'address to listen on (default 127.0.0.1)'), @('--data', 'serve the shop that this file holds'), @('--save', 'save to the file of --data after writes and at the end; a missing one is made'), @('--empty', 'begin with an empty shop'), @('--pets', 'begin with a made-up shop of n pets'), @('--seed', 'another made-up shop, other faults (default 1)'), @('--latency', 'wait so long before each answer'), @('--error-rate', 'answer this share of requests, 0 to 1, with 503'), @('--rate-limit', 'answer more requests a second with 429 and Retry-After'), @('--sunset', 'when getPet ends, YYYY-MM-DD, in its Sunset header'), @('--read-only', 'answer every write with 405'), @('--log', 'one line per request on stderr'), @('--ready-file', 'write the URL to this file when the server accepts; removed at the end'))
    'smoke' = @(@('--wait', 'first wait so long for the service to answer below 500'), @('--write', 'also create, change and delete records of its own, and clean up'), @('--confirm', 'the profile by name, where it is protected and --write is given'), @('--only', 'run only these checks, as op or op/get*; may be given again'), @('--skip', 'leave these checks out; may be given again'), @('--fail-on', 'fail on warn or flaky too; may be given again'), @('--stability', 'all: failures of beta and experimental operations count too'), @('--samples', 'timed calls of each GET (default 5)'), @('--max-latency', 'fail above this, as 300ms or 300ms,max: p50, p95 (default) or max'), @('--tls-min-days', 'fail when the certificate expires sooner (default 7)'), @('--report', 'junit=<file>, tap=<file>, json=<file> or github; may be given again'), @('--force', 'let a report replace a file that is none'), @('--dry-run', 'list the checks, send nothing'))
    'completion' = @(,@('--install', 'put the script where the shell looks for it; asks first'))
  }
  $globalFlags = @(@('--profile', 'use this profile'), @('--base-url', 'call the service at this address'), @('--offline', 'use the embedded store, no service'), @('--output', 'one of table, json, jsonl, csv, tsv, yaml, ids'), @('--json', 'short for -o json'), @('--fields', 'columns to show, in this order; help lists them'), @('--sort', 'sort by a field; -field for descending'), @('--no-header', 'leave out the header row'), @('--quiet', 'no notices on stderr'), @('--verbose', 'one line per request on stderr; -vv adds headers'), @('--color', 'auto, always or never'), @('--timeout', 'deadline of a whole call, retries included (default 30s)'), @('--retries', 'most retries of one request (default 4)'), @('--header', 'add a header to every request'), @('--ca-cert', 'trust these authorities too (PEM)'), @('--client-cert', 'certificate to show to the service (PEM)'), @('--client-key', 'its private key (PEM)'), @('--allow-insecure-http', 'send the token over plain http too'), @('--yes', 'answer yes to confirmations'), @('--no-input', 'never ask'), @('--version', 'show the version'), @('--help', 'show help'))
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
  $values['pets list/--limit'] = 'free'
  $values['api bind/--map'] = 'free'
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
  $values['smoke/--fail-on'] = 'free'
  $values['smoke/--stability'] = 'words stable all'
  $values['smoke/--samples'] = 'free'
  $values['smoke/--max-latency'] = 'free'
  $values['smoke/--tls-min-days'] = 'free'
  $values['smoke/--report'] = 'free'
  $operands = @{
    'api bind' = 'file'
    'completion' = 'words bash zsh fish powershell'
  }

  $path = ''
  $flag = ''
  $target = @()
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
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

  $spec = ''
  $offers = @()
  if ($flag) {
    $spec = if ($values.ContainsKey("$path/$flag")) { $values["$path/$flag"] } else { $values["*/$flag"] }
  }
  elseif ($wordToComplete.StartsWith('-')) { $offers = @($flags[$path]) + $globalFlags }
  elseif ($commands.ContainsKey($path)) { $offers = $commands[$path] }
  elseif ($operands.ContainsKey($path)) { $spec = $operands[$path] }

  if ($spec.StartsWith('words ')) { $offers = $spec.Substring(6).Split(' ') | ForEach-Object { ,@($_, $_) } }
  elseif ($spec -eq 'profiles' -or $spec -eq 'categories') {
    $offers = @(petstore completion values $spec @target 2>$null) | ForEach-Object { ,@($_, $_) }
  }

  $offers | Where-Object { $_ -and $_[0].StartsWith($wordToComplete) } | ForEach-Object {
    $text = if ($_[0] -match '\s') { "'" + $_[0].Replace("'", "''") + "'" } else { $_[0] }
    [System.Management.Automation.CompletionResult]::new($text, $_[0], 'ParameterValue', $_[1])
  }
}
