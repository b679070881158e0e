// Engines without a server.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export async function open({ client }) {
  if (client === 'memory') {
    const { memory } = await import('holdfast/memory');
    const shared = memory();
    return { shared: true, backend: async () => ({ backend: shared }) };
  }
  const { file } = await import('holdfast/file');
  const folder = mkdtempSync(join(tmpdir(), 'hf-'));
  const path = join(folder, 'locks.db');
  return {
    backend: async (prefix) => ({ backend: file({ path, prefix }) }),
    end: () => rmSync(folder, { recursive: true, force: true }),
  };
}
