# What a real shell makes of each command line and a Tab: the words that it then gives to a command.
# Usage: HOME=<folder with .bashrc> ZDOTDIR=<folder with .zshrc> zsh -f type.zsh <bash|zsh> '<command line>'...
zmodload zsh/zpty
zpty shell "TERM=dumb $1 -i"
for line in "${@:2}"; do
  zpty -r shell out '*READY*'
  zpty -w shell "$line"$'\t\C-e\C-ashow '
  zpty -r shell out '*GIVEN*SHOWN'
  print -r -- "${${out##*GIVEN}%SHOWN}"
done
