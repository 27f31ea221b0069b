import { type AnyCommand, aboutOf } from './command.ts';
import { type Flag, type Node, readTree, walk } from './completion/tree.ts';
import { topics } from './help-topics.ts';

/**
 * The manual page petstore(1) in roff, made from the command tree.
 *
 * @see man(7)
 */
export function toManual(program: AnyCommand, version: string): string {
  const tree = readTree(program);
  const lines = [
    `.TH PETSTORE 1 "" "petstore ${roff(version)}" "User Commands"`,
    '.SH NAME',
    `petstore \\- ${roff(lowerFirst(program.description()))}`,
    '.SH SYNOPSIS',
    '.B petstore',
    roff('<noun> <verb> [arguments] [flags]'),
    '.SH COMMANDS',
    ...[...walk(tree)]
      .filter(({ path }) => path.length > 0)
      .flatMap(({ path, node }) => commandLines(program, path, node)),
    '.SH GLOBAL FLAGS',
    ...tree.globalFlags.flatMap(flagLines),
    ...topics.flatMap(({ title, text }) => [
      `.SH ${roff(title.toUpperCase())}`,
      '.nf',
      roff(text).trimEnd(),
      '.fi',
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

function commandLines(program: AnyCommand, path: readonly string[], node: Node): string[] {
  const command = find(program, path);
  const operands = node.operands.map(({ name, variadic }) => `<${name}>${variadic ? '...' : ''}`);
  const usage = ['petstore', ...path, ...operands].join(' ');
  const examples = (command && aboutOf(command)?.examples) ?? [];
  if (node.commands.length > 0) return [`.SS ${roff(usage)}`, roff(node.summary)];
  return [
    '.TP',
    `.B ${roff(usage)}`,
    roff(node.summary),
    ...(node.flags.length > 0 ? ['.RS', ...node.flags.flatMap(flagLines), '.RE'] : []),
    ...examples.flatMap((example) => ['.RS', '.nf', roff(`$ ${example}`), '.fi', '.RE']),
  ];
}

function flagLines({ long, short, summary }: Flag): string[] {
  return ['.TP', `.B ${roff(short ? `${short}, ${long}` : long)}`, roff(summary)];
}

function find(program: AnyCommand, path: readonly string[]): AnyCommand | undefined {
  let command: AnyCommand | undefined = program;
  for (const word of path) command = command?.commands.find((sub) => sub.name() === word);
  return command;
}

/** Backslashes, hyphens and a dot or quote at the start of a line mean something to roff. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
