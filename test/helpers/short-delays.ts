import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

// Tests look at what is sent again, and seldom at when: the delays between the attempts of this process are a fiftieth of what they
// can be. Child processes wait as users do.

// Test files share a process, and each of them runs this file: only the first may shorten what Node gives.
const shared = globalThis as { wholeRandom?: () => number };
shared.wholeRandom ??= Math.random;
const { wholeRandom } = shared;
Math.random = () => wholeRandom() / 50;

// Nor does this process wait until a file is on the disk. The simulator says what a power cut takes away without that.
fs.fsyncSync = () => {};
syncBuiltinESMExports();
