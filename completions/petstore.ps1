# PowerShell completion for petstore. Load it with:  petstore completion powershell | Out-String | Invoke-Expression
# It asks petstore for all that may stand in the place, and matches and quotes what comes back.

Register-ArgumentCompleter -Native -CommandName petstore -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)

  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
    ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { "$_" } })
  $given = if ($wordToComplete -match '^--[\w-]+=') { $Matches[0] } else { '' }
  # Windows PowerShell drops an empty argument unless it is written as quotes.
  $current = if ($given) { $given } elseif ($wordToComplete.StartsWith('-')) { '-' } elseif ($wordToComplete -match '^\w+$') { $wordToComplete } else { '""' }
  if ($PSVersionTable.PSVersion.Major -ge 7 -and $current -eq '""') { $current = '' }
  $begun = $wordToComplete.Substring($given.Length) -replace '^["'']', ''

  foreach ($line in @(petstore __complete '--' @words $current 2>$null)) {
    if ($line -eq ':file') {
      [System.Management.Automation.CompletionCompleters]::CompleteFilename($begun)
      return
    }
    $value, $summary = $line -split "`t", 2
    $value = $value.Substring($given.Length)
    if (-not $value.StartsWith($begun, [System.StringComparison]::OrdinalIgnoreCase)) { continue }
    $text = if ($value -match '^[\w./:+-]+$') { $value } else { "'" + $value.Replace("'", "''") + "'" }
    $tip = if ($summary) { $summary } else { $value }
    [System.Management.Automation.CompletionResult]::new($given + $text, $value, 'ParameterValue', $tip)
  }
}
