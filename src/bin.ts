import { flushThenExit, processArgv, processIo } from './io.ts';
import { main } from './main.ts';

main(processArgv(), processIo()).then(flushThenExit);
