import type { Offer, Tables } from './tables.ts';

/** The completion script for fish 3 and later. */
export function toFish(tables: Tables): string {
  return `# fish completion for petstore, generated from its command tree.
# Load it with:  petstore completion fish | source

function __petstore_step
    switch "$argv[1]/$argv[2]"
${tables.steps.map(({ from, words, to }) => `        case ${words.map((word) => quote(`${from}/${word}`)).join(' ')}\n            echo ${quote(to)}`).join('\n')}
        case '*'
            return 1
    end
end

function __petstore_commands
    switch "$argv[1]"
${tables.offers
  .filter(({ commands }) => commands.length > 0)
  .map(
    ({ path, commands }) =>
      `        case ${quote(path)}\n            printf '%s\\t%s\\n' ${describe(commands)}`,
  )
  .join('\n')}
        case '*'
            return 1
    end
end

function __petstore_flags
    switch "$argv[1]"
${tables.offers
  .filter(({ flags }) => flags.length > 0)
  .map(({ path, flags }) => `        case ${quote(path)}\n            printf '%s\\t%s\\n' ${describe(flags)}`)
  .join('\n')}
    end
    printf '%s\\t%s\\n' ${describe(tables.globalFlags)}
end

# What a flag of a command takes; fails where it takes nothing.
function __petstore_value
    switch "$argv[1]/$argv[2]"
${tables.values.map(({ path, flags, spec }) => `        case ${flags.map((flag) => quote(`${path}/${flag}`)).join(' ')}\n            echo ${quote(spec)}`).join('\n')}
        case '*'
            return 1
    end
end

function __petstore_operand
    switch "$argv[1]"
${tables.operands.map(({ path, spec }) => `        case ${quote(path)}\n            echo ${quote(spec)}`).join('\n')}
    end
end

# What may stand where $argv[1] is taken and $argv[2] has been typed.
function __petstore_offer
    set -l spec (string split ' ' -- $argv[1])
    switch "$spec[1]"
        case file
            __fish_complete_path $argv[2]
        case profiles categories
            petstore completion values $spec[1] $argv[3..-1] 2>/dev/null
        case words
            printf '%s\\n' $spec[2..-1]
    end
end

function __petstore_complete
    set -l path ''
    set -l flag ''
    set -l target
    for word in (commandline -opc)[2..-1]
        if test -n "$flag"
            contains -- $flag --profile --base-url; and set -a target $flag $word
            set flag ''
        else if test "$word" = --
            return
        else if string match -qr -- '^--(offline$|profile=|base-url=)' $word
            set -a target $word
        else if string match -q -- '-*' $word
            __petstore_value "$path" $word >/dev/null; and set flag $word
        else if set -l next (__petstore_step "$path" $word)
            set path $next
        end
    end
    set -l current (commandline -ct)
    if test -n "$flag"
        __petstore_offer (__petstore_value "$path" $flag) "$current" $target
    else if string match -q -- '--*=*' $current
        set -l parts (string split -m 1 = -- $current)
        for value in (__petstore_offer (__petstore_value "$path" $parts[1]) "$parts[2]" $target)
            echo "$parts[1]=$value"
        end
    else if string match -q -- '-*' $current
        __petstore_flags "$path"
    else
        __petstore_commands "$path"; or __petstore_offer (__petstore_operand "$path") "$current" $target
    end
end

complete -c petstore -f -a '(__petstore_complete)'
`;
}

function describe(offers: readonly Offer[]): string {
  return offers.flatMap(({ word, summary }) => [quote(word), quote(summary)]).join(' ');
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
