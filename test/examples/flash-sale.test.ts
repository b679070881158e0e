import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { describeOn } from '../kit/suite.ts';

describeOn('redis', 'the flash sale', () => {
  test('sells too many without a lock, and right to the unit in every other way', { timeout: 60_000 }, async () => {
    const args = ['--units', '20', '--buyers', '40', '--ways', 'no lock,inside,one,20 segments,reserve'];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', 'examples/flash-sale/main.ts', ...args],
      { env: { ...process.env, NODE_OPTIONS: '' } },
    );
    expect(stdout, 'every buyer was told yes').toContain('no lock: sold 40 of 20 units: 20 too many');
    expect(stdout).toMatch(/a lock inside each process: sold \d+ of 20 units: \d+ too many/);
    expect(stdout.match(/: sold 20, right to the unit/g)).toHaveLength(4);
    expect(stdout).toContain('No lock of holdfast sold a unit too many');
  });
});
