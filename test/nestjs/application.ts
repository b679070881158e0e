import 'reflect-metadata';
import { type INestApplicationContext, type LoggerService, Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

/** What the application logged, as `level: message`. */
export class Log implements LoggerService {
  readonly lines: string[] = [];
  readonly #note =
    (level: string) =>
    (...said: unknown[]): void => {
      this.lines.push(`${level}: ${said.join(' ')}`);
    };
  log = (): void => {};
  error = this.#note('error');
  warn = this.#note('warn');
}

export interface Started extends AsyncDisposable {
  readonly app: INestApplicationContext;
  readonly log: Log;
}

/** An application of one module, without a server. Nest has one logger for all, so one at a time is looked at. */
export async function started(root: ModuleMetadata): Promise<Started> {
  class Root {}
  Module(root)(Root);
  const log = new Log();
  const app = await NestFactory.createApplicationContext(Root, { logger: log, abortOnError: false });
  let ended: Promise<void> | undefined;
  return { app, log, [Symbol.asyncDispose]: () => (ended ??= app.close()) };
}
