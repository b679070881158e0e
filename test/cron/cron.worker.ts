import { Cron } from 'croner';
import cron from 'node-cron';
import { connect } from '../../src/connect/index.ts';
import { cronerTask, nodeCronCoordinator, nodeCronTask } from '../../src/cron/index.ts';
import { serve, tell } from '../kit/worker.ts';

const locks = await connect(process.env.URL!);
const ran = (how: string) => (tick: Date) => tell('ran', { how, tick: tick.getTime() });
const EACH_SECOND = '* * * * * *';

/** A process whose cron libraries are called at each tick, as are those of the others. */
const calls = {
  begin(): void {
    const byCoordinator = ran('node-cron, by its coordinator');
    cron.setRunCoordinator(nodeCronCoordinator(locks));
    cron.schedule(EACH_SECOND, ({ date }) => byCoordinator(date), { name: 'coordinated', distributed: true });
    const byTask = ran('node-cron, by a task');
    cron.schedule(
      EACH_SECOND,
      nodeCronTask(locks, 'task', ({ tick }) => byTask(tick)),
    );
    const byCroner = ran('croner');
    new Cron(
      EACH_SECOND,
      { timezone: 'America/New_York' },
      cronerTask(locks, 'croner', ({ tick }) => byCroner(tick)),
    );
  },
};
export type CronCalls = typeof calls;
serve(calls);
