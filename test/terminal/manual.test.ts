import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { usageOf } from '../../src/cli/help.ts';
import { toManual } from '../../src/cli/manual.ts';
import { readTopics } from '../../src/cli/topics.ts';
import { commandsOf, flagsOf } from '../../src/cli/verb.ts';
import { program } from '../../src/commands/index.ts';
import { testWith } from '../helpers/tools.ts';

const manual = await toManual(program, '1.2.3');
const plain = manual.replaceAll('\\-', '-').replaceAll('\\e', '\\').replaceAll('\\&', '');

test('the manual page has every command and every flag', async () => {
  for await (const { path, command } of commandsOf(program)) {
    expect(plain).toContain(usageOf(path, command));
    for (const { syntax } of Object.values(flagsOf(command))) expect(plain).toContain(syntax);
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

test('the manual page has every topic of help', async () => {
  for (const { title, blocks } of Object.values(await readTopics())) {
    const terms = blocks.flatMap((block) =>
      typeof block !== 'string' && 'items' in block ? block.items.map(([term]) => term) : [],
    );
    for (const term of terms) expect(plain, title).toContain(term.replaceAll('"', '\\(dq'));
  }
});

testWith('groff')('groff reads the manual page without a warning', () => {
  const { status, stdout, stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww'], {
    input: manual,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain('petstore');
});
