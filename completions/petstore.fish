# fish completion for petstore, generated from its command tree.
# Load it with:  petstore completion fish | source

function __petstore_step
    switch "$argv[1]/$argv[2]"
        case '/pets' '/pet'
            echo 'pets'
        case '/completion'
            echo 'completion'
        case '/help'
            echo 'help'
        case 'pets/list' 'pets/ls'
            echo 'pets list'
        case '*'
            return 1
    end
end

function __petstore_commands
    switch "$argv[1]"
        case ''
            printf '%s\t%s\n' 'pets' 'List, get, create, update and delete pets' 'completion' 'Print the completion script of a shell, or install it' 'help' 'Show help for a command or a topic'
        case 'pets'
            printf '%s\t%s\n' 'list' 'List pets'
        case '*'
            return 1
    end
end

function __petstore_flags
    switch "$argv[1]"
        case 'pets list'
            printf '%s\t%s\n' '--status' 'only pets of this status' '--limit' 'at most so many (default: all)'
        case 'completion'
            printf '%s\t%s\n' '--install' 'put the script where the shell looks for it; asks first'
    end
    printf '%s\t%s\n' '--profile' 'use this profile' '--base-url' 'call the service at this address' '--offline' 'use the embedded store, no service' '--output' 'one of table, json, jsonl, csv, tsv, yaml, ids' '--json' 'short for -o json' '--fields' 'columns to show, in this order; help lists them' '--sort' 'sort by a field; -field for descending' '--no-header' 'leave out the header row' '--quiet' 'no notices on stderr' '--verbose' 'one line per request on stderr; -vv adds headers' '--color' 'auto, always or never' '--timeout' 'deadline of a whole call, retries included (default 30s)' '--retries' 'most retries of one request (default 4)' '--header' 'add a header to every request' '--ca-cert' 'trust these authorities too (PEM)' '--client-cert' 'certificate to show to the service (PEM)' '--client-key' 'its private key (PEM)' '--allow-insecure-http' 'send the token over plain http too' '--yes' 'answer yes to confirmations' '--no-input' 'never ask' '--version' 'show the version' '--help' 'show help'
end

# What a flag of a command takes; fails where it takes nothing.
function __petstore_value
    switch "$argv[1]/$argv[2]"
        case '*/--profile'
            echo 'profiles'
        case '*/--base-url'
            echo 'free'
        case '*/--output' '*/-o'
            echo 'words table json jsonl csv tsv yaml ids'
        case '*/--fields'
            echo 'free'
        case '*/--sort'
            echo 'free'
        case '*/--color'
            echo 'words auto always never'
        case '*/--timeout'
            echo 'free'
        case '*/--retries'
            echo 'free'
        case '*/--header' '*/-H'
            echo 'free'
        case '*/--ca-cert'
            echo 'file'
        case '*/--client-cert'
            echo 'file'
        case '*/--client-key'
            echo 'file'
        case 'pets list/--status'
            echo 'words available pending sold'
        case 'pets list/--limit'
            echo 'free'
        case '*'
            return 1
    end
end

function __petstore_operand
    switch "$argv[1]"
        case 'completion'
            echo 'words bash zsh fish powershell'
    end
end

function __petstore_offer
    set -l spec (string split ' ' -- $argv[1])
    switch "$spec[1]"
        case file
            __fish_complete_path (commandline -ct)
        case profiles categories
            petstore completion values $spec[1] 2>/dev/null
        case words
            printf '%s\n' $spec[2..-1]
    end
end

function __petstore_complete
    set -l path ''
    set -l flag ''
    for word in (commandline -opc)[2..-1]
        if test -n "$flag"
            set flag ''
        else if test "$word" = --
            return
        else if string match -q -- '-*' $word
            __petstore_value "$path" $word >/dev/null; and set flag $word
        else if set -l next (__petstore_step "$path" $word)
            set path $next
        end
    end
    set -l current (commandline -ct)
    if test -n "$flag"
        __petstore_offer (__petstore_value "$path" $flag)
    else if string match -q -- '--*=*' $current
        set -l parts (string split -m 1 = -- $current)
        for value in (__petstore_offer (__petstore_value "$path" $parts[1]))
            echo "$parts[1]=$value"
        end
    else if string match -q -- '-*' $current
        __petstore_flags "$path"
    else
        __petstore_commands "$path"; or __petstore_offer (__petstore_operand "$path")
    end
end

complete -c petstore -f -a '(__petstore_complete)'
