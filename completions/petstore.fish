# fish completion for petstore, generated from its command tree.
# Load it with:  petstore completion fish | source

function __petstore_step
    switch "$argv[1]/$argv[2]"
        case '/pets' '/pet'
            echo 'pets'
        case '/api'
            echo 'api'
        case '/serve'
            echo 'serve'
        case '/smoke'
            echo 'smoke'
        case '/completion'
            echo 'completion'
        case '/help'
            echo 'help'
        case 'pets/list' 'pets/ls'
            echo 'pets list'
        case 'api/operations' 'api/ls'
            echo 'api operations'
        case 'api/spec'
            echo 'api spec'
        case 'api/bind'
            echo 'api bind'
        case 'api/unbind'
            echo 'api unbind'
        case '*'
            return 1
    end
end

function __petstore_commands
    switch "$argv[1]"
        case ''
            printf '%s\t%s\n' 'pets' 'List, get, create, update and delete pets' 'api' 'List the operations, bind to a service\'s own description, send requests of your own' 'serve' 'Serve the pet store from memory, on this machine' 'smoke' 'Check a deployment' 'completion' 'Print the completion script of a shell, or install it' 'help' 'Show help for a command or a topic'
        case 'pets'
            printf '%s\t%s\n' 'list' 'List pets'
        case 'api'
            printf '%s\t%s\n' 'operations' 'List the operations of the service and where each comes from' 'spec' 'Print the OpenAPI 3.0.3 document of the service' 'bind' 'Follow a service\'s own OpenAPI description' 'unbind' 'Go back to the built-in contract'
        case '*'
            return 1
    end
end

function __petstore_flags
    switch "$argv[1]"
        case 'pets list'
            printf '%s\t%s\n' '--status' 'only pets of this status' '--limit' 'at most so many (default: all)'
        case 'api bind'
            printf '%s\t%s\n' '--map' 'say which operation is meant; may be repeated' '--dry-run' 'show what would be bound and store nothing'
        case 'serve'
            printf '%s\t%s\n' '--port' 'port to listen on (default 4010); 0 takes a free one' '--host' 'address to listen on (default 127.0.0.1)' '--data' 'serve the shop that this file holds' '--save' 'save to the file of --data after writes and at the end; a missing one is made' '--empty' 'begin with an empty shop' '--pets' 'begin with a made-up shop of n pets' '--seed' 'another made-up shop, other faults (default 1)' '--latency' 'wait so long before each answer' '--error-rate' 'answer this share of requests, 0 to 1, with 503' '--rate-limit' 'answer more requests a second with 429 and Retry-After' '--sunset' 'when getPet ends, YYYY-MM-DD, in its Sunset header' '--read-only' 'answer every write with 405' '--log' 'one line per request on stderr' '--ready-file' 'write the URL to this file when the server accepts; removed at the end'
        case 'smoke'
            printf '%s\t%s\n' '--wait' 'first wait so long for the service to answer below 500' '--write' 'also create, change and delete records of its own, and clean up' '--confirm' 'the profile by name, where it is protected and --write is given' '--only' 'run only these checks, as op or op/get*; may be given again' '--skip' 'leave these checks out; may be given again' '--fail-on' 'fail on warn or flaky too; may be given again' '--stability' 'all: failures of beta and experimental operations count too' '--samples' 'timed calls of each GET (default 5)' '--max-latency' 'fail above this, as 300ms or 300ms,max: p50, p95 (default) or max' '--tls-min-days' 'fail when the certificate expires sooner (default 7)' '--report' 'junit=<file>, tap=<file>, json=<file> or github; may be given again' '--force' 'let a report replace a file that is none' '--dry-run' 'list the checks, send nothing'
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
        case 'api bind/--map'
            echo 'free'
        case 'serve/--port'
            echo 'free'
        case 'serve/--host'
            echo 'free'
        case 'serve/--data'
            echo 'file'
        case 'serve/--pets'
            echo 'free'
        case 'serve/--seed'
            echo 'free'
        case 'serve/--latency'
            echo 'free'
        case 'serve/--error-rate'
            echo 'free'
        case 'serve/--rate-limit'
            echo 'free'
        case 'serve/--sunset'
            echo 'free'
        case 'serve/--ready-file'
            echo 'file'
        case 'smoke/--wait'
            echo 'free'
        case 'smoke/--confirm'
            echo 'profiles'
        case 'smoke/--only'
            echo 'free'
        case 'smoke/--skip'
            echo 'free'
        case 'smoke/--fail-on'
            echo 'free'
        case 'smoke/--stability'
            echo 'words stable all'
        case 'smoke/--samples'
            echo 'free'
        case 'smoke/--max-latency'
            echo 'free'
        case 'smoke/--tls-min-days'
            echo 'free'
        case 'smoke/--report'
            echo 'free'
        case '*'
            return 1
    end
end

function __petstore_operand
    switch "$argv[1]"
        case 'api bind'
            echo 'file'
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
            petstore completion values $spec[1] $argv[2..-1] 2>/dev/null
        case words
            printf '%s\n' $spec[2..-1]
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
        __petstore_offer (__petstore_value "$path" $flag) $target
    else if string match -q -- '--*=*' $current
        set -l parts (string split -m 1 = -- $current)
        for value in (__petstore_offer (__petstore_value "$path" $parts[1]) $target)
            echo "$parts[1]=$value"
        end
    else if string match -q -- '-*' $current
        __petstore_flags "$path"
    else
        __petstore_commands "$path"; or __petstore_offer (__petstore_operand "$path") $target
    end
end

complete -c petstore -f -a '(__petstore_complete)'
