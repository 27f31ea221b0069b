import { type FileHandle, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { UsageError } from '../errors.ts';
import { fileError } from '../files.ts';
import type { Io } from '../io.ts';

/** Small pieces make records that die young: a million rows take 1.1 s so, and 1.5 s by 256 KiB. */
const pieceBytes = 64 * 1024;

/** An input that can be read more than once. */
export interface Source {
  /** As errors call it: the path as it was given, or `stdin`. */
  readonly name: string;
  /** Absolute; undefined for what came through a pipe. */
  readonly path: string | undefined;
  /** From the first byte; each piece is valid until the next one is asked for. */
  bytes(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Opens a file, or stdin for `-`. What can be read only once (stdin, a pipe) goes to a temporary file first, which only
 * its owner may read and which is gone with the process, however that ends.
 *
 * @throws UsageError where the file is not there or is no file; CliError `failed` where it cannot be read.
 */
export async function openSource(io: Io, path: string): Promise<Source> {
  if (path === '-') return spool('stdin', io.stdin.bytes());
  const absolute = resolve(io.cwd, path);
  const found = await stat(absolute).catch((error) => {
    if (error.code === 'ENOENT') throw new UsageError(`${path}: no such file`);
    throw fileError('read', path, error);
  });
  if (found.isDirectory()) throw new UsageError(`${path}: is a folder`);
  if (!found.isFile()) return spool(path, readFile(absolute, path));
  return {
    name: path,
    path: absolute,
    bytes: () => readFile(absolute, path),
    close: async () => {},
  };
}

async function spool(name: string, bytes: AsyncIterable<Uint8Array>): Promise<Source> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-input-'));
  const path = join(folder, 'input');
  const file = await open(path, 'wx+', 0o600);
  const remove = () => rm(folder, { recursive: true, force: true }).catch(() => {});
  try {
    // Nothing but this process holds the file from here on, and a kill leaves none behind. Windows removes it at the end.
    await remove();
    for await (const piece of bytes) await file.writeFile(piece);
  } catch (error) {
    await file.close();
    await remove();
    throw fileError('keep', name, error);
  }
  return {
    name,
    path: undefined,
    bytes: () => pieces(file, name),
    async close() {
      await file.close().catch(() => {});
      await remove();
    },
  };
}

async function* readFile(path: string, name: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r').catch((error) => {
    throw fileError('read', name, error);
  });
  try {
    yield* pieces(file, name);
  } finally {
    await file.close();
  }
}

/** The bytes of a file from its start, all pieces in one buffer. */
async function* pieces(file: FileHandle, name: string): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(pieceBytes);
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(buffer, 0, pieceBytes, at).catch((error) => {
      throw fileError('read', name, error);
    });
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}
