import { type Histogram, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';

class Reader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/** A real meter, and what it has measured. */
export function metering() {
  const reader = new Reader();
  const provider = new MeterProvider({ readers: [reader] });
  return {
    reader,
    provider,
    meter: provider.getMeter('test'),
    /** Every series, as `name{attribute=value,…}`: a number, or how many were recorded and what they add up to. */
    async collected(): Promise<Record<string, number | { count: number; sum: number }>> {
      const { resourceMetrics, errors } = await reader.collect();
      if (errors.length > 0) throw new AggregateError(errors);
      const found: Record<string, number | { count: number; sum: number }> = {};
      for (const { descriptor, dataPoints } of resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)) {
        for (const { attributes, value } of dataPoints) {
          const names = Object.entries(attributes)
            .filter(([name]) => name !== 'lock.backend')
            .map(([name, text]) => `${name.replace('lock.', '')}=${text}`);
          const { count, sum = 0 } = value as Histogram;
          found[`${descriptor.name}{${names.join()}}`] = typeof value === 'number' ? value : { count, sum };
        }
      }
      return found;
    },
  };
}
