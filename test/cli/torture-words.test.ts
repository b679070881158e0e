import { expect, test } from 'vitest';
import { progressLine, words } from '../../products/cli/commands/torture.ts';

const totals = { holds: 1, wishes: 1, underFaults: 1, longestWait: 40, handOvers: 1, longestHandOver: 12.3 };
const faults = { kill: { done: 1, effective: 1 } };
const verdict = {
  outcome: 'kept',
  ended: 'time',
  engine: 'redis',
  ran: 1_000,
  broken: {},
  violations: [],
  missing: [],
};

test('one of a kind is told as one', () => {
  const counts = { overslept: 1, staleWrites: 1, staleRefused: 1, notes: [], again: '' };
  const told = words({ ...verdict, ...counts, totals, faults } as unknown as Parameters<typeof words>[0]).join('\n');
  for (const part of [
    '1 of 1 request got a lock',
    '1 fault hit something',
    '1 holder was stopped for longer than its lease',
    '1 write came late',
    '1 free key got its next holder within 13 ms',
  ])
    expect(told).toContain(part);
  const line = progressLine({ ran: 1_000, totals, faults, broken: {} } as unknown as Parameters<
    typeof progressLine
  >[0]);
  expect(line).toContain('  1 hold  ');
});

test('and several as several', () => {
  const more = { ...totals, holds: 1_200, wishes: 3_400, handOvers: 2 };
  const counts = { overslept: 0, staleWrites: 2, staleRefused: 0, notes: [], again: '' };
  const told = words({ ...verdict, ...counts, totals: more, faults: {} } as unknown as Parameters<typeof words>[0]);
  expect(told.join('\n')).toMatch(
    /1,200 of 3,400 requests got[\s\S]*0 faults hit[\s\S]*0 holders were stopped for longer than their leases[\s\S]*2 writes came[\s\S]*2 free keys got their next/,
  );
});
