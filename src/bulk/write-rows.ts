import type { PetStatus } from '../api/schemas.ts';
import type { Client } from '../client/client.ts';
import { messageOf } from '../errors.ts';
import type { Ledger } from './ledger.ts';
import type { Outcome } from './outcome.ts';
import type { Pace } from './pace.ts';
import type { Stop } from './stop.ts';
import type { StopRules } from './stop-rules.ts';
import { type RowTarget, writeRow } from './write-row.ts';

/** How long what is in flight may go on when a run has stopped. */
const graceMs = 10_000;

interface Writing {
  readonly client: Client;
  readonly ledger: Ledger;
  readonly pace: Pace;
  readonly stop: Stop;
  readonly rules: StopRules;
  /** The rows to send, in order; no pet twice. */
  readonly rows: Iterator<number>;
  targetOf(row: number): RowTarget;
  /** Told of a row just before it is sent. */
  starting(row: number): void;
  /** Resolves when those who are told of outcomes can take more; undefined where they can. */
  ready(): Promise<void> | undefined;
  readPetStatus(petId: bigint): Promise<PetStatus>;
}

/** Sends the rows, as many at a time as the pace allows, until all are settled or the run stops; then nothing is in flight. */
export function writeRows(writing: Writing): Promise<void> {
  const { ledger, pace, stop, rows } = writing;
  return new Promise((resolve, reject) => {
    let inFlight = 0;
    let isDrained = false;
    const grace = startGrace(stop);
    const fail = (error: unknown) => {
      stop.stop({ kind: 'failed', message: messageOf(error) });
      stop.giveUp();
      reject(error);
    };
    const start = (row: number) => {
      inFlight += 1;
      writing.starting(row);
      send(writing, row)
        .then((outcome) => {
          inFlight -= 1;
          if (outcome) ledger.settle(row, outcome);
          fill();
        })
        .catch(fail);
    };
    const fill = () => {
      while (!isDrained && !stop.reason && inFlight < pace.limit) {
        const next = rows.next();
        if (next.done) isDrained = true;
        else start(next.value);
      }
      if (inFlight > 0) return;
      grace.end();
      resolve();
    };
    fill();
  });
}

function send(writing: Writing, row: number): Promise<Outcome | undefined> {
  const wait = writing.ready();
  const write = () => writeRow(writing, writing.targetOf(row));
  return wait ? wait.then(write) : write();
}

/** Gives up what is in flight some time after the run has stopped. */
function startGrace(stop: Stop) {
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    timer = setTimeout(() => stop.giveUp(), graceMs);
  };
  stop.stopped.addEventListener('abort', start, { once: true });
  return {
    end() {
      clearTimeout(timer);
      stop.stopped.removeEventListener('abort', start);
    },
  };
}
