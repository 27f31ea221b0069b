import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAutosave } from '../../src/commands/serve/autosave.ts';

let saves: number[];
let failures: unknown[];
let isBroken: boolean;
let changing: { revision: number };

beforeEach(() => {
  vi.useFakeTimers();
  saves = [];
  failures = [];
  isBroken = false;
  changing = { revision: 0 };
});
afterEach(() => {
  vi.useRealTimers();
});

function create() {
  const save = async () => {
    if (isBroken) throw new Error('no space');
    saves.push(Date.now());
  };
  const autosave = createAutosave(changing, 0, save, (error) => failures.push(error));
  const changed = () => {
    changing.revision += 1;
    autosave.check();
  };
  return { ...autosave, changed };
}

test('saves soon after a change, and at most once a second', async () => {
  const autosave = create();
  const began = Date.now();
  for (let at = 0; at < 30; at += 1) {
    autosave.changed();
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(saves.map((time) => time - began)).toEqual([0, 1000, 2000, 3000]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(saves).toHaveLength(4);
});

test('closing saves what is not saved yet, and nothing else', async () => {
  const autosave = create();
  autosave.changed();
  await autosave.close();
  expect(saves).toHaveLength(1);
  await autosave.close();
  expect(saves).toHaveLength(1);
});

test('a save that fails is reported and tried again; if it still fails at the end, closing fails', async () => {
  const autosave = create();
  isBroken = true;
  autosave.changed();
  await vi.advanceTimersByTimeAsync(1500);
  expect(failures).toHaveLength(2);
  await expect(autosave.close()).rejects.toThrow('no space');
  isBroken = false;
  await autosave.close();
  expect(saves).toHaveLength(1);
});
