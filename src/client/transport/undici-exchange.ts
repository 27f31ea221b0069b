import type { Dispatcher } from 'undici';
import type { HttpResponse, SendOptions } from '../../api/http.ts';
import { Collector, type FieldReader } from './collect.ts';
import { toUnavailable } from './failure.ts';

/** How many exchanges have no connection yet. */
export class Waiting {
  count = 0;
}

interface Parts {
  readonly options: SendOptions;
  readonly waiting: Waiting;
  readonly fieldReader: FieldReader;
  resolve(response: HttpResponse): void;
  reject(error: unknown): void;
}

/** What undici calls for one request, by the interface that it uses inside, so that nothing is wrapped. */
export class Exchange implements Dispatcher.DispatchHandler {
  private readonly parts: Parts;
  private collector: Collector | undefined;
  private isWaiting = true;
  private sent = false;
  private abort: ((reason: Error) => void) | undefined;

  constructor(parts: Parts) {
    this.parts = parts;
    parts.waiting.count += 1;
    parts.options.cancellation.onCancel((reason) => {
      this.leaveQueue();
      this.abort?.(new Error('cancelled'));
      parts.reject(reason);
    });
  }

  onConnect(abort: (reason?: Error) => void): void {
    const { options } = this.parts;
    this.leaveQueue();
    this.abort = abort;
    // undici would send a request that waited for its connection longer than anybody waits for its answer.
    if (options.cancellation.isCancelled) {
      abort(new Error('cancelled'));
      return;
    }
    this.sent = true;
    options.onSending?.();
  }

  onHeaders(status: number, raw: Buffer[]): boolean {
    const { options, fieldReader } = this.parts;
    if (status >= 200) this.collector = new Collector(status, fieldReader.read(raw), options);
    return true;
  }

  onData(chunk: Buffer): boolean {
    const collector = this.collector;
    if (!collector || collector.add(chunk)) return true;
    if (collector.isError) this.parts.resolve(collector.response());
    else this.parts.reject(collector.tooLong());
    this.abort?.(new Error('the rest is not wanted'));
    return true;
  }

  onComplete(): void {
    if (this.collector) this.parts.resolve(this.collector.response());
  }

  onError(error: Error): void {
    this.leaveQueue();
    if (this.collector?.isError) this.parts.resolve(this.collector.response());
    else this.parts.reject(toUnavailable(error, { sent: this.sent }));
  }

  private leaveQueue(): void {
    if (this.isWaiting) this.parts.waiting.count -= 1;
    this.isWaiting = false;
  }
}
