import { ownFlags } from './find.ts';
import { type Flag, nameOf } from './flag.ts';
import { globalFlags, helpFlag } from './global-flags.ts';
import { described, meaningOf, usageOf } from './help.ts';
import { type Program, root } from './program.ts';
import { type Topic, type TopicPart, topics } from './topics.ts';
import { type Action, type Group, isGroup, type Named } from './verb.ts';

/**
 * The manual page petstore(1) in roff, generated from the verbs and the help topics.
 *
 * @see man(7)
 */
export async function toManual(program: Program, version: string): Promise<string> {
  const commands = await Promise.all(
    program.entries.map(async (entry) => commandLines([entry.name], entry, await entry.load())),
  );
  const lines = [
    `.TH PETSTORE 1 "" "petstore ${roff(version)}" "User Commands"`,
    '.SH NAME',
    `petstore \\- ${roff(lowerFirst(root.summary))}`,
    '.SH SYNOPSIS',
    '.B petstore',
    '<noun> <verb> [arguments] [flags]',
    '.SH DESCRIPTION',
    ...description,
    '.SH COMMANDS',
    ...commands.flat(),
    '.SH GLOBAL FLAGS',
    'They stand before or after the noun and the verb.',
    ...[...Object.values(globalFlags), helpFlag].flatMap(flagLines),
    ...topicLines('OUTPUT FORMATS', topics.formats),
    ...topicLines('RECORDS', topics.records),
    ...topicLines('BULK INVENTORY', topics.bulk),
    ...topicLines('SMOKE CHECKS', topics.checks),
    ...topicLines('CONTINUOUS INTEGRATION', topics.ci),
    ...topicLines('EXIT STATUS', topics['exit-codes']),
    ...topicLines('ENVIRONMENT', topics.environment),
    '.SH FILES',
    'On Linux; `petstore config path` shows the paths.',
    ...files.flatMap(termLines),
    '.SH SEE ALSO',
    'petstore <command> \\-\\-help; jq(1), xargs(1)',
  ];
  return `${lines.join('\n')}\n`;
}

const description = [
  'Works with the records of a pet store service, from one to a million, for people at a terminal, for scripts and for CI.',
  'Data goes to stdout, and all else to stderr.',
  '.PP',
  roff(
    'Which service is meant is never guessed: it is that of --base-url, of a profile, or with --offline the embedded store.',
  ),
];

const files: readonly (readonly [string, string])[] = [
  ['~/.config/petstore/config.json', 'the profiles, and what holds for all of them'],
  [
    '~/.config/petstore/contract.json, contracts/',
    'what `petstore api bind` has learnt, without and with a profile',
  ],
  ['~/.local/state/petstore/offline-store.json', 'the embedded store; deleted, it starts again'],
  ['~/.local/state/petstore/runs/', 'the runs of inventory apply and undo, for resume and undo'],
];

/** A noun with its verbs, or a command that acts. */
function commandLines(path: readonly string[], named: Named, command: Action | Group): string[] {
  const heading = [`.SS ${roff(usageOf(path, command))}`, roff(described(named, command))];
  if (!isGroup(command)) return [...heading, ...detailLines(command)];
  return [...heading, ...exampleLines(command), ...verbLines(path, command)];
}

function verbLines(path: readonly string[], group: Group): string[] {
  return group.verbs.flatMap((verb) => {
    const place = [...path, verb.name];
    if (isGroup(verb))
      return [
        '.TP',
        `.B ${roff(usageOf(place, verb))}`,
        roff(described(verb, verb)),
        ...verbLines(place, verb),
      ];
    const [about = '', ...more] = described(verb, verb).split('\n');
    const aliases = (verb.aliases ?? []).map((alias) => ` (also ${alias})`);
    return [
      '.TP',
      `.B ${roff(usageOf(place, verb) + aliases.join(''))}`,
      roff(about),
      '.RS',
      ...paragraphs(more.join('\n')),
      ...detailLines(verb),
      '.RE',
    ];
  });
}

function detailLines(command: Action): string[] {
  return [
    ...Object.values(command.args ?? {}).flatMap((each) => termLines([`<${nameOf(each)}>`, meaningOf(each)])),
    ...Object.values(ownFlags(command)).flatMap(flagLines),
    ...exampleLines(command),
  ];
}

function exampleLines({ examples }: Action | Group): string[] {
  return examples.length > 0 ? ['.PP', '.EX', ...examples.map((example) => roff(`$ ${example}`)), '.EE'] : [];
}

function flagLines(flag: Flag): string[] {
  return termLines([flag.written, meaningOf(flag)]);
}

function termLines([term, meaning]: readonly [string, string]): string[] {
  return ['.TP', `.B ${roff(term)}`, roff(meaning)];
}

function topicLines(title: string, { parts }: Topic): string[] {
  return [`.SH ${title}`, ...parts.flatMap(partLines)];
}

function partLines(part: TopicPart): string[] {
  return typeof part === 'string' ? ['.PP', roff(part)] : part.flatMap(termLines);
}

/** Prose is filled; lists of terms, whose lines begin with a space, are not. */
function paragraphs(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [, term, meaning = ''] = /^ +(\S+) +(.*)$/.exec(line) ?? [];
    if (term !== undefined) return termLines([term, meaning]);
    return line === '' ? ['.PP'] : [roff(line)];
  });
}

/** Backslashes, hyphens, double quotes in what follows a macro, and a dot or quote at the start of a line mean something to roff. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replace(/^([.'])/gm, '\\&$1');
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
