import { setTimeout as pass } from 'node:timers/promises';
import { connect } from '../../src/connect/index.ts';
import type { Lease } from '../../src/index.ts';
import { instrument } from '../../src/otel/index.ts';
import { serve } from '../kit/worker.ts';
import { metering } from './collected.ts';
import { tracing } from './traced.ts';

/** A service that traces its requests, and its locks. */
const locks = await connect(process.env.ENGINE!, { label: process.env.LABEL });
const { tracer, inside, spans } = tracing();
const { meter, collected } = metering();
const telemetry = instrument(locks, { tracer, meter });
let held: Lease | undefined;

const calls = {
  /** A request that takes the key, and keeps it. */
  acquire: (request: string, key: string) =>
    inside(request, async () => {
      held = await locks.mutex(key).acquire();
    }),
  /** A request that works under the lock for a while. */
  run: (request: string, key: string, ms: number) => inside(request, () => locks.mutex(key).run(() => pass(ms))),
  release: () => held?.release(),
  spans,
  collected,
  async close(): Promise<void> {
    await locks.close();
    telemetry.stop();
  },
};

export type Calls = typeof calls;

serve(calls);
