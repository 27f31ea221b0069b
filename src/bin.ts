import { main } from './main.ts';
import { processArgv, processIo } from './process/io.ts';

const io = processIo();
main(processArgv(), io).then(io.flushThenExit);
