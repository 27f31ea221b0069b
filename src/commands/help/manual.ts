import { type AnyCommand, aboutOf, type Option } from '../command.ts';
import { describe, meaningOf, ownFirst, usageOf } from './format-help.ts';
import { type Topic, type TopicPart, topics } from './topics.ts';

/**
 * The manual page petstore(1) in roff, made from the command tree and the topics of help.
 *
 * @see man(7)
 */
export function toManual(program: AnyCommand, version: string): string {
  const helper = program.createHelp();
  const globals = helper.visibleOptions(program);
  const lines = [
    `.TH PETSTORE 1 "" "petstore ${roff(version)}" "User Commands"`,
    '.SH NAME',
    `petstore \\- ${roff(lowerFirst(program.description()))}`,
    '.SH SYNOPSIS',
    '.B petstore',
    '<noun> <verb> [arguments] [flags]',
    '.SH DESCRIPTION',
    ...description,
    '.SH COMMANDS',
    ...helper.visibleCommands(program).flatMap((command) => commandLines(command, globals)),
    '.SH GLOBAL FLAGS',
    'They stand before or after the noun and the verb.',
    ...globals.flatMap(flagLines),
    ...topicLines('OUTPUT FORMATS', topics.formats),
    ...topicLines('EXIT STATUS', topics['exit-codes']),
    ...topicLines('ENVIRONMENT', topics.environment),
    '.SH FILES',
    'On Linux; `petstore config path` shows where they lie.',
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
  ['~/.local/state/petstore/completion/', 'category names for the shell, kept for a minute'],
];

/** A noun with its verbs, or a command that acts. */
function commandLines(command: AnyCommand, globals: readonly Option[]): string[] {
  const helper = command.createHelp();
  const verbs = helper.visibleCommands(command);
  const heading = [`.SS ${roff(usageOf(command))}`, roff(describe(command))];
  if (verbs.length > 0)
    return [...heading, ...exampleLines(command), ...verbs.flatMap((verb) => verbLines(verb, globals))];
  return [...heading, ...detailLines(command, globals)];
}

function verbLines(verb: AnyCommand, globals: readonly Option[]): string[] {
  const [about = '', ...more] = describe(verb).split('\n');
  const aliases = verb.aliases().map((alias) => ` (also ${alias})`);
  return [
    '.TP',
    `.B ${roff(usageOf(verb) + aliases.join(''))}`,
    roff(about),
    '.RS',
    ...paragraphs(more.join('\n')),
    ...detailLines(verb, globals),
    '.RE',
  ];
}

function detailLines(command: AnyCommand, globals: readonly Option[]): string[] {
  const helper = command.createHelp();
  const isGlobal = ({ long }: Option) => globals.some((each) => each.long === long);
  const flags = ownFirst(helper.visibleOptions(command)).filter((option) => !isGlobal(option));
  return [
    ...helper
      .visibleArguments(command)
      .flatMap((argument) => termLines([`<${argument.name()}>`, meaningOf(argument)])),
    ...flags.flatMap(flagLines),
    ...exampleLines(command),
  ];
}

function exampleLines(command: AnyCommand): string[] {
  const examples = aboutOf(command)?.examples ?? [];
  return examples.length > 0 ? ['.PP', '.EX', ...examples.map((example) => roff(`$ ${example}`)), '.EE'] : [];
}

function flagLines(option: Option): string[] {
  return termLines([option.flags, meaningOf(option)]);
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

/** Prose is filled; a list of terms, whose lines begin with a space, stays one. */
function paragraphs(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [, term, meaning = ''] = /^ +(\S+) +(.*)$/.exec(line) ?? [];
    if (term !== undefined) return termLines([term, meaning]);
    return line === '' ? ['.PP'] : [roff(line)];
  });
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
