/** Schedules that were found to show a planted bug (test/simulation/mutants.ts), each as short as it was found. */
export interface Counterexample {
  readonly bug: string;
  readonly plot: string;
  readonly schedule: string;
}

export const COUNTEREXAMPLES: readonly Counterexample[] = [
  {
    bug: 'counts the deadline from the reply',
    plot: 'work as long as the lease',
    schedule: [
      'deliver p0>s0.1; deliver p1>s0.1; deliver s0>p0.1; deliver s0>p1.1; deliver p0>s0.2',
      'deliver p1>s0.2; pause p0; deliver s0>p1.2; deliver p1>s0.3; deliver s0>p1.3; deliver p1>s0.4',
      'deliver s0>p1.4; time; deliver p1>s0.5; deliver s0>p1.5; time; time; time; deliver p1>s0.6',
      'deliver s0>p1.6; time; deliver p1>s0.7; deliver s0>p1.7; time; time; deliver p1>s0.8',
      'deliver s0>p1.8; time; deliver p1>s0.9; deliver s0>p1.9; deliver s0>p1.10; resume p0',
    ].join('; '),
  },
  {
    bug: 'extends twice at once',
    plot: 'two extensions at once',
    schedule: [
      'deliver p0>s0.1; deliver p1>s0.1; deliver s0>p0.1; deliver s0>p1.1; deliver p0>s0.2',
      'deliver p1>s0.2; deliver s0>p0.2; deliver s0>p1.2; hold p0>s0.3; deliver p0>s0.4',
      'deliver p1>s0.3; deliver s0>p0.3; deliver s0>p1.3; deliver p1>s0.4; deliver s0>p1.4; time',
      'deliver p1>s0.5; deliver s0>p1.5; time; time; time; deliver p1>s0.6; deliver s0>p1.6; time',
      'deliver p0>s0.3',
    ].join('; '),
  },
  {
    bug: 'says of a late release that it was in time',
    plot: 'maxHold',
    schedule: [
      'deliver p0>s0.1; deliver p1>s0.1; deliver s0>p0.1; deliver s0>p1.1; deliver p0>s0.2',
      'deliver p1>s0.2; deliver s0>p0.2; deliver s0>p1.2; deliver p1>s0.3; deliver s0>p1.3',
      'deliver p1>s0.4; deliver s0>p1.4; time; deliver p1>s0.5; deliver s0>p1.5; time; deliver p0>s0.3',
      'deliver s0>p0.3; time; time; time; deliver p1>s0.6; deliver s0>p1.6; time; time; deliver p1>s0.7',
      'deliver s0>p1.7; time; pause p0',
    ].join('; '),
  },
  {
    bug: 'knows a loss only from its timer',
    plot: 'a mutex',
    schedule: [
      'deliver p0>s0.1; deliver p1>s0.1; deliver s0>p0.1; deliver s0>p1.1; deliver p0>s0.2',
      'deliver p1>s0.2; deliver s0>p0.2; deliver s0>p1.2; pause p0',
    ].join('; '),
  },
  {
    bug: 'leaves no margin for clocks that go wrong',
    plot: 'a mutex where nobody is woken',
    schedule: [
      'deliver p0>s0.1; deliver p1>s0.1; deliver s0>p0.1; deliver s0>p1.1; deliver p0>s0.2',
      'deliver p1>s0.2; deliver s0>p0.2; deliver s0>p1.2; pause p0',
    ].join('; '),
  },
  {
    bug: 'hands over with the same token',
    plot: 'hand-off',
    schedule: '',
  },
  {
    bug: 'lets two children in together',
    plot: 're-entrance, children side by side',
    schedule: '',
  },
];
