import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { createMeasure } from '../../src/output/width.ts';

const family = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';

test.each([
  'é',
  'e\u0301',
  '漢字かな한국어',
  '\u1112\u1161\u11ab',
  '😀👍🏽',
  family,
  '🇩🇪🇫🇷',
  '1\ufe0f\u20e3',
  'ｶﾞ',
  'नमस्ते',
  'กำ',
  'Ψ…—Ж',
  '☃\ufe0f',
])('%s is as wide alone as among other characters', async (text) => {
  const measure = await createMeasure([text]);
  expect(measure(text)).toBe(stringWidth(text));
  const among = `a ${text.repeat(300)}😀`;
  expect(measure(among)).toBe(stringWidth(among));
});
