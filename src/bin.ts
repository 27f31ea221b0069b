import { flushThenExit, processIo } from './io.ts';
import { main } from './main.ts';

main(process.argv.slice(2), processIo()).then(flushThenExit);
