import type { Tables } from './tables.ts';

/** Shell functions, the same in bash and zsh, that put what they find into REPLY. */
export function lookUps({ steps, values, operands }: Tables): string {
  const stepCases = steps.map(({ from, words, to }) =>
    toCase(
      words.map((word) => quote(`${from}/${word}`)),
      to,
    ),
  );
  const valueCases = values.map(({ path, flags, spec }) =>
    toCase(
      flags.map((flag) => valuePattern(path, flag)),
      spec,
    ),
  );
  const operandCases = operands.map(({ path, spec }) => toCase([quote(path)], spec));
  return `# The path that the word $2 leads to from the path $1; fails where it leads nowhere.
_petstore_step() {
  case "$1/$2" in
${stepCases.join('\n')}
    *) return 1 ;;
  esac
}

# What the flag $2 of the command $1 takes; fails where it takes nothing.
_petstore_value() {
  case "$1/$2" in
${valueCases.join('\n')}
    *) return 1 ;;
  esac
}

# What the operands of the command $1 take.
_petstore_operand() {
  case "$1" in
${operandCases.join('\n')}
    *) REPLY=free ;;
  esac
}`;
}

/** Text as one word of a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function toCase(patterns: readonly string[], reply: string): string {
  return `    ${patterns.join('|')}) REPLY=${quote(reply)} ;;`;
}

function valuePattern(path: string, flag: string): string {
  return path === '*' ? `*/${flag}` : quote(`${path}/${flag}`);
}
