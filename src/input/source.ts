import { type FileHandle, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CliError, UsageError } from '../errors.ts';
import { fileError, fileErrorReason } from '../file-error.ts';
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
  if (!found.isFile() || isOfProcess(absolute)) return spool(path, readFile(absolute, path, 'next'));
  return {
    name: path,
    path: absolute,
    bytes: () => readFile(absolute, path, 'own'),
    close: async () => {},
  };
}

/** `/dev/stdin`, `/dev/fd/63`: a name that means something else to the next process, even where a file is behind it. */
function isOfProcess(path: string): boolean {
  return /^\/(dev|proc)\//.test(path);
}

async function spool(name: string, bytes: AsyncIterable<Uint8Array>): Promise<Source> {
  const { file, remove } = await openTemporary(name);
  const close = async () => {
    await file.close().catch(() => {});
    await remove();
  };
  try {
    for await (const piece of bytes) await file.writeFile(piece);
  } catch (error) {
    await close();
    throw error instanceof CliError ? error : fileError('keep', name, error);
  }
  return { name, path: undefined, bytes: () => pieces(file, name, 'own'), close };
}

/** A file for what can be read only once. Its name goes at once, so that a kill leaves none behind; on Windows at the end. */
async function openTemporary(name: string): Promise<{ file: FileHandle; remove: () => Promise<void> }> {
  let remove = async () => {};
  try {
    const folder = await mkdtemp(join(tmpdir(), 'petstore-input-'));
    remove = () => rm(folder, { recursive: true, force: true }).catch(() => {});
    const file = await open(join(folder, 'input'), 'wx+', 0o600);
    await remove();
    return { file, remove };
  } catch (error) {
    await remove();
    throw new CliError('failed', `keep ${name} in ${tmpdir()}: ${fileErrorReason(error)}`, {
      hint: 'TMPDIR names another folder for temporary files',
      cause: error,
    });
  }
}

/** Where each piece is read: at a position of the reader's own, or where a pipe, which has none, goes on. */
type Position = 'own' | 'next';

async function* readFile(path: string, name: string, position: Position): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r').catch((error) => {
    throw fileError('read', name, error);
  });
  try {
    yield* pieces(file, name, position);
  } finally {
    await file.close();
  }
}

/** The bytes of a file from its start, all pieces in one buffer. */
async function* pieces(file: FileHandle, name: string, position: Position): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(pieceBytes);
  for (let at = 0; ; ) {
    const from = position === 'own' ? at : null;
    const { bytesRead } = await file.read(buffer, 0, pieceBytes, from).catch((error) => {
      throw fileError('read', name, error);
    });
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}
