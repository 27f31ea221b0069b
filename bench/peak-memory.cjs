// Preload this file into a process to measure: at its end the process prints its peak of memory on stderr, in MB.
process.on('exit', () => {
  require('node:fs').writeSync(2, `peak ${Math.round(process.resourceUsage().maxRSS / 1024)} MB\n`);
});
