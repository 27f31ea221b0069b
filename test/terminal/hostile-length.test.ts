import { expect, test } from 'vitest';
import { printPets, rex, terminal } from '../helpers/print-pets.ts';

const length = 30_000;
const names = Object.entries({
  spaces: `${' '.repeat(length)}a`,
  words: 'a '.repeat(length / 2),
  letters: 'a'.repeat(length),
  slashes: '/'.repeat(length),
  controls: '\x1b'.repeat(length),
  emoji: '😀'.repeat(length / 2),
  families: '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'.repeat(length / 8),
  'accents on one letter': `e${'\u0301'.repeat(1000)}`,
});

test.each(names)(
  'a name that is nothing but %s, very many of them, is shown without delay',
  async (_, name) => {
    const started = performance.now();
    for (const run of [{}, terminal]) {
      const { stdout } = await printPets([[{ ...rex, name }]], { fields: ['id', 'name'] }, run);
      expect(stdout).toContain('id');
    }
    expect(performance.now() - started).toBeLessThan(5000);
  },
);

test('a long word is cut between the characters that a person sees', async () => {
  const family = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';
  const { stdout } = await printPets(
    [[{ ...rex, name: family.repeat(200) }]],
    { fields: ['name'] },
    terminal,
  );
  const shown = stdout.match(/\u{1f468}\u200d\u{1f469}\u200d\u{1f467}/gu);
  expect(shown).toHaveLength(200);
});
