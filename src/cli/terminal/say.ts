import { styleText } from 'node:util';
import { visible } from '../../core/contract/visible.ts';

/** One line on standard error. */
export const complain = (message: string): void =>
  console.error(`${styleText('red', 'holdfast:', { stream: process.stderr })} ${visible(message)}`);
