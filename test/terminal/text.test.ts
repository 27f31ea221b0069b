import { expect, test } from 'vitest';
import { minuteText, sanitize } from '../../src/process/text.ts';

test.each([
  ['\x1b[31m', '\\x1b[31m'],
  ['\x00\t\n\r\x7f', '\\x00\\x09\\x0a\\x0d\\x7f'],
  ['\x80\x9b\x9f', '\\x80\\x9b\\x9f'],
  ['\u061c\u200e\u200f\u202a\u202e\u2066\u2069', '\\u061c\\u200e\\u200f\\u202a\\u202e\\u2066\\u2069'],
  ['\u2028\u2029', '\\u2028\\u2029'],
  ['\ud800 \udc00 \ud83d\ude00', '\\ud800 \\udc00 😀'],
])('%j becomes visible', (text, shown) => {
  expect(sanitize(text)).toBe(shown);
});

const plain = ['Rex', '猫', 'é', 'e\u0301', '❤\ufe0f', 'Ω≈ç√', '\u00a0', '\\x1b'];
const joined = ['👩\u200d👩\u200d👧', '🧑🏽\u200d🚀', '🏳\ufe0f\u200d🌈', 'می\u200cخواهم', 'क्\u200dष'];

test.each([...plain, ...joined])('%j stays as it is', (text) => {
  expect(sanitize(text)).toBe(text);
});

test.each([
  [new Date(2026, 10, 24, 9, 5).toISOString(), '2026-11-24 09:05'],
  ['2026-12-02T00:00:00Z', '2026-12-02'],
  ['soon', 'soon'],
])('the moment %s is printed as %s, in the time zone of the process', (text, printed) => {
  expect(minuteText(text)).toBe(printed);
});
