// Preloaded into a process that is measured: says on stderr, when it ends, how many MB it held at most.
process.on('exit', () => {
  require('node:fs').writeSync(2, `peak ${Math.round(process.resourceUsage().maxRSS / 1024)} MB\n`);
});
