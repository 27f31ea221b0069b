import { main } from './main.ts';
import { processIo } from './process/io.ts';

const io = processIo();
main(io.argv, io).then(io.flushThenExit);
