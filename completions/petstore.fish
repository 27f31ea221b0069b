# fish completion for petstore. Load it with:  petstore completion fish | source
# It asks petstore for the possible completions; fish itself matches what has been typed, and quotes.

function __petstore_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l flag (string match -r -- '^--[\w-]+=' "$typed")
    # The part of the word that is kept: the values before a comma, a flag and its =, or the dash of a flag. Any other word is
    # given whole and without quotes, because names are offered once a letter is typed.
    set -l current (string match -r -- '^[^"\'\\\\]*,|^--[\w-]+=|^-' "$typed")
    or set current (string unescape -- (string trim -l -c '"\'' -- "$typed"))
    set -l offers (petstore __complete -- $words[2..-1] "$current" 2>/dev/null)
    if test "$offers[1]" != :file
        printf '%s\n' $offers
    else if test -n "$flag"
        for path in (__fish_complete_path (string replace -- "$flag" '' "$typed"))
            echo "$flag$path"
        end
    else
        __fish_complete_path "$typed"
    end
end

complete -c petstore -f -a '(__petstore_complete)'
