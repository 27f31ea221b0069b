import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Starts `petstore serve` with a store of `pets` pets, and returns its URL and a function that stops it. */
export async function startServer(pets) {
  const words = ['serve', '--port', '0', '--pets', String(pets)];
  const child = spawn(process.execPath, ['bin/petstore.js', ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const stop = async () => {
    child.kill('SIGTERM');
    await once(child, 'close');
  };
  return { url: String(line).trim(), stop };
}
