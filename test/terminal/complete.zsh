# What a real zsh offers at the end of a command line.
# Usage: ZDOTDIR=<folder with a .zshrc that loads the script> zsh -f complete.zsh '<command line>'
zmodload zsh/zpty
zpty shell "TERM=dumb ZDOTDIR=$ZDOTDIR zsh -i"
zpty -r shell out '*READY*'
zpty -w -n shell "$1"$'\t'
zpty -w shell $'\C-e\C-u print -r DONE'
zpty -r shell out '*DONE*DONE*'
print -r -- "$out"
