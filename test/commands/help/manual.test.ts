import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { AnyCommand } from '../../../src/commands/command.ts';
import { usageOf } from '../../../src/commands/help/format-help.ts';
import { toManual } from '../../../src/commands/help/manual.ts';
import { createWholeProgram } from '../../../src/commands/program.ts';
import { createContext } from '../../../src/context.ts';
import { fakeIo } from '../../helpers/run-cli.ts';

const program = await createWholeProgram(createContext(fakeIo()));
const manual = toManual(program, '1.2.3');
const plain = manual.replaceAll('\\-', '-').replaceAll('\\e', '\\').replaceAll('\\&', '');

function* commandsOf(command: AnyCommand): Generator<AnyCommand> {
  yield command;
  for (const sub of command.createHelp().visibleCommands(command)) yield* commandsOf(sub);
}

test('the manual page has every command and every flag', () => {
  for (const command of commandsOf(program)) {
    if (command.parent) expect(plain).toContain(usageOf(command));
    for (const { flags } of command.createHelp().visibleOptions(command)) expect(plain).toContain(flags);
  }
});

test('the manual page has the sections that people look for', () => {
  const sections = [...plain.matchAll(/^\.SH (.*)$/gm)].map(([, title]) => title);
  expect(sections).toEqual(
    expect.arrayContaining([
      'NAME',
      'SYNOPSIS',
      'DESCRIPTION',
      'EXIT STATUS',
      'ENVIRONMENT',
      'FILES',
      'SEE ALSO',
    ]),
  );
});

test.runIf(spawnSync('groff', ['--version']).status === 0)(
  'groff reads the manual page without a warning',
  () => {
    const { status, stdout, stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww'], {
      input: manual,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('petstore');
  },
);
