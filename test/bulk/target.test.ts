import { expect, test } from 'vitest';
import { targetOf } from '../../src/bulk/target.ts';

test.each([
  '127.0.0.1',
  'LOCALHOST',
  'localhost.',
  '127.1',
  '2130706433',
  '[::1]',
  '[::]',
  '0.0.0.0',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  'shop.localhost',
])('a delivery to this machine has one target: %s', (host) => {
  expect(targetOf(`http://${host}:4010/v1/`)).toBe('http://localhost:4010/v1');
});

test('another host is another target', () => {
  expect(targetOf('http://10.0.0.1:4010')).toBe('http://10.0.0.1:4010');
  expect(targetOf('https://Shop.example.com.:443/')).toBe('https://shop.example.com');
});
