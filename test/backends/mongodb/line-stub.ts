import type { Document } from 'mongodb';
import { apply } from '../../kit/mongodb-expressions.ts';
import { type Handler, MongoStub } from '../../kit/mongodb-stub.ts';

/** A stub that applies the pipelines it is sent to documents in memory, one command after the other. */
export const startLineStub = (): Promise<MongoStub> => MongoStub.start(lines());

export function lines(now: () => Date = () => new Date()): Handler {
  const collections = new Map<string, Map<string, Document>>();
  const of = (name: string): Map<string, Document> => {
    if (!collections.has(name)) collections.set(name, new Map());
    return collections.get(name)!;
  };
  return (command, name) => {
    if (name === 'findAndModify') {
      const documents = of(command.findAndModify);
      const id = command.query._id;
      const before = documents.get(id);
      if (!before && !command.upsert) return { value: null };
      const after = apply(before ?? { _id: id }, command.update, now());
      documents.set(id, after);
      return { value: after };
    }
    if (name === 'aggregate' && !command.pipeline[0].$changeStream) {
      const { $gte, $eq } = command.pipeline[0].$match._id;
      const from = $gte ?? $eq;
      const found = [...of(command.aggregate)].filter(([id]) =>
        $eq === undefined ? Buffer.compare(Buffer.from(id), Buffer.from(from)) >= 0 : id === $eq,
      );
      found.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      const firstBatch = found.map(([, document]) => ({ ...document, now: now() }));
      return { cursor: { id: 0n, ns: `holdfast_test.${command.aggregate}`, firstBatch } };
    }
    if (name === 'aggregate') return { ok: 0, code: 40_573, errmsg: 'only supported on replica sets' };
    return {}; // createIndexes
  };
}
