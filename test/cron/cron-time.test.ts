import { CronJob } from 'cron';
import { expect, test } from 'vitest';
import { lastTime } from '../../src/cron/cron-time.ts';

const timeOf = (expression: string | Date, timeZone?: string) =>
  CronJob.from({ cronTime: expression, onTick: () => {}, timeZone }).cronTime;

test.each([
  ['on time', '*/5 * * * * *', 'UTC', '2026-05-04T03:00:05.000Z', '2026-05-04T03:00:05Z'],
  ['a little late', '*/5 * * * * *', 'UTC', '2026-05-04T03:00:05.950Z', '2026-05-04T03:00:05Z'],
  ['later than the next', '*/5 * * * * *', 'UTC', '2026-05-04T03:00:11.950Z', '2026-05-04T03:00:10Z'],
  ['a millisecond before the next', '*/5 * * * * *', 'UTC', '2026-05-04T03:00:04.999Z', '2026-05-04T03:00:00Z'],
  ['a daily job, hours late', '0 3 * * *', 'Europe/Berlin', '2026-05-04T05:00:00Z', '2026-05-04T01:00:00Z'],
  ['a yearly job', '0 0 1 1 *', 'UTC', '2026-11-22T00:00:00Z', '2026-01-01T00:00:00Z'],
  ['a leap day', '0 0 29 2 *', 'UTC', '2026-11-22T00:00:00Z', '2024-02-29T00:00:00Z'],
  ['the hour that is skipped', '30 2 * * *', 'America/New_York', '2026-03-08T07:00:02Z', '2026-03-08T07:00:00Z'],
  ['the hour that comes twice, first', '* * * * *', 'America/New_York', '2026-11-01T05:30:01Z', '2026-11-01T05:30:00Z'],
  ['the hour that comes twice, again', '* * * * *', 'America/New_York', '2026-11-01T06:30:01Z', '2026-11-01T06:30:00Z'],
])('the last time of a schedule: %s', (_title, expression, zone, at, expected) => {
  expect(lastTime(timeOf(expression, zone), new Date(at))?.toISOString()).toBe(new Date(expected).toISOString());
});

test('a job at a date, and one with an offset', () => {
  const date = new Date(Date.now() + 60_000);
  expect(lastTime(timeOf(date), new Date(date.getTime() + 5))).toEqual(date);
  const { cronTime } = CronJob.from({ cronTime: '0 3 * * *', onTick: () => {}, utcOffset: -90 });
  expect(lastTime(cronTime, new Date('2026-05-04T05:00:00Z'))?.toISOString()).toBe('2026-05-04T04:30:00.000Z');
});

test('however late they are called, instances name times of the schedule, and those called before the next name one', () => {
  const time = timeOf('7 */3 * * * *', 'UTC');
  const start = Date.parse('2026-05-04T03:00:07Z');
  for (let late = 0; late < 180_000; late += 1_733)
    expect(lastTime(time, new Date(start + late))?.getTime(), `${late} ms late`).toBe(start);
});
