import type { Offer, Tables } from './tables.ts';

/** The completion script for PowerShell 5.1 and later. */
export function toPowershell(tables: Tables): string {
  return `# PowerShell completion for petstore, generated from its command tree.
# Load it with:  petstore completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName petstore -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)

  $steps = @{
${tables.steps.flatMap(({ from, words, to }) => words.map((word) => `    ${quote(`${from}/${word}`)} = ${quote(to)}`)).join('\n')}
  }
  $commands = @{
${tables.offers
  .filter(({ commands }) => commands.length > 0)
  .map(({ path, commands }) => `    ${quote(path)} = @(${describe(commands)})`)
  .join('\n')}
  }
  $flags = @{
${tables.offers
  .filter(({ flags }) => flags.length > 0)
  .map(({ path, flags }) => `    ${quote(path)} = @(${describe(flags)})`)
  .join('\n')}
  }
  $globalFlags = @(${describe(tables.globalFlags)})
  # -o and -O would be one key where keys ignore case.
  $values = New-Object System.Collections.Hashtable ([StringComparer]::Ordinal)
${tables.values.flatMap(({ path, flags, spec }) => flags.map((flag) => `  $values[${quote(`${path}/${flag}`)}] = ${quote(spec)}`)).join('\n')}
  $operands = @{
${tables.operands.map(({ path, spec }) => `    ${quote(path)} = ${quote(spec)}`).join('\n')}
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
  if (-not $flag -and $begun -match '^(--[\\w-]+)=(.*)$') {
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
      $text = if ($value -match '^[\\w./:+-]+$') { $value } else { "'" + $value.Replace("'", "''") + "'" }
      [System.Management.Automation.CompletionResult]::new($given + $text, $value, 'ParameterValue', $value)
    }
  }
}
`;
}

function describe(offers: readonly Offer[]): string {
  const rows = offers.map(({ word, summary }) => `@(${quote(word)}, ${quote(summary)})`).join(', ');
  // An array of one array would be taken for the inner one.
  return offers.length === 1 ? `,${rows}` : rows;
}

/** Text as one word of PowerShell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
