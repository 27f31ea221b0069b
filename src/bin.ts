import { processArgv, processIo } from './io.ts';
import { main } from './main.ts';

const io = processIo();
main(processArgv(), io).then(io.flushThenExit);
