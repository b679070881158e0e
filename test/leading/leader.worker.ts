import { connect } from '../../src/connect/index.ts';
import type { Term } from '../../src/index.ts';
import { serve, tell } from '../kit/worker.ts';

const locks = await connect(process.env.URL!);
let stop = new AbortController();
let run: Promise<void> = Promise.resolve();

/** A process that leads when it is elected, and tells of it. */
const calls = {
  campaign(name: string, ttl: number, label: string): void {
    stop = new AbortController();
    run = locks.leader(name, { ttl, label, pause: { pause: 10 } }).run(
      async (term: Term) => {
        tell('elected', term.token);
        await new Promise((resolve) => term.signal.addEventListener('abort', resolve));
        tell('ended', { token: term.token, held: term.held });
      },
      { signal: stop.signal },
    );
  },
  async stop(): Promise<void> {
    stop.abort();
    await run;
  },
  current: (name: string) => locks.leader(name).current(),
};

export type LeaderCalls = typeof calls;
serve(calls);
