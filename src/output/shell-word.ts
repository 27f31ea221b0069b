/** Text as one word of a POSIX shell, in quotes where it needs them: for commands that a hint shows to be copied. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
