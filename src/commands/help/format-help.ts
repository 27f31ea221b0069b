import type { Help, Option } from 'commander';
import { fold, leastRoom } from '../../output/fold.ts';
import { type AnyCommand, aboutOf } from '../command.ts';
import { lifecycleMark } from './lifecycle-mark.ts';

/** Terms with what they mean, under a title. */
interface Section {
  readonly title: string;
  readonly items: readonly (readonly [term: string, meaning: string])[];
}

/** Help as people read it: what it does, how it is written, examples, and only then every flag. */
export function formatHelp(command: AnyCommand, helper: Help): string {
  const sections = sectionsOf(command, helper);
  const width = Math.max(0, ...sections.flatMap(({ items }) => items.map(([term]) => term.length)));
  return [
    `${foldProse(describe(command), helper)}\n`,
    `${helper.styleTitle('Usage:')}\n  ${usageOf(command)}\n`,
    ...examplesOf(command, helper),
    ...sections.map((section) => formatSection(section, width, helper)),
    `${foldProse(footerOf(command, helper), helper)}\n`,
  ].join('\n');
}

export function describe(command: AnyCommand): string {
  return `${command.description()} ${markOf(command)}`.trimEnd();
}

function markOf(command: AnyCommand): string {
  const operation = aboutOf(command)?.operation;
  return operation ? lifecycleMark(operation) : '';
}

/** Titles are bold; on a stream that shows no style, `showHelp` drops that. */
export function styleTitle(title: string): string {
  return `\x1b[1m${title}\x1b[22m`;
}

/** The meaning of a term in a list is folded under itself. */
function foldProse(text: string, { helpWidth: columns }: Help): string {
  const foldLine = (line: string) => {
    const term = /^ +\S+ +/.exec(line)?.[0] ?? '';
    return term + fold(line.slice(term.length), { columns, indent: term.length });
  };
  return text.split('\n').map(foldLine).join('\n');
}

export function usageOf(command: AnyCommand): string {
  const names: string[] = [];
  for (let at: AnyCommand | null = command; at; at = at.parent) names.unshift(at.name());
  return `${names.join(' ')} ${command.usage().replace('[options]', '[flags]')}`;
}

const firstExamples = [
  'petstore --offline pets list',
  'petstore profile create shop --base-url https://petstore.example.com',
  'petstore pets list --status available -o json',
  'petstore inventory apply stock.csv',
];

function examplesOf(command: AnyCommand, helper: Help): string[] {
  const examples = command.parent ? (aboutOf(command)?.examples ?? []) : firstExamples;
  if (examples.length === 0) return [];
  return [`${helper.styleTitle('Examples:')}\n${examples.map((example) => `  ${example}\n`).join('')}`];
}

function sectionsOf(command: AnyCommand, helper: Help): Section[] {
  const operands = helper
    .visibleArguments(command)
    .map((argument) => [helper.argumentTerm(argument), meaningOf(argument)] as const);
  const flags = helper.groupItems(
    [...command.options],
    helper.visibleOptions(command),
    (option) => option.helpGroupHeading ?? 'Flags:',
  );
  const commands = helper.groupItems(
    [...command.commands],
    helper.visibleCommands(command),
    (sub) => sub.helpGroup() || 'Commands:',
  );
  const sections: Section[] = [
    { title: 'Arguments:', items: operands },
    ...[...commands].map(([title, subs]) => ({ title, items: subs.map(subItem) })),
    // A noun's help is about its verbs; what every verb takes stands in the verb's own help.
    ...(command.parent && helper.visibleCommands(command).length > 0 ? [] : [...flags])
      .sort(([one], [other]) => placeOf(one) - placeOf(other))
      .map(([title, options]) => ({
        title,
        items: ownFirst(options).map((option) => [flagTerm(option.flags), meaningOf(option)] as const),
      })),
  ];
  return sections.filter(({ items }) => items.length > 0);
}

/** Flags that have no group stand first, those of every command last. */
function placeOf(title: string): number {
  if (title === 'Flags:') return 0;
  return title === 'Global flags:' ? 2 : 1;
}

const ofManyCommands = ['--dry-run', '--confirm', '--help'];

/** What only this command takes, then what others take too. */
export function ownFirst(options: readonly Option[]): Option[] {
  const isOfMany = ({ long }: Option) => ofManyCommands.includes(long ?? '');
  return [...options.filter((option) => !isOfMany(option)), ...options.filter(isOfMany)];
}

export function meaningOf({ description, argChoices }: Pick<Option, 'description' | 'argChoices'>): string {
  return argChoices ? `${description} (one of ${argChoices.join(', ')})` : description;
}

function subItem(sub: AnyCommand): readonly [string, string] {
  return [[sub.name(), ...sub.aliases()].join(', '), `${sub.summary()} ${markOf(sub)}`.trimEnd()];
}

/** Long flags stand under each other, whether they have a short form or not. */
function flagTerm(flags: string): string {
  return flags.startsWith('--') ? `    ${flags}` : flags;
}

function formatSection({ title, items }: Section, width: number, helper: Help): string {
  const columns = helper.helpWidth ?? 80;
  const besideWidth = width + 4;
  const isBeside = columns - besideWidth >= leastRoom;
  const indent = isBeside ? besideWidth : 8;
  const gap = (term: string) => (isBeside ? ' '.repeat(width - term.length + 2) : `\n${' '.repeat(indent)}`);
  const lines = items.map(([term, meaning]) => `  ${term}${gap(term)}${fold(meaning, { columns, indent })}`);
  return `${helper.styleTitle(title)}\n${lines.join('\n')}\n`;
}

function footerOf(command: AnyCommand, helper: Help): string {
  if (!command.parent)
    return 'petstore <command> --help tells more; so does petstore help environment, exit-codes or formats.';
  if (helper.visibleCommands(command).length > 0)
    return `petstore ${command.name()} <verb> --help shows a verb's flags.`;
  return 'petstore help environment, exit-codes and formats tell what holds for every command.';
}
