import { expect, test } from 'vitest';
import { type Danger, findingsOf } from '../../src/backends/shared/danger.ts';

test('what is found is what the facts say, in words of its own', () => {
  const advice = 'look';
  const dangers: Danger<{ readonly replicas: number }>[] = [
    {
      code: 'none',
      severity: 'danger',
      advice,
      when: ({ replicas }) => replicas === 0,
      message: 'there is no replica',
    },
    {
      code: 'some',
      severity: 'warning',
      advice,
      when: ({ replicas }) => replicas > 0,
      message: ({ replicas }) => `${replicas} lag`,
    },
    { code: 'always', severity: 'info', advice, when: () => true, message: 'as ever' },
  ];
  expect(findingsOf(dangers, { replicas: 2 })).toEqual([
    { code: 'some', severity: 'warning', advice, message: '2 lag' },
    { code: 'always', severity: 'info', advice, message: 'as ever' },
  ]);
});
