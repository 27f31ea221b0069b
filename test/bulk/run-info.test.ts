import { existsSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readRunInfo } from '../../src/bulk/run-info.ts';
import { RunStore } from '../../src/bulk/run-store.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const openFiles = '/proc/self/fd';

/** A store whose last lines cannot be read. */
class BrokenStore extends RunStore {
  override pathOf(run: string): string {
    return `${super.pathOf(run)}.gone`;
  }

  override open(run: string) {
    return new RunStore(`${this.folder}/..`).open(run);
  }
}

/** Files in the folder that this process holds open. */
function heldOpen(folder: string): string[] {
  return readdirSync(openFiles).flatMap((name) => {
    try {
      const path = readlinkSync(`${openFiles}/${name}`);
      return path.startsWith(folder) ? [path] : [];
    } catch {
      return [];
    }
  });
}

test.runIf(existsSync(openFiles))(
  'leaves no file open where the end of a journal cannot be read',
  async () => {
    const folder = temporaryFolder();
    mkdirSync(`${folder}/runs`);
    writeFileSync(`${folder}/runs/some.jsonl`, '{"journal":1,"rows":0,"started":"2026-01-01T00:00:00Z"}\n');
    await expect(readRunInfo(new BrokenStore(folder), 'some')).rejects.toThrow('some.jsonl.gone');
    expect(heldOpen(folder)).toEqual([]);
  },
);
