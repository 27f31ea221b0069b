import type { Help } from 'commander';
import { type AnyCommand, aboutOf } from './command.ts';
import { lifeCycleMark } from './life-cycle-mark.ts';

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
    `${describe(command)}\n`,
    `${helper.styleTitle('Usage:')}\n  ${usageOf(command)}\n`,
    ...examplesOf(command, helper),
    ...sections.map((section) => formatSection(section, width, helper)),
    `${footerOf(command)}\n`,
  ].join('\n');
}

function describe(command: AnyCommand): string {
  const operation = aboutOf(command)?.operation;
  const mark = operation ? lifeCycleMark(operation) : '';
  return mark === '' ? command.description() : `${command.description()} ${mark}`;
}

function usageOf(command: AnyCommand): string {
  const names: string[] = [];
  for (let at: AnyCommand | null = command; at; at = at.parent) names.unshift(at.name());
  return `${names.join(' ')} ${command.usage().replace('[options]', '[flags]')}`;
}

function examplesOf(command: AnyCommand, helper: Help): string[] {
  const examples = aboutOf(command)?.examples ?? [];
  if (examples.length === 0) return [];
  return [`${helper.styleTitle('Examples:')}\n${examples.map((example) => `  ${example}\n`).join('')}`];
}

function sectionsOf(command: AnyCommand, helper: Help): Section[] {
  const operands = helper
    .visibleArguments(command)
    .map((argument) => [helper.argumentTerm(argument), helper.argumentDescription(argument)] as const);
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
    ...(command.parent && command.commands.length > 0 ? [] : [...flags])
      .sort(([a], [b]) => Number(a === 'Global flags:') - Number(b === 'Global flags:'))
      .map(([title, options]) => ({
        title,
        items: options.map((option) => [flagTerm(option.flags), helper.optionDescription(option)] as const),
      })),
  ];
  return sections.filter(({ items }) => items.length > 0);
}

function subItem(sub: AnyCommand): readonly [string, string] {
  const operation = aboutOf(sub)?.operation;
  const mark = operation ? lifeCycleMark(operation) : '';
  return [[sub.name(), ...sub.aliases()].join(', '), `${sub.summary()} ${mark}`.trim()];
}

/** Long flags stand under each other, whether they have a short form or not. */
function flagTerm(flags: string): string {
  return flags.startsWith('--') ? `    ${flags}` : flags;
}

function formatSection({ title, items }: Section, width: number, helper: Help): string {
  const lines = items.map(([term, meaning]) => helper.formatItem(term, width, meaning, helper));
  return `${helper.styleTitle(title)}\n${lines.join('\n')}\n`;
}

function footerOf(command: AnyCommand): string {
  if (!command.parent)
    return 'petstore <command> --help tells more; so does petstore help environment, exit-codes or formats.';
  if (command.commands.length > 0) return `petstore ${command.name()} <verb> --help shows a verb's flags.`;
  return 'petstore help environment, exit-codes and formats tell what holds for every command.';
}
