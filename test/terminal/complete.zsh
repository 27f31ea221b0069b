# What a real zsh offers at the end of each command line, ended by a NUL each.
# Usage: ZDOTDIR=<folder with a .zshrc that loads the script> zsh -f complete.zsh '<command line>'...
zmodload zsh/zpty
zpty shell "TERM=dumb ZDOTDIR=$ZDOTDIR zsh -i"
for line in "$@"; do
  zpty -r shell out '*READY*'
  zpty -w -n shell "$line"$'\t'
  zpty -w shell $'\C-e\C-u print -r DONE'
  zpty -r shell out '*DONE*DONE*'
  print -rN -- "$out"
done
