# fish completion for petstore. Load it with:  petstore completion fish | source
# It asks petstore for the possible completions; fish itself matches what has been typed, and quotes.

function __petstore_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    # The part of the word that is kept: the values before a comma, or the dash of a flag. Any other word is given whole and
    # without quotes, because names are offered once a letter is typed.
    set -l current (string match -r -- '^[^"\'\\\\]*,|^-(?![^=]*=)' "$typed")
    or set current (string unescape -- (string trim -l -c '"\'' -- "$typed"))
    set -l offers (petstore __complete -- $words[2..-1] "$current" 2>/dev/null)
    if test "$offers[1]" != :file
        printf '%s\n' $offers
    else
        __fish_complete_path "$typed"
    end
end

complete -c petstore -f -a '(__petstore_complete)'
