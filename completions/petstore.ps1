# PowerShell completion for petstore, generated from its command tree.
# Load it with:  petstore completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName petstore -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)

  $steps = @{
    '/pets' = 'pets'
    '/pet' = 'pets'
    '/completion' = 'completion'
    '/help' = 'help'
    'pets/list' = 'pets list'
    'pets/ls' = 'pets list'
  }
  $commands = @{
    '' = @(@('pets', 'List, get, create, update and delete pets'), @('completion', 'Print the completion script of a shell, or install it'), @('help', 'Show help for a command or a topic'))
    'pets' = @(,@('list', 'List pets'))
  }
  $flags = @{
    'pets list' = @(@('--status', 'only pets of this status'), @('--limit', 'at most so many (default: all)'))
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
  $operands = @{
    'completion' = 'words bash zsh fish powershell'
  }

  $path = ''
  $flag = ''
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  foreach ($word in $words) {
    if ($flag) { $flag = '' }
    elseif ($word -eq '--') { return }
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
    $offers = @(petstore completion values $spec 2>$null) | ForEach-Object { ,@($_, $_) }
  }

  $offers | Where-Object { $_ -and $_[0].StartsWith($wordToComplete) } | ForEach-Object {
    $text = if ($_[0] -match '\s') { "'" + $_[0].Replace("'", "''") + "'" } else { $_[0] }
    [System.Management.Automation.CompletionResult]::new($text, $_[0], 'ParameterValue', $_[1])
  }
}
