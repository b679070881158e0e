import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';

test('on a machine with a long name, as macOS, the BSDs and Windows allow, locks are made without a label all the same', async () => {
  const own = os.hostname;
  os.hostname = () => `${'build-agent.'.repeat(15)}example.com`; // 191 characters: a DNS name may have 253
  syncBuiltinESMExports();
  try {
    const anew = '../../src/core/contract/option-table.ts?long';
    const { LayeredOptions } = (await import(anew)) as typeof import('../../src/core/contract/option-table.ts');
    expect(() => new LayeredOptions(memory().traits, {})).not.toThrow();
  } finally {
    os.hostname = own;
    syncBuiltinESMExports();
  }
});
